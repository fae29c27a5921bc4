"""`numpy.testing` for our arrays.

An assertion that holds needs no gather; NumPy raises for one that fails.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from numpy import testing

from dappled._dispatch.implements import implements
from dappled._dispatch.submodule import submodule
from dappled._ndarray.core import is_native, ndarray
from dappled._ranks.map_blocks import is_distributed

_MODULE = "dappled.testing"

__getattr__, __dir__, __all__ = submodule(__name__)


def _passes(x: Any, y: Any, compare: Callable[[Any, Any], Any]) -> Any:
    """None if a comparison is true of all elements; else NotImplemented, for NumPy's message."""
    if not any(map(is_distributed, (x, y))) or not all(map(_is_comparable, (x, y))):
        return NotImplemented
    if numpy.shape(x) != numpy.shape(y) and numpy.ndim(x) and numpy.ndim(y):
        return NotImplemented
    with numpy.errstate(all="ignore"):
        return None if bool(numpy.all(compare(x, y))) else NotImplemented


def _is_comparable(value: Any) -> bool:
    if isinstance(value, ndarray | numpy.ndarray):
        return type(value) in (ndarray, numpy.ndarray) and is_native(value.dtype)
    return isinstance(value, int | float | complex | numpy.number)


@implements(testing.assert_allclose, _MODULE)
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
    return _passes(actual, desired, lambda x, y: numpy.isclose(x, y, rtol, atol, equal_nan))


@implements(testing.assert_array_equal, _MODULE)
def assert_array_equal(
    actual: Any, desired: Any, err_msg: Any = "", verbose: Any = True, *, strict: Any = False
) -> Any:
    def same(x: Any, y: Any) -> Any:
        return numpy.logical_or(x == y, numpy.logical_and(x != x, y != y))

    return NotImplemented if strict else _passes(actual, desired, same)


@implements(testing.assert_array_less, _MODULE)
def assert_array_less(
    x: Any, y: Any, err_msg: Any = "", verbose: Any = True, *, strict: Any = False
) -> Any:
    return NotImplemented if strict else _passes(x, y, numpy.less)


@implements(testing.assert_array_almost_equal, _MODULE)
def assert_array_almost_equal(
    actual: Any, desired: Any, decimal: Any = 6, err_msg: Any = "", verbose: Any = True
) -> Any:
    bound = 1.5 * 10.0 ** (-decimal)
    return _passes(actual, desired, lambda x, y: numpy.less(numpy.abs(y - x), bound))
