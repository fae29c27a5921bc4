"""What the tables of `pieces_stay` share: values, keys, what calls change, warn of and raise."""

import warnings

import numpy

from tests.support.compare import check_program

VALUES = numpy.arange(60.0 * 42).reshape(60, 42) % 17 - 5
ROWS = numpy.array([3, -1, 3, 0, 59, 17])
MANY = numpy.arange(500) * 37 % 2520
FEW = numpy.arange(60) * 7 % 42


def changed(act):
    """A program that changes the array: it is compared afterwards."""

    def program(np, a):
        act(np, a)

    return program


def with_order(values):
    """Values, and the order of their bytes, which must be the one that was asked for."""
    return values, values.dtype.str


def warned(act):
    """What a call gives, and what it warns of."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        made = act()
    return made, [f"{one.category.__name__}: {one.message}" for one in found]


def raised(act):
    """The error of a call, to be compared."""
    try:
        act()
    except Exception as error:
        check_program(error)
        return f"{type(error).__name__}: {error}"
    return "no error"
