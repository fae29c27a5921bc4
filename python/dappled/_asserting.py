"""`numpy.testing` of arrays in pieces: what holds is found there; what fails, NumPy says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from numpy import testing

from dappled._array import is_native, ndarray
from dappled._native import native
from dappled._piecewise import in_pieces

_MODULE = "dappled.testing"


def _holds(x: Any, y: Any, compare: Callable[[Any, Any], Any]) -> Any:
    """None if a comparison is true of all elements; else NotImplemented, for NumPy to look at."""
    if not any(map(in_pieces, (x, y))) or not all(map(_is_plain, (x, y))):
        return NotImplemented
    if numpy.shape(x) != numpy.shape(y) and numpy.ndim(x) and numpy.ndim(y):
        return NotImplemented
    with numpy.errstate(all="ignore"):
        return None if bool(numpy.all(compare(x, y))) else NotImplemented


def _is_plain(value: Any) -> bool:
    if isinstance(value, ndarray | numpy.ndarray):
        return type(value) in (ndarray, numpy.ndarray) and is_native(value.dtype)
    return isinstance(value, int | float | complex | numpy.number)


@native(testing.assert_allclose, _MODULE)
def assert_allclose(
    actual: Any,
    desired: Any,
    rtol: Any = 1e-7,
    atol: Any = 0,
    equal_nan: Any = True,
    err_msg: Any = "",
    verbose: Any = True,
    *,
    strict: Any = False,
) -> Any:
    if strict:
        return NotImplemented
    return _holds(actual, desired, lambda x, y: numpy.isclose(x, y, rtol, atol, equal_nan))


@native(testing.assert_array_equal, _MODULE)
def assert_array_equal(
    actual: Any, desired: Any, err_msg: Any = "", verbose: Any = True, *, strict: Any = False
) -> Any:
    def same(x: Any, y: Any) -> Any:
        return numpy.logical_or(x == y, numpy.logical_and(x != x, y != y))

    return NotImplemented if strict else _holds(actual, desired, same)


@native(testing.assert_array_less, _MODULE)
def assert_array_less(
    x: Any, y: Any, err_msg: Any = "", verbose: Any = True, *, strict: Any = False
) -> Any:
    return NotImplemented if strict else _holds(x, y, numpy.less)


@native(testing.assert_array_almost_equal, _MODULE)
def assert_array_almost_equal(
    actual: Any, desired: Any, decimal: Any = 6, err_msg: Any = "", verbose: Any = True
) -> Any:
    bound = 1.5 * 10.0 ** (-decimal)
    return _holds(actual, desired, lambda x, y: numpy.less(numpy.abs(y - x), bound))
