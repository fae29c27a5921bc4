"""Advanced indexing of distributed arrays: get, set and `ufunc.at`.

The indexed axes are flattened to one axis of rows. Rows that are read are requested from their
owners; values that are written are sent to the owners, which apply them in index order, so the last
of several values for one row remains.
"""

from __future__ import annotations

import functools
import math
import warnings
from typing import Any

import numpy

from dappled._dispatch.callsite import call_from_user_frame
from dappled._ndarray.bool_keys import bool_view
from dappled._ndarray.core import core, ndarray, ufuncs
from dappled._ndarray.index_keys import (
    Key,
    checked_indices,
    full_mask,
    index_error,
    is_basic_index,
    is_distributed_index,
    normalise_key,
    raise_like_numpy,
    scalar_key,
)
from dappled._ndarray.memory_order import axes_by_stride, undo_transpose, with_memory_order
from dappled._ranks.comm import check_collective
from dappled._ranks.consensus import collective_try
from dappled._ranks.map_blocks import is_distributed
from dappled._routines._distributed import row_blocks
from dappled._routines.broadcasting import broadcast_to, broadcastable, fits
from dappled._routines.creation import asarray
from dappled.protocol import Distribution

_MISMATCH = "shape mismatch: value array of shape {} could not be broadcast to indexing result of "
_MISMATCH += "shape {}"


def getitem(array: Any, key: Any) -> Any:
    """The elements that an advanced index selects; NotImplemented for the fallback."""
    if not is_distributed_index(array, key):
        return NotImplemented
    check_collective("indexing")
    if (single := scalar_key(key)) is not None:
        result = array[single]
        return result.copy("K") if isinstance(result, ndarray) else result
    if (view := bool_view(array, key)) is not None:
        return view.copy()
    if (mask := full_mask(array, key)) is not None:
        return _select(array, mask)
    parsed = normalise_key(array, key)
    if parsed is None:
        return raise_like_numpy(array, key)
    output = _take_in_memory_order(parsed)
    rest = output.ndim - len(parsed.shape)
    return _move_index_axes(output, len(parsed.shape), rest, parsed.result_axis)


def setitem(array: Any, key: Any, value: Any) -> Any:
    """Assigns through an advanced index; NotImplemented for the fallback."""
    if not is_distributed_index(array, key, value):
        return _write_sequence(array, key, value)
    check_collective("indexing")
    if (single := scalar_key(key)) is not None:
        array[single] = value
        return None
    if (view := bool_view(array, key)) is not None:
        view[...] = (
            broadcastable(asarray(value), view.shape, _MISMATCH) if numpy.ndim(value) else value
        )
        return None
    if (mask := full_mask(array, key)) is not None and not numpy.ndim(value):
        return _fill_mask(array, mask, call_from_user_frame(_cast, value, array.dtype))
    parsed = normalise_key(array, key)
    if parsed is None:
        return raise_like_numpy(array, key)
    value = call_from_user_frame(_cast, value, array.dtype)
    if mask is not None:
        _check_mask_size(value, parsed.shape[0])
    return _put(parsed, _broadcast_value(parsed, value))


def _write_sequence(array: Any, key: Any, value: Any) -> Any:
    """Assigns a sequence through a basic key; NotImplemented for rare or invalid keys."""
    keys = key if isinstance(key, tuple) else (key,)
    known = isinstance(value, list | tuple | range) and all(map(is_basic_index, keys))
    if not (known and is_distributed(array) and array._writeable and not array._items):
        return NotImplemented
    part = array[key]
    try:
        result = asarray(value, array.dtype)
    except (OverflowError, TypeError, ValueError):
        return NotImplemented
    # A single element, or a sequence too deeply nested
    if not isinstance(part, ndarray) or result.ndim > part.ndim:
        return NotImplemented
    part[...] = result
    return None


def at(ufunc: Any, array: Any, key: Any, *values: Any) -> Any:
    """`ufunc.at`; NotImplemented for the fallback."""
    keys = key if isinstance(key, tuple) else (key,)
    if isinstance(array, ndarray) and core.ranks() > 1 and len(values) == ufunc.nin - 1:
        _check_loop(ufunc, array, values)
    if is_distributed(array) and all(map(is_basic_index, keys)):
        dots = () if any(one is ... for one in keys) else (...,)  # a view even of a single element
        return _at_unique(ufunc, array, (*keys, *dots), values)
    if not isinstance(array, ndarray) or not is_distributed_index(array, key, *values):
        return NotImplemented
    check_collective("ufunc.at")
    parsed = normalise_key(array, key)
    if parsed is None or not array._writeable:
        return NotImplemented
    if not values:
        return _update_rows(
            parsed, None, lambda piece, numbers, _: _collective_at(ufunc, piece, numbers)
        )
    value = asarray(values[0])
    axes = len(parsed.shape) + parsed.view.ndim - len(parsed.indices)
    try:
        value = _broadcast_value(parsed, value) if value.ndim <= axes else None
    except ValueError:
        value = None
    if value is None:  # NumPy raises, also for superfluous axes of length 1
        return NotImplemented
    return _update_rows(parsed, value, functools.partial(_collective_at, ufunc))


def _check_loop(ufunc: Any, array: Any, values: tuple[Any, ...]) -> None:
    """Raises NumPy's dtype error, which precedes errors about indices."""
    rows = [one if hasattr(one, "dtype") or not numpy.ndim(one) else asarray(one) for one in values]
    like = [numpy.ones(1, one.dtype) if hasattr(one, "dtype") else one for one in rows]
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        call_from_user_frame(ufunc.at, numpy.ones(1, array.dtype), numpy.empty(0, int), *like)


def _at_unique(ufunc: Any, array: Any, key: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
    """`ufunc.at` with a basic key, which selects no element twice."""
    view = array[key]
    given = tuple(map(asarray, values))
    ours: Any = ufuncs.get(ufunc.__name__)
    known = ours is not None and ours._numpy is ufunc and ufunc.nout == 1 and view._writeable
    if not known or not all(fits(value.shape, view.shape) for value in given):
        return NotImplemented
    if view.ndim:
        view[...] = ours(view, *given)  # cast like an assignment
    else:  # a ufunc returns a scalar
        single = tuple(one for one in key if one is not ...)
        result = ours(array[single], *map(core.unwrap, given))
        array[single] = numpy.asarray(result)  # cast, where a Python number would raise
    return None


def _collective_at(ufunc: Any, *args: Any) -> None:
    """Raises on all ranks what `ufunc.at` raises on one, before anything is written."""
    collective_try(lambda: ufunc.at(*args))


def _select(array: Any, mask: Any) -> Any:
    row, which = array.reshape(-1), mask.reshape(-1)
    if (result := core.chosen(row, which)) is not None:
        return result
    if (
        result := core.chosen(row.redistribute(row_blocks.row_distribution(row.shape)), which)
    ) is not None:
        return result
    return row_blocks.concatenate_ranks(row_blocks.local_rows(row)[row_blocks.local_rows(which)])


def _fill_mask(array: Any, mask: Any, value: Any) -> None:
    from dappled._routines.math import copyto  # which needs the slow ways, and they need this

    copyto(array, value, where=mask)


def _check_mask_size(value: Any, count: int) -> None:
    """Raises NumPy's error for a value that does not fit a full mask."""
    text = "NumPy boolean array indexing assignment "
    if value.ndim > 1:
        numpy.zeros(1)[numpy.ones(1, bool)] = numpy.zeros((1,) * value.ndim)  # NumPy's error
    if value.size not in (1, count):
        text += f"cannot assign {value.size} input values to the {count} output values"
        raise ValueError(f"{text} where the mask is true")


def _flat_indices(parsed: Key) -> Any:
    """This rank's row indices, with the indexed axes flattened."""
    indices = iter(parsed.indices)
    total = next(indices).astype(numpy.int64, copy=False)
    for one, length in zip(indices, parsed.view.shape[1:], strict=False):
        total = total * length + one
    return total


def _as_rows(parsed: Key) -> Any:
    """The view with its indexed axes flattened to one."""
    count = len(parsed.indices)
    shape = parsed.view.shape
    rows = (math.prod(shape[:count]), *shape[count:])
    return parsed.view if count == 1 else parsed.view.reshape(rows)


def _is_empty_selection(parsed: Key, rest: tuple[int, ...]) -> bool:
    """Whether nothing is selected; checks that the indices are in range nevertheless."""
    if math.prod(parsed.shape) and not math.prod(rest):
        first, length = parsed.indices[0], len(parsed.view)
        collective_try(lambda: checked_indices(first, length, parsed.axis))
    return not math.prod((*parsed.shape, *rest))


def _take_in_memory_order(parsed: Key) -> Any:
    """The selected elements in NumPy's memory order: index axes, then the others."""
    first, count = len(parsed.indices), len(parsed.shape)
    others = axes_by_stride(parsed.view, first)
    part = parsed.view.transpose([*range(first), *others])
    order = [*range(count), *(axis - first + count for axis in others)]
    result = _take(parsed._replace(view=part))
    return undo_transpose(result, order) if others else with_memory_order(result, parsed.order)


def _take(parsed: Key) -> Any:
    array = _as_rows(parsed)
    rest = array.shape[1:]
    if _is_empty_selection(parsed, rest):
        return core.wrap(numpy.empty((*parsed.shape, *rest), array.dtype))
    grid = core.placed("b" * len(parsed.shape), parsed.shape).grid_shape
    kinds = "b" * len(parsed.shape) + "n" * len(rest)
    target = Distribution((*parsed.shape, *rest), kinds, grid_shape=(*grid, *(1 for _ in rest)))
    result, wrong = row_blocks.take_rows(array, _flat_indices(parsed), target)
    if wrong is not None:
        raise index_error(wrong, len(array), parsed.axis)
    return row_blocks.to_default_layout(result)


def _move_index_axes(result: Any, count: int, rest: int, front: int) -> Any:
    """The result with the index axes where the arrays stood in the key."""
    if not front:
        return result
    axes = [*range(count, count + front), *range(count), *range(count + front, count + rest)]
    return result.transpose(axes)._owner()


def _cast(value: Any, dtype: Any) -> Any:
    """A value in the dtype that it is assigned to."""
    if isinstance(value, ndarray):
        return value if value.dtype == dtype else value.astype(dtype)
    if isinstance(value, numpy.ndarray):
        result = value if value.dtype == dtype else value.astype(dtype)
    elif isinstance(value, numpy.generic):
        result = numpy.asarray(value).astype(dtype)  # a NumPy scalar is cast like an array
    elif isinstance(value, bool | int | float | complex | str | bytes):
        result = numpy.empty((), dtype)
        result[()] = value
    else:
        result = numpy.asarray(value, dtype)
    return asarray(result)


def _broadcast_value(parsed: Key, value: Any) -> Any:
    """A value broadcast to the shape that a key selects, with index axes first."""
    count, rest = len(parsed.shape), parsed.view.shape[len(parsed.indices) :]
    front = parsed.result_axis
    shape = (*rest[:front], *parsed.shape, *rest[front:])
    value = broadcastable(value, shape, _MISMATCH)
    if not value.ndim:
        return value
    axes = [*range(front, front + count), *range(front), *range(front + count, len(shape))]
    return broadcast_to(value, shape).transpose(axes)


def _put(parsed: Key, value: Any) -> None:
    """Writes rows on their owners, in index order."""
    array = _as_rows(parsed)
    size, rest = math.prod(parsed.shape), array.shape[1:]
    if _is_empty_selection(parsed, rest):
        return
    indices, blocks = _indices_by_row(parsed, size), row_blocks.row_distribution(array.shape)
    if not value.ndim:
        given = numpy.full((1, *rest), core.unwrap(value))
    else:
        given = row_blocks.read_local_rows(value.reshape(size, *rest))
    raw, written, wrong = row_blocks.raw_bytes(given), False, None
    if array is parsed.view:
        written, wrong = core.put_by_number(array, blocks, indices, raw, not value.ndim)
    if not written and wrong is None:
        array = array.redistribute(blocks)
        _, wrong = core.put_by_number(array, blocks, indices, raw, not value.ndim)
    if wrong is not None:
        raise index_error(wrong, len(array), parsed.axis)
    if not written:
        parsed.view[...] = array.reshape(parsed.view.shape)


def _update_rows(parsed: Key, value: Any, change: Any) -> None:
    """Updates rows on their owners, in index order."""
    array = _as_rows(parsed)
    size, rest = math.prod(parsed.shape), array.shape[1:]
    if _is_empty_selection(parsed, rest):
        return
    indices = _indices_by_row(parsed, size)
    indices = collective_try(lambda: checked_indices(indices, len(array), parsed.axis))
    way = row_blocks.RowExchange("rows by number", row_blocks.owner_ranks(len(array), indices))
    asked = way.send(indices) - row_blocks.first_row(len(array))
    if value is None or not value.ndim:
        given = None if value is None else core.unwrap(value)
    else:
        given = way.send(row_blocks.read_local_rows(value.reshape(size, *rest)))
    piece = row_blocks.local_rows(array)
    change(piece, asked, given)
    result = core.from_piece(row_blocks.row_distribution(array.shape), piece, True)
    parsed.view[...] = result.reshape(parsed.view.shape)


def _indices_by_row(parsed: Key, size: int) -> Any:
    """This rank's row indices to write, in C order over the ranks."""
    flat = _flat_indices(parsed)
    if flat.ndim < 2:
        return numpy.ascontiguousarray(flat).reshape(-1)
    blocks = core.placed("b" * len(parsed.shape), parsed.shape)
    result = core.from_piece(blocks, row_blocks.contiguous_copy(flat), True)
    return row_blocks.local_rows(result.reshape(size))
