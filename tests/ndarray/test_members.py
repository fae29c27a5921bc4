"""Members and arguments that few programs need; on ranks in test_ranks.py."""

import subprocess
import sys

import pytest

from tests.ndarray.member_programs import PROGRAMS
from tests.support.compare import difference

# Shapes set so often that each in the one before would be too deep for the stack.
OFTEN = """
import dappled as np
a = np.zeros(6)
for turn in range(200_000):
    a.shape = (2, 3) if turn % 2 else 6
del a
"""


@pytest.mark.parametrize("name", PROGRAMS)
def test_members_do_what_numpys_do(name):
    assert difference(PROGRAMS[name], lambda np: ()) is None


def test_an_array_may_be_changed_for_ever():
    assert subprocess.run([sys.executable, "-c", OFTEN]).returncode == 0
