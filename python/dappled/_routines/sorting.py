"""sort, argsort, partition, lexsort.

The core sorts distributed lines. Where there are at least as many lines as ranks, NumPy sorts the
lines of each rank. In one process large arrays are sorted in slices by NumPy on all threads and
merged by the core; integers with a small value range use a counting sort.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy

from dappled._dispatch.callsite import call_from_user_frame
from dappled._dispatch.implements import implements
from dappled._ndarray.core import core, is_communicable, is_native, ndarray
from dappled._ndarray.memory_order import memory_order, undo_transpose
from dappled._ndarray.threaded_indexing import is_large
from dappled._ranks.map_blocks import is_distributed
from dappled._routines._distributed.counting_sort import counting_sort
from dappled._routines._distributed.threads import (
    as_contiguous_row,
    map_threads,
    scratch,
    thread_slices,
    uninitialised,
)
from dappled._routines.creation import asarray
from dappled._routines.ufunc.reduce import map_along_axes

_MODULE = "dappled.ndarray"


# Dtypes that the core merges, and those that it argsorts.
_MERGE_DTYPES = "bhilqBHILQfd"


_ARGSORT_DTYPES = "ilqILQfd"

# Dtypes that NumPy sorts by radix when the sort is stable.
_RADIX_DTYPES = "?bhBH"


_STABLE = ("stable", "mergesort", "s", "S", "m", "M")


def _is_sortable_distributed(a: Any) -> bool:
    """Whether an array is distributed and its elements can be communicated."""
    return core.ranks() > 1 and is_distributed(a) and is_communicable(a.dtype) and a.ndim > 0


def _normalise_axis(a: Any, axis: Any) -> int | None:
    """The axis as a nonnegative integer; None if there is none."""
    if not hasattr(axis, "__index__") or not -a.ndim <= operator.index(axis) < a.ndim:
        return None
    return range(a.ndim)[operator.index(axis)]


def _is_known_kind(kind: Any, stable: Any) -> bool:
    known = kind is None or kind in ("quicksort", "heapsort", *_STABLE)
    return known and (stable is None or (kind is None and type(stable) is bool))


def _reorder_fields(a: Any, order: Any) -> Any:
    """A structured array with the sort fields first; None for the fallback."""
    if order is None:
        return a
    if not _is_sortable_distributed(a) or not a.dtype.names:
        return None
    one = numpy.zeros(1, a.dtype)
    numpy.sort(one, order=order)  # NumPy may raise
    first = [order] if isinstance(order, str) else list(order)
    names = [*first, *(name for name in a.dtype.names if name not in first)]
    return a.view(one[names].dtype)


def _row_and_axis(a: Any, axis: Any) -> tuple[Any, int | None]:
    """The array to sort, and its axis; None for the fallback."""
    if not isinstance(a, ndarray) or (not _is_sortable_distributed(a) and not is_large(a)):
        return a, None
    row = a.reshape(-1) if axis is None else a
    return row, _normalise_axis(row, 0 if axis is None else axis)


def _sort_copy(a: Any, axis: Any, kind: Any, stable: Any) -> Any:
    """A sorted copy; NotImplemented for the fallback."""
    row, at = _row_and_axis(a, axis)
    if at is None:
        return NotImplemented
    if _is_sorted_by_core(row, at):
        return core.sort_distributed(row, at)
    # NumPy 2.4's unstable sort of float16 is wrong on CPUs with AVX-512.
    is_half = row.dtype == numpy.float16
    kind = "stable" if stable or kind in _STABLE or is_half else None
    if row.ndim > 1:
        return _in_memory_order(row, at, lambda part, at: numpy.sort(part, at, kind))
    return _merge_sorted(row, kind)


def _is_sorted_by_core(array: Any, axis: int) -> bool:
    """Whether ranks sort lines together: one line, or fewer than ranks of a native dtype."""
    lines = array.size // max(array.shape[axis], 1)
    few = array.ndim == 1 or (0 < lines < core.ranks() and is_native(array.dtype))
    return few and core.ranks() > 1


def _in_memory_order(array: Any, axis: int, order: Callable[[Any, int], Any]) -> Any:
    """A copy with each line sorted, in the array's memory order."""
    axes = memory_order(array, array.ndim, "K")
    result = _sort_lines(array.transpose(axes), axes.index(axis), order, array.dtype)
    return result if result is NotImplemented else undo_transpose(result, axes)


def _raise_like_numpy(function: Any, a: Any, **options: Any) -> Any:
    """Raises NumPy's error, if it depends on the number of axes alone; else NotImplemented."""
    if _is_sortable_distributed(a):
        call_from_user_frame(function, numpy.zeros((1,) * a.ndim, a.dtype), **options)
    return NotImplemented


def _sort_by_fields(
    arrange: Callable[..., Any], a: Any, axis: Any, kind: Any, order: Any, stable: Any = None
) -> Any:
    """Sorts or argsorts by the named fields."""
    seen = _reorder_fields(a, order)
    if seen is None or not _is_known_kind(kind, stable):
        return NotImplemented
    result = arrange(seen, axis, kind, stable)
    if result is NotImplemented or seen is a or arrange is not _sort_copy:
        return result
    return result.view(a.dtype)


@implements(numpy.sort)
def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    result = _sort_by_fields(_sort_copy, a, axis, kind, order, stable)
    if result is not NotImplemented:
        return result
    return _raise_like_numpy(numpy.sort, a, axis=axis, kind=kind, order=order, stable=stable)


def _sort(
    self: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Any:
    if not self._writeable:
        return NotImplemented
    result = NotImplemented
    if axis is not None:
        result = _sort_by_fields(_sort_copy, self, axis, kind, order, stable)
    if result is NotImplemented:
        options = {"axis": axis, "kind": kind, "order": order, "stable": stable}
        return _raise_like_numpy(numpy.ndarray.sort, self, **options)
    self[...] = result
    return None


def _uses_bucket_sort(dtype: Any, kind: Any) -> bool:
    """Whether the core's bucket sort pays for a dtype."""
    # Equal floats may be exchanged. With AVX-512 NumPy's sort is as fast.
    alike = dtype.char in "lqLQ" or (dtype.char == "d" and kind is None)
    return alike and dtype.isnative and core.cpu()[0] != "AVX-512"


def _merge_sorted(row: Any, kind: Any) -> Any:
    """Sorts slices on all threads and merges them pairwise."""
    in_buckets = _uses_bucket_sort(row.dtype, kind)
    if in_buckets or row.dtype.kind in "iub":
        result, values = uninitialised(row.shape, row.dtype)
        if counting_sort(given := as_contiguous_row(row), values):
            return result
        if in_buckets:
            core.sort_values(given, scratch(row.shape, numpy.uint64), values)
            return result
    if row.dtype.char not in _MERGE_DTYPES or not row.dtype.isnative:
        return NotImplemented
    memory = core.unwrap(row)
    result, values = uninitialised(memory.shape, memory.dtype)

    def part(share: slice) -> None:
        values[share] = memory[share]
        values[share].sort(kind=kind)

    bounds = thread_slices(len(values))
    map_threads(part, bounds)
    while len(bounds) > 1:
        result, other = uninitialised(values.shape, values.dtype)
        values, bounds = other, _merge_pairs(values, bounds, other)
    return result


def _merge_pairs(values: Any, bounds: list[slice], out: Any) -> list[slice]:
    """Merges sorted slices pairwise; returns the merged slices."""
    result = []
    for one, next_one in zip(bounds[::2], bounds[1::2], strict=False):
        both = slice(one.start, next_one.stop)
        core.merge_sorted(values[one], values[next_one], out[both])
        result.append(both)
    if len(bounds) % 2:
        out[bounds[-1]] = values[bounds[-1]]
        result.append(bounds[-1])
    return result


def _sort_lines(a: Any, axis: int, compute: Callable[[Any, int], Any], dtype: Any) -> Any:
    """NumPy's result for each line along an axis, on local pieces or threads."""
    if core.ranks() > 1:
        return map_along_axes(a, [axis], lambda part: compute(part, axis), True)
    memory = numpy.moveaxis(core.unwrap(a), axis, -1)
    result = numpy.empty(a.shape, dtype)
    out = numpy.moveaxis(result, axis, -1)
    longest = max(range(memory.ndim - 1), key=memory.shape.__getitem__)

    def part(share: slice) -> None:
        key = (slice(None),) * longest + (share,)
        out[key] = compute(numpy.ascontiguousarray(memory[key]), -1)

    map_threads(part, thread_slices(memory.shape[longest]))
    return core.wrap(result, True)


def _argsort_copy(a: Any, axis: Any, kind: Any, stable: Any) -> Any:
    row, at = _row_and_axis(a, axis)
    if at is None:
        return NotImplemented
    if _is_sorted_by_core(row, at):
        return core.argsort_distributed(row, at)
    if row.ndim > 1:
        kind = "stable" if stable or kind in _STABLE else None
        return _sort_lines(row, at, lambda part, at: numpy.argsort(part, at, kind), numpy.intp)
    if row.dtype.char in _RADIX_DTYPES and row.dtype.isnative:
        return core.wrap(numpy.argsort(as_contiguous_row(row), kind="stable"), True)
    values = row.astype(numpy.float32) if row.dtype.char == "e" else row
    if values.dtype.char not in _ARGSORT_DTYPES or not values.dtype.isnative:
        return NotImplemented
    result, order = uninitialised((len(row),), numpy.int64)
    room = scratch((4 * len(row),), numpy.uint64)
    core.argsort(as_contiguous_row(values), room, order)
    return result


def _argsort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Any:
    result = _sort_by_fields(_argsort_copy, a, axis, kind, order, stable)
    if result is not NotImplemented:
        return result
    return _raise_like_numpy(numpy.argsort, a, axis=axis, kind=kind, order=order, stable=stable)


argsort = implements(numpy.argsort)(_argsort)


def _are_valid_kth(a: Any, kth: Any, axis: Any) -> bool:
    """Whether `kth` contains valid indices along an axis."""
    at = 0 if axis is None else _normalise_axis(a, axis)
    indices = kth if isinstance(kth, ndarray) else numpy.asarray(kth)
    if at is None or indices.dtype.kind not in "iu" or indices.ndim > 1:
        return False
    length = a.size if axis is None else a.shape[at]
    return bool(((-length <= indices) & (indices < length)).all())


@implements(numpy.partition)
def partition(
    a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None
) -> Any:
    return _partition_copy(numpy.partition, a, kth, axis, kind, order)


def _partition_copy(function: Any, a: Any, kth: Any, axis: Any, kind: Any, order: Any) -> Any:
    """Partitions by sorting where distributed, by lines on threads; NotImplemented otherwise."""
    if not isinstance(a, ndarray) or kind != "introselect":
        return NotImplemented
    several = a.ndim > 1 and axis is not None and is_large(a)
    if not (_is_sortable_distributed(a) or several) or not _are_valid_kth(a, kth, axis):
        return NotImplemented
    by_values = function is numpy.partition
    if core.ranks() > 1:
        return _sort_by_fields(_sort_copy if by_values else _argsort_copy, a, axis, None, order)
    if order is not None:
        return NotImplemented
    which, at = numpy.asarray(kth), range(a.ndim)[operator.index(axis)]
    if by_values:
        return _in_memory_order(a, at, lambda part, at: function(part, which, at))
    return _sort_lines(a, at, lambda part, at: function(part, which, at), numpy.intp)


def _partition(
    self: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None
) -> Any:
    if axis is None or not self._writeable:
        return NotImplemented
    result = _partition_copy(numpy.partition, self, kth, axis, kind, order)
    if result is NotImplemented:
        return NotImplemented
    self[...] = result
    return None


def _argpartition(
    a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None
) -> Any:
    return _partition_copy(numpy.argpartition, a, kth, axis, kind, order)


argpartition = implements(numpy.argpartition)(_argpartition)


@implements(numpy.lexsort)
def lexsort(keys: Any, axis: Any = -1) -> Any:
    if is_distributed(keys) and keys.ndim == 1:  # keys of one element: there is nothing to sort
        return numpy.lexsort(numpy.zeros(min(len(keys), 1)), axis)
    given = list(keys)
    ours = any(map(is_distributed, given)) if core.ranks() > 1 else any(map(is_large, given))
    if not ours:
        return NotImplemented
    columns = [asarray(key) for key in given]
    at = _normalise_axis(columns[0], axis)
    if at is None or any(key.shape != columns[0].shape for key in columns):
        return NotImplemented
    if columns[0].ndim > 1 and core.ranks() == 1:
        return NotImplemented
    order = argsort(columns[0], at, kind="stable")
    for key in columns[1:]:
        order = _take_along(order, argsort(_take_along(key, order, at), at, kind="stable"), at)
    return order


def _take_along(array: Any, order: Any, axis: int) -> Any:
    """Elements in an order along an axis."""
    return array[order] if array.ndim == 1 else numpy.take_along_axis(array, order, axis)


_METHODS: dict[str, Callable[..., Any]] = {
    "argpartition": _argpartition,
    "argsort": _argsort,
    "partition": _partition,
    "sort": _sort,
}


METHODS = {
    name: implements(getattr(numpy.ndarray, name), _MODULE)(ours) for name, ours in _METHODS.items()
}
