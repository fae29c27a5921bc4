"""Indexing routines: take, put, compress, choose, nonzero and others.

On several ranks they are advanced indexing; in one process the core computes large arrays on all
threads.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy

from dappled._dispatch.callsite import call_from_user_frame
from dappled._dispatch.implements import implements
from dappled._dispatch.meta import small_meta
from dappled._ndarray.core import core, empty, is_communicable, ndarray, write_into
from dappled._ndarray.memory_order import flags_of
from dappled._ndarray.threaded_indexing import is_large
from dappled._ranks.map_blocks import is_distributed, map_blocks
from dappled._routines._distributed import row_blocks
from dappled._routines._distributed.threads import as_contiguous_row, uninitialised
from dappled._routines.creation import asarray

_METHODS = "dappled.ndarray"
MODES = ("raise", "wrap", "clip")


def as_index_array(indices: Any, casting: Any = "same_kind") -> Any:
    """An integer array that can be an index; else None."""
    index_array = indices if isinstance(indices, ndarray) else numpy.asarray(indices)
    fits = index_array.dtype.kind in "iu" and numpy.can_cast(index_array.dtype, numpy.intp, casting)
    return index_array if fits else None


def apply_mode(indices: Any, length: int, mode: Any) -> Any:
    """Indices on an axis under a mode, as `intp`: their own dtype may not represent its length."""
    if mode == "wrap":
        return asarray(indices).astype(numpy.intp, copy=False) % length
    if mode == "clip":
        return asarray(indices).astype(numpy.intp, copy=False).clip(0, length - 1)
    return indices


def wrap_indices(indices: Any, length: int, casting: Any = "same_kind") -> Any:
    """Indices modulo the length: NumPy subtracts the length repeatedly, which may take years.

    None where there is nothing to wrap, or NumPy raises.
    """
    index_array = as_index_array(indices, casting)
    return None if index_array is None or not length else apply_mode(index_array, length, "wrap")


def _nonzero(a: Any) -> Any:
    if not isinstance(a, ndarray) or not a.ndim:
        return NotImplemented
    if is_large(a):
        mask = as_contiguous_row(a if a.dtype == bool else a != 0)
        output, result = uninitialised((core.count_chosen(mask),), numpy.int64)
        core.places(mask, result)
        if a.ndim == 1:
            return (output[...],)
        table = numpy.empty((result.size, a.ndim), numpy.int64)
        for position, one in enumerate(numpy.unravel_index(result, a.shape)):
            table[:, position] = one
        return _index_columns(core.wrap(table, True))
    if core.ranks() > 1 and a._whole and a.ndim > 1:
        return _index_columns(core.wrap(numpy.argwhere(core.unwrap(a)), True))
    if not is_distributed(a) or not is_communicable(a.dtype):
        return NotImplemented
    if not a._items:
        return _index_columns(core.argwhere(a))
    piece = row_blocks.local_rows(a.reshape(-1))
    result = numpy.flatnonzero(piece) + row_blocks.first_row(a.size)
    return _index_columns(
        row_blocks.concatenate_ranks(numpy.stack(numpy.unravel_index(result, a.shape), 1))
    )


def _index_columns(table: Any) -> Any:
    """The indices as columns of one table, not contiguous, as NumPy returns them."""
    return tuple(table[:, position] for position in range(table.shape[1]))


nonzero = implements(numpy.nonzero)(_nonzero)


@implements(numpy.argwhere)
def argwhere(a: Any) -> Any:
    if core.ranks() == 1 or not is_distributed(a) or not a.ndim:
        return NotImplemented
    result = nonzero(a)
    output = empty((len(result), len(result[0])), numpy.intp)
    for position, indices in enumerate(result):
        output[position] = indices
    return output.T


def _normalise_axis(dims: int, axis: Any) -> int | None:
    """The axis as a nonnegative integer; None if there is none."""
    if not hasattr(axis, "__index__") or not -dims <= operator.index(axis) < dims:
        return None
    return range(dims)[operator.index(axis)]


def _take(a: Any, indices: Any, axis: Any, mode: Any) -> Any:
    on_ranks = core.ranks() > 1 and any(map(is_distributed, (a, indices)))
    if not (on_ranks or is_large(indices)) or not isinstance(a, ndarray):
        return NotImplemented
    index_array, row = as_index_array(indices), a.reshape(-1) if axis is None else a
    at = _normalise_axis(row.ndim, 0 if axis is None else axis)
    if index_array is None or at is None or mode not in MODES:
        return NotImplemented
    length = row.shape[at]
    if not length and index_array.size:
        raise IndexError("cannot do a non-empty take from an empty axes.")
    if 0 in row.shape[:at]:  # whatever the indices are
        return empty((*row.shape[:at], *index_array.shape, *row.shape[at + 1 :]), row.dtype)
    index_array = apply_mode(index_array, length, mode)
    if not index_array.ndim:
        result = row[(slice(None),) * at + (int(index_array),)]
        return result.copy() if row.ndim > 1 else result
    result = row[(slice(None),) * at + (index_array,)]
    return result if flags_of(result).c_contiguous else result.copy()


def _may_cast(a: Any, out: Any) -> bool:
    """Whether elements may be cast to the dtype of `out`, unless NumPy raises."""
    return core.ranks() > 1 and isinstance(a, ndarray) and isinstance(out, ndarray)


def _take_with_out(
    a: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise"
) -> Any:
    if mode == "wrap" and (known := wrap_indices(indices, _axis_length(a, axis))) is not None:
        return take(a, known, axis, out)
    if casts := _may_cast(a, out):
        at = small_meta(asarray(indices)).astype(int)
        call_from_user_frame(
            numpy.take, small_meta(a), at, axis, small_meta(out), mode
        )  # NumPy may raise
    return write_into(_take(a, indices, axis, mode), out, casts)


def _axis_length(a: Any, axis: Any) -> int:
    """The number of elements to take from; 0 where there is no such axis."""
    shape = (numpy.size(a),) if axis is None else numpy.shape(a)
    at = _normalise_axis(len(shape), 0 if axis is None else axis)
    return 0 if at is None else shape[at]


take = implements(numpy.take)(_take_with_out)


def _put(a: Any, ind: Any, v: Any, mode: Any = "raise") -> Any:
    if mode == "wrap" and (known := wrap_indices(ind, numpy.size(a), "safe")) is not None:
        return put(a, known, v)
    if core.ranks() == 1 or not is_distributed(a) or not a._writeable:
        return NotImplemented
    given = v if isinstance(v, ndarray | numpy.ndarray) else numpy.asarray(v, a.dtype)
    indices, values = as_index_array(ind, "safe"), asarray(given).reshape(-1)
    if mode not in MODES or indices is None or not values.size or not a.size:
        return NotImplemented
    indices = apply_mode(asarray(indices).reshape(-1), a.size, mode)
    write_flat(a, indices, _repeat_to_size(values, indices.size))
    return None


put = implements(numpy.put)(_put)


def write_flat(a: Any, indices: Any, values: Any) -> None:
    """Assigns to elements by flat indices."""
    row = a.reshape(-1)
    row[indices] = values
    if a.ndim != 1:  # on several ranks a reshape may copy
        a[...] = row.reshape(a.shape)


def _repeat_to_size(values: Any, size: int) -> Any:
    """Values repeated cyclically to a size."""
    if len(values) == size:
        return values
    if len(values) == 1:
        return values[0]
    return values[asarray(numpy.arange(size) % len(values))]


@implements(numpy.place)
def place(arr: Any, mask: Any, vals: Any) -> Any:
    if core.ranks() == 1 or not is_distributed(arr) or not arr._writeable:
        return NotImplemented
    chosen = asarray(mask)
    if chosen.size != arr.size or not numpy.size(vals):
        return NotImplemented
    values = _checked_values(arr.dtype, vals).reshape(-1)
    (indices,) = nonzero(chosen.reshape(-1))
    if indices.size:
        write_flat(arr, indices, _repeat_to_size(values, indices.size).astype(arr.dtype))
    return None


@implements(numpy.putmask)
def putmask(a: Any, mask: Any, values: Any) -> Any:
    if core.ranks() == 1 or not is_distributed(a) or not a._writeable:
        return NotImplemented
    chosen = asarray(mask)
    if chosen.size != a.size or not numpy.size(values):
        return NotImplemented
    given = _checked_values(a.dtype, values).reshape(-1)
    (indices,) = nonzero(chosen.reshape(-1))
    if indices.size:
        write_flat(a, indices, given[indices % given.size].astype(a.dtype))
    return None


def _checked_values(dtype: Any, values: Any) -> Any:
    """Values as an array; raises NumPy's error for a dtype that does not accept them."""
    arrays = isinstance(values, ndarray | numpy.ndarray)
    like = numpy.zeros(1, values.dtype) if arrays else values
    numpy.putmask(numpy.zeros(1, dtype), [False], like)
    return asarray(values if arrays else numpy.asarray(values, dtype))


def _compress(condition: Any, a: Any, axis: Any) -> Any:
    on_ranks = core.ranks() > 1 and any(map(is_distributed, (condition, a)))
    if not (on_ranks or is_large(a)) or not isinstance(a, ndarray):
        return NotImplemented
    mask = asarray(condition)
    if mask.ndim != 1:
        return NotImplemented
    if axis is None and mask.dtype == bool and mask.size == a.size:
        return a.reshape(-1)[mask]
    (indices,) = nonzero(mask)
    return take(a, indices, axis)


def _compress_with_out(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    if casts := _may_cast(a, out):
        call_from_user_frame(
            numpy.compress, [True], small_meta(a), axis, small_meta(out)
        )  # NumPy may raise
    return write_into(_compress(condition, a, axis), out, casts)


compress = implements(numpy.compress)(_compress_with_out)


def _choose(a: Any, choices: Any, mode: Any) -> Any:
    given = choices if isinstance(choices, list | tuple) else None
    if core.ranks() == 1 or given is None:
        return NotImplemented
    if not any(map(is_distributed, (a, *given))):
        return NotImplemented
    kind = numpy.result_type(*map(_dtype, given))

    def chosen(a: Any, *choices: Any) -> Any:
        return numpy.choose(a, choices, mode=mode).astype(kind, copy=False)

    return map_blocks(chosen, (a, *given), {})


def _dtype(value: Any) -> Any:
    """The dtype or weak Python scalar that a value contributes to promotion."""
    return value if type(value) in (bool, int, float, complex) else asarray(value).dtype


def _choose_with_out(a: Any, choices: Any, out: Any = None, mode: Any = "raise") -> Any:
    if mode == "wrap" and (known := wrap_indices(a, len(choices), "safe")) is not None:
        return choose(known, choices, out)
    try:
        shape = numpy.broadcast_shapes(*map(numpy.shape, (a, *choices)))
    except ValueError:
        return NotImplemented
    if out is not None and numpy.shape(out) != shape:  # NumPy checks it before any value
        return NotImplemented
    if mode != "raise" and isinstance(out, ndarray) and not flags_of(out).c_contiguous:
        # NumPy 2.3 and later ignores the strides of `out` here.
        return write_into(choose(a, choices, mode=mode), out, casts=True)
    return write_into(_choose(a, choices, mode), out, casts=True)


choose = implements(numpy.choose)(_choose_with_out)


@implements(numpy.unravel_index)
def unravel_index(indices: Any, shape: Any, order: Any = "C") -> Any:
    if core.ranks() == 1 or not is_distributed(indices):
        return NotImplemented

    def unravelled(part: Any) -> Any:
        return numpy.unravel_index(part, shape, order)

    return map_blocks(unravelled, (indices,), {}, order="K")


@implements(numpy.ravel_multi_index)
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: Any = "C") -> Any:
    parts = tuple(multi_index)
    if core.ranks() == 1 or not any(map(is_distributed, parts)):
        return NotImplemented

    def ravelled(*parts: Any) -> Any:
        return numpy.ravel_multi_index(parts, dims, mode, order)

    return map_blocks(ravelled, parts, {}, order="K")


def _method(name: str, ours: Callable[..., Any]) -> Any:
    return implements(getattr(numpy.ndarray, name), _METHODS)(ours)


def _compress_method(self: Any, condition: Any, axis: Any = None, out: Any = None) -> Any:
    return _compress_with_out(condition, self, axis, out)


METHODS = {
    "choose": _method("choose", _choose_with_out),
    "compress": _method("compress", _compress_method),
    "nonzero": _method("nonzero", _nonzero),
    "put": _method("put", _put),
    "take": _method("take", _take_with_out),
}
