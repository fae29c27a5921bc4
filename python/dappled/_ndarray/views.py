"""Views that NumPy can compute and the core cannot.

NumPy computes the view of a metadata array that has the shape and strides of ours; the core then
applies its offset, shape and strides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from numpy.lib.stride_tricks import as_strided as strided
from numpy.lib.stride_tricks import sliding_window_view as windows

from dappled._dispatch.implements import implements
from dappled._dispatch.meta import meta
from dappled._interop.writeback import loan_of
from dappled._ndarray.core import core, is_communicable, is_native, ndarray
from dappled._ndarray.memory_order import strides_of

_MODULE = "dappled.lib.stride_tricks"


def view_like_numpy(function: Callable[..., Any], array: Any, *args: Any, **kwargs: Any) -> Any:
    """The view that a NumPy function makes of an array; NotImplemented if it makes a copy.

    The function must not read elements.
    """
    if not isinstance(array, ndarray) or array._held is not None:
        return NotImplemented
    if core.ranks() == 1 and array._whole and not array._items:
        return NotImplemented
    if any(map(_is_derived, (*args, *kwargs.values()))):
        return NotImplemented
    writeable = array._writeable
    like = meta(array.shape, array.dtype, strides=strides_of(array), writeable=writeable)
    given = [numpy.ndarray if value is ndarray else value for value in args]
    result = function(like, *given, **kwargs)
    if result is like:
        return array
    if (
        type(result) is not numpy.ndarray
        or not _is_of(result, like)
        or not is_communicable(result.dtype)
    ):
        return NotImplemented
    offset = _address(result) - _address(like) if result.size else 0
    if not _is_inside(result, offset, like):
        raise ValueError(
            "as_strided: strides reach outside the array, which is not possible for a distributed "
            "array"
        )
    view = array._strided(offset, result.shape, result.strides, result.dtype)
    view._writeable = result.flags.writeable
    return view


def _is_derived(value: Any) -> bool:
    """Whether a view is requested as a subclass, whose constructor may read elements."""
    known = isinstance(value, type) and value is not numpy.ndarray
    return known and issubclass(value, numpy.ndarray)


def _is_of(result: Any, like: Any) -> bool:
    """Whether an array is a view of a metadata array."""
    while result is not None and result is not like:
        result = getattr(result, "base", None)
    return result is like


def _address(array: Any) -> int:
    return array.__array_interface__["data"][0]  # type: ignore[no-any-return]


def _is_inside(result: Any, offset: int, like: Any) -> bool:
    first, last = _reach(result)
    least, most = _reach(like)
    return not result.size or (least <= offset + first and offset + last <= most)


def _reach(array: Any) -> tuple[int, int]:
    """The byte range of an array, relative to its first element."""
    axes = zip(array.shape, strides_of(array), strict=True)
    spans = [(length - 1) * stride for length, stride in axes]
    first = sum(span for span in spans if span < 0)
    return first, sum(span for span in spans if span > 0) + array.itemsize


def view_as_dtype(array: Any, dtype: Any) -> Any:
    """An array over this memory with another dtype, if NumPy allows it."""
    if array._held is not None or not (is_native(dtype) or array._items):
        return array.view(dtype)
    result = meta(array.shape, array.dtype, strides=strides_of(array)).view(dtype)
    return array._strided(0, result.shape, result.strides, dtype)


@implements(numpy.ndarray.view, "dappled.ndarray")
def view(self: Any, *args: Any, **kwargs: Any) -> Any:
    if not args and not kwargs and self._held is None and not self._items:
        return self[...]
    return view_like_numpy(numpy.ndarray.view, self, *args, **kwargs)


@implements(numpy.ndarray.getfield, "dappled.ndarray")
def getfield(self: Any, *args: Any, **kwargs: Any) -> Any:
    return view_like_numpy(numpy.ndarray.getfield, self, *args, **kwargs)


@implements(strided, _MODULE)
def as_strided(x: Any, *args: Any, **kwargs: Any) -> Any:
    if isinstance(x, ndarray) and x.strides != x._strides:
        # The program sees the strides of a copy without gaps.
        result = view_like_numpy(strided, x.copy(order="K"), *args, **kwargs)
        if result is not NotImplemented:
            result._writeable = False
        return result
    return view_like_numpy(strided, x, *args, **kwargs)


@implements(windows, _MODULE)
def sliding_window_view(x: Any, *args: Any, **kwargs: Any) -> Any:
    return view_like_numpy(windows, x, *args, **kwargs)


def _shares(function: Any, a: Any, b: Any, max_work: Any) -> Any:
    """Whether distributed arrays share memory, which NumPy decides by addresses alone.

    A copy that will be written back counts as sharing the memory of its array.
    """
    for theirs, own in ((a, b), (b, a)):
        if isinstance(theirs, numpy.ndarray) and isinstance(own, ndarray) and not own._whole:
            loan = loan_of(theirs)
            return loan is not None and loan.is_of(own)
    if not all(isinstance(one, ndarray) and one._held is None for one in (a, b)):
        return NotImplemented
    if core.ranks() == 1 or (a._whole and b._whole):
        return NotImplemented
    distance = a._distance(b)
    placed = [_AddressedArray(a, distance or 0), _AddressedArray(b, 0)]
    shared = function(*map(numpy.asarray, placed), max_work)  # NumPy may raise
    return shared and distance is not None


class _AddressedArray:
    """An array interface with an artificial address, whose memory must not be read."""

    def __init__(self, array: Any, offset: int) -> None:
        self.__array_interface__ = {
            "version": 3,
            "typestr": f"|V{array.itemsize}",
            "shape": array.shape,
            "strides": strides_of(array),
            "data": (_BASE_ADDRESS + offset, True),
        }


_BASE_ADDRESS = 1 << 62


@implements(numpy.shares_memory)
def shares_memory(a: Any, b: Any, /, max_work: Any = -1) -> Any:
    return _shares(numpy.shares_memory, a, b, max_work)


@implements(numpy.may_share_memory)
def may_share_memory(a: Any, b: Any, /, max_work: Any = 0) -> Any:
    return _shares(numpy.may_share_memory, a, b, max_work)


def _matrix_transpose(self: Any) -> Any:
    if self.ndim < 2:
        raise ValueError("matrix transpose with ndim < 2 is undefined")
    return self.swapaxes(-1, -2)


METHODS = {
    "getfield": getfield,
    "mT": property(_matrix_transpose, doc=numpy.ndarray.mT.__doc__),
    "view": view,
}
