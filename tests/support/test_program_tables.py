"""Tables of programs contain no mistakes: each program succeeds in NumPy for some operands.

Tests compare errors as well as values, so a program that always raises would test nothing else.
"""

import itertools

import numpy
import pytest

from tests.interop import object_programs
from tests.ndarray import member_programs
from tests.ranks import opaque_program_tables, program_tables
from tests.support import programs
from tests.support.compare import run
from tests.support.values import DTYPES, SHAPES, maker

OF_ONE = {
    "shaping": programs.SHAPING,
    "joining": programs.JOINING,
    "reducing": programs.REDUCING,
    "writing": programs.WRITING,
    "ufuncs": program_tables.ONE,
    "conversions": program_tables.LEAVES,
    "opaque": opaque_program_tables.MORE,
}
OF_TWO = {
    "two": program_tables.TWO,
    "changes": program_tables.CHANGES,
    "distributed": program_tables.LAID_OUT,
    "fields": opaque_program_tables.FIELDS,
}
TABLES = [(1, *item) for item in OF_ONE.items()] + [(2, *item) for item in OF_TWO.items()]
# Programs that raise by design: their names say so, or are listed.
ERRORS = ("wrong", "error", "too ", "out of range", "read only", "(bools", "of bools)", "'axis': 5")
LISTED = {
    *("argmin ((0, 1),)", "cumsum ((0, 1),)", "cumprod ((0, 1),)"),  # take one axis
    *("asked, roll", "asked, reshape", "asked, zeros_like", "asked, fft.fft"),  # have no keepdims
    *("matrix, vdot", "masked, solve"),  # NumPy raises for these classes
}


def raises_by_design(name):
    return name in LISTED or " @= " in name or any(word in name for word in ERRORS)


def succeeds(program, count):
    """Whether NumPy raises nothing for some dtype and shape."""
    kinds = [numpy.dtype("d"), *DTYPES, *opaque_program_tables.DTYPES]
    for shape, dtype in itertools.product([(5, 3), (4, 4), *SHAPES], kinds):
        if run(numpy, program, maker(dtype, shape, count=count)).raised is None:
            return True
    return False


@pytest.mark.parametrize(
    ("count", "table"), [(count, table) for count, _, table in TABLES], ids=[t[1] for t in TABLES]
)
def test_programs_succeed(count, table):
    failing = [
        name
        for name, program in table.items()
        if not raises_by_design(name) and not succeeds(program, count)
    ]
    assert failing == []


@pytest.mark.filterwarnings("ignore")
def test_programs_without_operands_succeed():
    failing = []
    for table in (object_programs.PROGRAMS, member_programs.PROGRAMS):
        for name, program in table.items():
            outcome = run(numpy, program, lambda np: ())
            if outcome.raised and not raises_by_design(name):
                failing.append((name, outcome.raised))
    assert failing == []
