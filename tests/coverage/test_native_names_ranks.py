"""Names that `dappled coverage` calls native gather no distributed array."""

import numpy
import pytest
import scipy.special  # noqa: F401  changes numpy.sinc.__doc__, which `table` lets Dappled copy
from dappled.coverage.names import table

from tests.coverage.native_samples import ELSEWHERE, samples
from tests.support.distributed import VALUES, check, laid_out

OTHERS = " ".join(ELSEWHERE.values()).split()
NATIVE = [name for name, way in table().items() if way == "native" and name not in OTHERS]


@pytest.mark.ranks(1, 3)
@pytest.mark.usefixtures("quiet_fallback")
@pytest.mark.parametrize("name", NATIVE)
def test_native_name(name):
    programs = samples(name)
    assert programs, "no sample in native_samples.py"
    for program in programs:
        for layout in ("bb", "cn"):
            with numpy.errstate(all="ignore"):
                check(program, [laid_out(VALUES, layout)], about=layout)
