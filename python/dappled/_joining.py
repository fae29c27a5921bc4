"""Joining and repeating: regions of a new array, each assigned from one of the old."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy

from dappled._array import core, ndarray
from dappled._array import empty as empty_array
from dappled._creation import arange, asarray
from dappled._fallback import shadow
from dappled._native import native
from dappled._order import joined_order, turned
from dappled._piecewise import in_pieces
from dappled._views import may_share_memory


@native(numpy.concatenate)
def concatenate(
    arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = "same_kind"
) -> Any:
    joined = _joinable(arrays)
    if joined is None or (out is not None and dtype is not None):
        return NotImplemented
    if axis is None:
        joined, axis = [array.reshape(-1) for array in joined], 0
    shape = _joined_shape(joined, axis)
    if shape is None:
        return numpy.concatenate(shadow(joined), axis)  # which NumPy refuses
    made = out if out is not None else _room(joined, shape, dtype)
    if not _fits(joined, made, shape, casting):
        return NotImplemented
    if out is not None:  # all of them are read before the first is written
        joined = [one.copy() if may_share_memory(out, one) else one for one in joined]
    return _assigned(made, joined, range(len(shape))[axis])


concat = concatenate


_SHORT = 64  # elements of a row: shorter ones NumPy writes as fast


@native(numpy.repeat)
def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    if numpy.ndim(repeats) and any(map(in_pieces, (a, repeats))):
        return _repeated(asarray(a), asarray(repeats), axis)
    if not isinstance(a, ndarray) or not isinstance(repeats, int) or repeats < 0:
        return NotImplemented
    if axis is None:
        a, axis = a.reshape(-1), 0
    if not -a.ndim <= operator.index(axis) < a.ndim:
        return NotImplemented
    axis = range(a.ndim)[axis]
    before, length, after = a.shape[:axis], a.shape[axis], a.shape[axis + 1 :]
    if not a._whole:  # in pieces that are as long as they will be
        made = empty_array((*before, length, repeats, *after), a.dtype, "C")
        made[...] = a[(slice(None),) * (axis + 1) + (None,)]
        return made.reshape((*before, length * repeats, *after), copy=True)
    if repeats * math.prod(after) < _SHORT:
        return NotImplemented
    made = empty_array((*before, length * repeats, *after), a.dtype, "C")
    made.reshape((*before, length, repeats, *after))[...] = a[(slice(None),) * (axis + 1) + (None,)]
    return made


def _repeated(a: Any, counts: Any, axis: Any) -> Any:
    """Elements as often as numbers say: which is where follows from the sums of these."""
    if axis is None:
        a, axis = a.reshape(-1), 0
    known = isinstance(axis, int) and -a.ndim <= axis < a.ndim and counts.ndim == 1
    if not known or not counts.size or not numpy.can_cast(counts.dtype, numpy.intp, "safe"):
        return NotImplemented
    if counts.size == 1:
        return repeat(a, int(counts[0]), axis)
    if counts.size != a.shape[axis]:
        return NotImplemented
    if (counts < 0).any():
        raise ValueError("repeats may not contain negative values.")
    ends = counts.cumsum()
    which = numpy.searchsorted(ends, arange(int(ends[-1])), "right")
    return numpy.take(a, which, axis=axis)


def _joinable(arrays: Any) -> list[Any] | None:
    """The arrays, if one is ours at least and all are arrays of the same number of axes."""
    if isinstance(arrays, ndarray):
        arrays = list(arrays) if arrays.ndim > 1 else ()
    if not isinstance(arrays, list | tuple) or not any(isinstance(a, ndarray) for a in arrays):
        return None
    if not all(isinstance(a, ndarray | numpy.ndarray | list | tuple) for a in arrays):
        return None
    return [asarray(array) for array in arrays]


def _joined_shape(arrays: list[Any], axis: Any) -> tuple[int, ...] | None:
    first = arrays[0].shape
    if not hasattr(axis, "__index__") or not -len(first) <= operator.index(axis) < len(first):
        return None
    axis = range(len(first))[axis]
    others = {(*array.shape[:axis], *array.shape[axis + 1 :]) for array in arrays}
    if len(others) > 1 or any(array.ndim != len(first) for array in arrays):
        return None
    return (*first[:axis], sum(array.shape[axis] for array in arrays), *first[axis + 1 :])


def _room(arrays: list[Any], shape: tuple[int, ...], dtype: Any) -> Any:
    """A new array, in the memory order that they have."""
    kind = numpy.dtype(dtype) if dtype is not None else numpy.result_type(*_dtypes(arrays))
    if kind.itemsize == 0 or kind.hasobject:  # a text as long as its values; what NumPy holds
        return None
    axes = joined_order(arrays)
    lies = tuple(shape[axis] for axis in axes)
    here = core.unwritten(lies, kind) if core.ranks() == 1 else None
    return turned(empty_array(lies, kind, "C") if here is None else here, axes)


def _fits(arrays: list[Any], made: Any, shape: tuple[int, ...], casting: Any) -> bool:
    if not isinstance(made, ndarray) or made.shape != shape:
        return False
    return all(numpy.can_cast(kind, made.dtype, casting) for kind in _dtypes(arrays))


def _assigned(made: Any, arrays: list[Any], axis: int) -> Any:
    start = 0
    for array in arrays:
        stop = start + array.shape[axis]
        made[(slice(None),) * axis + (slice(start, stop),)] = array
        start = stop
    return made


def _dtypes(arrays: list[Any]) -> list[numpy.dtype[Any]]:
    return [array.dtype for array in arrays]
