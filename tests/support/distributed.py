"""Programs on distributed arrays: NumPy's values and errors, and nothing gathered.

A table maps names to programs; a program is a function of the namespace and of arrays. A test is
parametrised with the names of a table and runs one program with arrays in several distributions.
"""

import os
import warnings

import dappled
import numpy
import pytest

from tests.support.compare import check_program

VALUES = numpy.arange(60.0 * 42).reshape(60, 42) % 17 - 5
ROWS = numpy.array([3, -1, 3, 0, 59, 17])
MANY = numpy.arange(500) * 37 % 2520
FEW = numpy.arange(60) * 7 % 42
LAYOUTS = ["bb", "bn", "nb", "cn", "cb"]
TEST_ALL = bool(os.environ.get("DAPPLED_TEST_ALL"))
# Redistributions take several rounds where the budget is small.
distributed = pytest.mark.ranks(
    *([1, 2, 3, 4, 7] if TEST_ALL else [1, 3, 7]), budget={1: 1000, 3: 4000}
)


def changed(act):
    """A program that changes the array, which is compared afterwards."""

    def program(np, a):
        act(np, a)

    return program


def with_order(values):
    """Values and the order of their bytes, which must be the requested one."""
    return values, values.dtype.str


def warned(act):
    """The result of a call, and its warnings."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        made = act()
    return made, [f"{one.category.__name__}: {one.message}" for one in found]


def raised(act):
    """The class and text of the error that a call raises."""
    try:
        act()
    except Exception as error:
        check_program(error)
        return f"{type(error).__name__}: {error}"
    return "no error"


def flat(results):
    if isinstance(results, list | tuple):
        return [value for result in results for value in flat(result)]
    return [results]


def laid_out(values, layout):
    """A Dappled array with these values and a distribution of this kind."""
    return dappled.asarray(values, dist=layout)


def layouts_of(table, name, rare=False):
    """The distributions for one program: all, or two in turn on many ranks and for rare calls."""
    if TEST_ALL or (dappled.comm.size < 7 and not rare):
        return LAYOUTS
    number = list(table).index(name)
    return [LAYOUTS[(number + more) % len(LAYOUTS)] for more in (0, 2)]


def check_table(table, name, rare=False, values=VALUES, gathered=VALUES.nbytes // 8):
    """Checks one program of a table, of one array."""
    for layout in layouts_of(table, name, rare):
        check(table[name], [laid_out(values, layout)], gathered, layout)


def check(program, arrays, gathered=VALUES.nbytes // 8, about=""):
    """Asserts that a program gives NumPy's values and gathers at most `gathered` bytes."""
    found = differences(about, program, arrays, gathered)
    assert not found, "\n".join(found)


def differences(about, program, arrays, at_most):
    before = dappled.memory_stats()["gathered"]
    ours = [array.copy() for array in arrays]
    kept, dappled.config.fallback = dappled.config.fallback, "error"
    try:
        found = flat(program(dappled, *ours)) + ours
        for value in found:
            if isinstance(value, dappled.ndarray):
                value._compute()
    except dappled.FallbackError as error:
        return [f"{about}: {error}"]
    finally:
        dappled.config.fallback = kept
    gathered = dappled.memory_stats()["gathered"] - before
    if dappled.comm.size > 1 and gathered > at_most:
        return [f"{about}: {gathered} bytes gathered"]
    copies = [numpy.array(array) for array in arrays]
    return compared(about, found, flat(program(numpy, *copies)) + copies)


def compared(about, found, expected):
    if len(found) != len(expected):
        return [f"{about}: {len(found)} results, not {len(expected)}"]
    for one, other in zip(found, expected, strict=True):
        if not isinstance(other, numpy.ndarray | numpy.generic):
            same = one == other
        else:
            values = numpy.asarray(one)
            exact = other.dtype.kind not in "fc" or (other == numpy.round(other, 3)).all()
            close = numpy.array_equal if exact else nearly
            same = values.dtype == other.dtype and values.shape == other.shape
            same = same and close(values, other)
        if not same:
            return [f"{about}: {one!r} is not {other!r}"]
    return []


def nearly(one, other):
    """Whether values are equal to rounding, relative to the largest: cancellation differs."""
    finite = numpy.isfinite(other)
    if not numpy.array_equal(one[~finite], other[~finite], equal_nan=True):
        return False
    one, other = one[finite], other[finite]
    allowed = ROUNDING * numpy.finfo(other.dtype).eps * max(1, numpy.abs(other).max(initial=0))
    return bool((numpy.abs(one - other) <= allowed).all())


# Units of the dtype's precision by which results of other algorithms may differ.
ROUNDING = 500
