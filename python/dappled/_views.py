"""Views that NumPy can make and the core has no name for: NumPy makes them of an array that has
the shape and strides of ours but no memory, and ours is seen in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from numpy.lib.stride_tricks import as_strided as strided
from numpy.lib.stride_tricks import sliding_window_view as windows

from dappled._array import core, is_moved, is_native, ndarray
from dappled._lending import loan_of
from dappled._native import native
from dappled._order import strides_of

_MODULE = "dappled.lib.stride_tricks"


def viewed(function: Callable[..., Any], array: Any, *args: Any, **kwargs: Any) -> Any:
    """What a function of NumPy's makes of an array, if that is a view; else NotImplemented.

    The function may look at no element: there are none.
    """
    if not isinstance(array, ndarray) or array._held is not None:
        return NotImplemented
    if core.ranks() == 1 and array._whole and not array._items:
        return NotImplemented
    if any(map(_is_derived, (*args, *kwargs.values()))):
        return NotImplemented
    memory = numpy.empty(1, array.dtype)
    like = strided(memory, array.shape, strides_of(array), writeable=array._writeable)
    given = [numpy.ndarray if value is ndarray else value for value in args]
    found = function(like, *given, **kwargs)
    if found is like:
        return array
    if type(found) is not numpy.ndarray or not _is_of(found, memory) or not is_moved(found.dtype):
        return NotImplemented
    offset = _address(found) - _address(like) if found.size else 0
    if not _is_inside(found, offset, like):
        raise ValueError("strides that reach beyond the array, which has no memory on one rank")
    view = array._strided(offset, found.shape, found.strides, found.dtype)
    view._writeable = found.flags.writeable
    return view


def _is_derived(value: Any) -> bool:
    """Whether a view is to be of a class that may look at its elements as soon as it is made."""
    known = isinstance(value, type) and value is not numpy.ndarray
    return known and issubclass(value, numpy.ndarray)


def _is_of(found: Any, memory: Any) -> bool:
    """Whether an array is a view of this memory."""
    while found is not None and found is not memory:
        found = getattr(found, "base", None)
    return found is memory


def _address(array: Any) -> int:
    return array.__array_interface__["data"][0]  # type: ignore[no-any-return]


def _is_inside(found: Any, offset: int, like: Any) -> bool:
    first, last = _reach(found)
    least, most = _reach(like)
    return not found.size or (least <= offset + first and offset + last <= most)


def _reach(array: Any) -> tuple[int, int]:
    """The first byte of an array and the one after its last, counted from its first element."""
    axes = zip(array.shape, strides_of(array), strict=True)
    spans = [(length - 1) * stride for length, stride in axes]
    first = sum(span for span in spans if span < 0)
    return first, sum(span for span in spans if span > 0) + array.itemsize


def seen_as(array: Any, dtype: Any) -> Any:
    """The same memory as elements of another dtype, of which NumPy says whether it can be."""
    if array._held is not None or not (is_native(dtype) or array._items):
        return array.view(dtype)
    memory = numpy.empty(1, array.dtype)
    found = strided(memory, array.shape, strides_of(array)).view(dtype)
    return array._strided(0, found.shape, found.strides, dtype)


@native(numpy.ndarray.view, "dappled.ndarray")
def view(self: Any, *args: Any, **kwargs: Any) -> Any:
    if not args and not kwargs and self._held is None and not self._items:
        return self[...]
    return viewed(numpy.ndarray.view, self, *args, **kwargs)


@native(numpy.ndarray.getfield, "dappled.ndarray")
def getfield(self: Any, *args: Any, **kwargs: Any) -> Any:
    return viewed(numpy.ndarray.getfield, self, *args, **kwargs)


@native(strided, _MODULE)
def as_strided(x: Any, *args: Any, **kwargs: Any) -> Any:
    if isinstance(x, ndarray) and x.strides != x._strides:
        # The strides that the program sees are those of a copy without gaps.
        made = viewed(strided, x.copy(order="K"), *args, **kwargs)
        if made is not NotImplemented:
            made._writeable = False
        return made
    return viewed(strided, x, *args, **kwargs)


@native(windows, _MODULE)
def sliding_window_view(x: Any, *args: Any, **kwargs: Any) -> Any:
    return viewed(windows, x, *args, **kwargs)


def _shares(function: Any, a: Any, b: Any, max_work: Any) -> Any:
    """Whether arrays that have no memory on one rank share it: NumPy looks at places alone.

    A copy that will be written back shares the memory of its array, as far as others can tell.
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
    placed = [_Placed(a, distance or 0), _Placed(b, 0)]
    shared = function(*map(numpy.asarray, placed), max_work)  # which may refuse to
    return shared and distance is not None


class _Placed:
    """An array somewhere in memory, where nobody may look."""

    def __init__(self, array: Any, offset: int) -> None:
        self.__array_interface__ = {
            "version": 3,
            "typestr": f"|V{array.itemsize}",
            "shape": array.shape,
            "strides": strides_of(array),
            "data": (_SOMEWHERE + offset, True),
        }


_SOMEWHERE = 1 << 62


@native(numpy.shares_memory)
def shares_memory(a: Any, b: Any, /, max_work: Any = -1) -> Any:
    return _shares(numpy.shares_memory, a, b, max_work)


@native(numpy.may_share_memory)
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
