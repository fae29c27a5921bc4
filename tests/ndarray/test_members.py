"""Members and arguments that few programs need."""

import subprocess
import sys

import pytest

from tests.ndarray.member_programs import OF_MEMORY, PROGRAMS
from tests.support.compare import difference

# Shapes set so often that each in the one before would be too deep for the stack.
OFTEN = """
import dappled as np
a = np.zeros(6)
for turn in range(200_000):
    a.shape = (2, 3) if turn % 2 else 6
del a
"""


@pytest.mark.ranks(1, 3)
@pytest.mark.usefixtures("quiet_fallback")
@pytest.mark.parametrize("name", PROGRAMS)
def test_members(name, ranks):
    if ranks > 1 and name in OF_MEMORY:
        pytest.skip("a distributed array is not one piece of memory")
    assert difference(PROGRAMS[name], lambda np: ()) is None


def test_setting_the_shape_often():
    assert subprocess.run([sys.executable, "-c", OFTEN]).returncode == 0
