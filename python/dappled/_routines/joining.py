"""Joining and repeating: assignments to regions of a new array."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy

from dappled._dispatch.implements import implements
from dappled._dispatch.meta import as_meta
from dappled._ndarray.core import core, ndarray
from dappled._ndarray.core import empty as empty_array
from dappled._ndarray.memory_order import concatenation_order, undo_transpose
from dappled._ndarray.views import may_share_memory
from dappled._ranks.map_blocks import is_distributed
from dappled._routines.creation import arange, asarray


@implements(numpy.concatenate)
def concatenate(
    arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = "same_kind"
) -> Any:
    joined = _as_arrays(arrays)
    if joined is None or (out is not None and dtype is not None):
        return NotImplemented
    if axis is None:
        joined, axis = [array.reshape(-1) for array in joined], 0
    shape = _concatenated_shape(joined, axis)
    if shape is None:
        return numpy.concatenate(as_meta(joined), axis)  # NumPy's error
    result = out if out is not None else _allocate(joined, shape, dtype)
    if not _fits(joined, result, shape, casting):
        return NotImplemented
    if out is not None:  # every source is read before the first write
        joined = [one.copy() if may_share_memory(out, one) else one for one in joined]
    return _assign_regions(result, joined, range(len(shape))[axis])


concat = concatenate


_MIN_ROW_ELEMENTS = 64  # of a repeated row; NumPy writes shorter ones as fast


@implements(numpy.repeat)
def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    if numpy.ndim(repeats) and any(map(is_distributed, (a, repeats))):
        return _repeat_by_counts(asarray(a), asarray(repeats), axis)
    if not isinstance(a, ndarray) or not isinstance(repeats, int) or repeats < 0:
        return NotImplemented
    if axis is None:
        a, axis = a.reshape(-1), 0
    if not -a.ndim <= operator.index(axis) < a.ndim:
        return NotImplemented
    axis = range(a.ndim)[axis]
    before, length, after = a.shape[:axis], a.shape[axis], a.shape[axis + 1 :]
    if not a._whole:  # distributed: pieces keep their lengths
        result = empty_array((*before, length, repeats, *after), a.dtype, "C")
        result[...] = a[(slice(None),) * (axis + 1) + (None,)]
        return result.reshape((*before, length * repeats, *after), copy=True)
    if repeats * math.prod(after) < _MIN_ROW_ELEMENTS:
        return NotImplemented
    result = empty_array((*before, length * repeats, *after), a.dtype, "C")
    result.reshape((*before, length, repeats, *after))[...] = a[
        (slice(None),) * (axis + 1) + (None,)
    ]
    return result


def _repeat_by_counts(a: Any, counts: Any, axis: Any) -> Any:
    """Elements repeated by an array of counts, located by its cumulative sum."""
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


def _as_arrays(arrays: Any) -> list[Any] | None:
    """The arguments as arrays, if at least one is ours; else None."""
    if isinstance(arrays, ndarray):
        arrays = list(arrays) if arrays.ndim > 1 else ()
    if not isinstance(arrays, list | tuple) or not any(isinstance(a, ndarray) for a in arrays):
        return None
    if not all(isinstance(a, ndarray | numpy.ndarray | list | tuple) for a in arrays):
        return None
    return [asarray(array) for array in arrays]


def _concatenated_shape(arrays: list[Any], axis: Any) -> tuple[int, ...] | None:
    first = arrays[0].shape
    if not hasattr(axis, "__index__") or not -len(first) <= operator.index(axis) < len(first):
        return None
    axis = range(len(first))[axis]
    others = {(*array.shape[:axis], *array.shape[axis + 1 :]) for array in arrays}
    if len(others) > 1 or any(array.ndim != len(first) for array in arrays):
        return None
    return (*first[:axis], sum(array.shape[axis] for array in arrays), *first[axis + 1 :])


def _allocate(arrays: list[Any], shape: tuple[int, ...], dtype: Any) -> Any:
    """An uninitialised result with the memory order of the arguments."""
    kind = numpy.dtype(dtype) if dtype is not None else numpy.result_type(*_dtypes(arrays))
    # Strings sized by their values, and objects, are NumPy's
    if kind.itemsize == 0 or kind.hasobject:
        return None
    axes = concatenation_order(arrays)
    memory_shape = tuple(shape[axis] for axis in axes)
    here = core.unwritten(memory_shape, kind) if core.ranks() == 1 else None
    return undo_transpose(empty_array(memory_shape, kind, "C") if here is None else here, axes)


def _fits(arrays: list[Any], result: Any, shape: tuple[int, ...], casting: Any) -> bool:
    if not isinstance(result, ndarray) or result.shape != shape:
        return False
    return all(numpy.can_cast(kind, result.dtype, casting) for kind in _dtypes(arrays))


def _assign_regions(result: Any, arrays: list[Any], axis: int) -> Any:
    start = 0
    for array in arrays:
        stop = start + array.shape[axis]
        result[(slice(None),) * axis + (slice(start, stop),)] = array
        start = stop
    return result


def _dtypes(arrays: list[Any]) -> list[numpy.dtype[Any]]:
    return [array.dtype for array in arrays]
