"""Normalised index keys: NumPy's advanced indexing of distributed arrays.

A key becomes a basic view and one index array for each of its first axes; a mask becomes the
indices it selects. NumPy raises static errors for metadata arrays. An index out of range is
detected where it is used, and raised by all ranks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

from dappled._dispatch.meta import meta
from dappled._ndarray.core import core, is_communicable, ndarray
from dappled._ndarray.memory_order import elementwise_order
from dappled._ranks.consensus import collective_try
from dappled._ranks.map_blocks import is_distributed
from dappled._routines.creation import asarray


class Key(NamedTuple):
    """A normalised key."""

    view: Any  # the basic view, with the indexed axes first
    indices: list[Any]  # this rank's block of the index array of each of these axes
    axis: int  # the first indexed axis of the array
    shape: tuple[int, ...]  # their broadcast shape
    result_axis: int  # the axis of the result at which it is inserted
    order: list[int]  # the memory order of these axes in the result


def is_distributed_index(array: Any, key: Any, *values: Any) -> bool:
    """Whether an advanced index involves distributed arrays that can be communicated."""
    keys = key if isinstance(key, tuple) else (key,)
    if core.ranks() == 1 or not any(map(is_distributed, (array, *keys, *values))):
        return False
    if all(map(is_basic_index, keys)):  # then only the value needs attention
        return False
    arrays = [value for value in (array, *values) if isinstance(value, ndarray | numpy.ndarray)]
    return all(
        is_communicable(value.dtype) and getattr(value, "_held", None) is None for value in arrays
    )


def scalar_key(key: Any) -> Any:
    """A basic key, if all arrays in the key are single integers; else None."""
    keys = key if isinstance(key, tuple) else (key,)
    arrays = [isinstance(one, ndarray | numpy.ndarray) for one in keys]
    known = all(one.ndim == 0 and one.dtype.kind in "iu" for one in _filter(keys, arrays))
    others = _filter(keys, [not is_array for is_array in arrays])
    if not (any(arrays) and known and all(map(is_basic_index, others))):
        return None
    return tuple(int(one) if is_array else one for one, is_array in zip(keys, arrays, strict=True))


def full_mask(array: Any, key: Any) -> Any:
    """The key as an array, if it is one mask of the array's shape; else None."""
    key = key[0] if isinstance(key, tuple) and len(key) == 1 else key
    known = isinstance(key, ndarray | numpy.ndarray) and key.dtype == bool
    return asarray(key) if known and array.ndim and key.shape == array.shape else None


def normalise_key(array: Any, key: Any) -> Key | None:
    """The normalised key; None where it is invalid or rare."""
    items = _items(array, key)
    if items is None:
        return None
    basic, index_arrays, positions = _split(array, items)
    if not index_arrays:
        return None
    try:
        shape = numpy.broadcast_shapes(*(indices.shape for _, indices, _ in index_arrays))
    except ValueError:
        return None
    part = array[tuple(basic)]
    axes = [axis for _, _, axis in index_arrays]
    others = [axis for axis in range(part.ndim) if axis not in axes]
    indices = [_local_indices(indices, shape) for _, indices, _ in index_arrays]
    if len(index_arrays) > 1 or indices[0].dtype == numpy.uint64:
        indices = [
            _collective_checked_indices(own, part.shape[at], axis)
            for own, (axis, _, at) in zip(indices, index_arrays, strict=True)
        ]
    front = axes[0] if positions[-1] - positions[0] == len(positions) - 1 else 0
    alone = [] if others else [asarray(one) for _, one, _ in index_arrays]
    order = elementwise_order(alone, shape)
    return Key(part.transpose(axes + others), indices, index_arrays[0][0], shape, front, order)


def _items(array: Any, key: Any) -> list[Any] | None:
    """The item of a key for each axis.

    An ellipsis that stands for no axis stays, because it separates index arrays.
    """
    items: list[Any] = []
    for one in key if isinstance(key, tuple) else (key,):
        if one is None or one is ... or isinstance(one, slice):
            items.append(one)
        elif is_bool_scalar(one):
            items.append(numpy.bool(one))
        elif (indices := _as_indices(one)) is None:
            return None
        else:
            items.append(indices)
    used = sum(map(_axis_count, items))
    dots = [position for position, one in enumerate(items) if one is ...]
    missing = array.ndim - used + len(dots)
    if len(dots) > 1 or missing < 0:
        return None
    if missing or not dots:
        where = dots[0] if dots else len(items)
        items[where : where + len(dots)] = [slice(None)] * missing
    return items


def is_bool_scalar(one: Any) -> bool:
    """Whether an item of a key is a 0-d boolean, which indexes no axis."""
    single = isinstance(one, ndarray | numpy.ndarray) and not one.ndim and one.dtype == bool
    return single or isinstance(one, bool | numpy.bool)


def _axis_count(one: Any) -> int:
    """The number of axes that an item indexes."""
    if one is None or is_bool_scalar(one):
        return 0
    return one.ndim if _is_mask(one) else 1


def _as_indices(one: Any) -> Any:
    """An integer array or a mask; None for other values."""
    if not isinstance(one, ndarray):
        try:
            one = numpy.asarray(one)
        except ValueError:
            return None
        one = one.astype(numpy.intp) if not one.size and one.dtype == float else one
    return one if one.dtype.kind in "biu" else None


def _is_mask(one: Any) -> bool:
    return isinstance(one, ndarray | numpy.ndarray) and one.dtype == bool


def _split(array: Any, items: list[Any]) -> tuple[list[Any], list[Any], list[int]]:
    """The basic key, the index arrays with their axes, and their positions in the key."""
    from dappled._routines.indexing import nonzero

    basic: list[Any] = []
    index_arrays: list[Any] = []
    positions: list[int] = []
    axis = shown = 0
    for position, one in enumerate(items):
        if one is ...:
            continue
        if one is None or isinstance(one, slice):
            basic.append(one)
            axis, shown = axis + (one is not None), shown + 1
            continue
        positions.append(position)
        if is_bool_scalar(one):  # a new axis of length 1 or 0
            index_arrays.append((axis, numpy.zeros(int(one), numpy.intp), shown))
            basic.append(None)
            shown += 1
            continue
        if _is_mask(one) and one.shape != array.shape[axis : axis + one.ndim]:
            return basic, [], positions
        for indices in nonzero(asarray(one)) if _is_mask(one) else (one,):
            index_arrays.append((axis, indices, shown))
            basic.append(slice(None))
            axis, shown = axis + 1, shown + 1
    if all(not indices.ndim and not is_distributed(indices) for _, indices, _ in index_arrays):
        index_arrays = []  # all are scalars, which is rare
    return basic, index_arrays, positions


def _local_indices(indices: Any, shape: tuple[int, ...]) -> Any:
    """This rank's block of an index array broadcast to a shape."""
    return core.part(asarray(indices), shape)[0]


def checked_indices(indices: Any, length: int, axis: int) -> Any:
    """Nonnegative indices, if all are in range; else IndexError."""
    wrong = (indices < -length) | (indices >= length)
    if wrong.any():
        raise index_error(indices[wrong][0], length, axis)
    indices = indices.astype(numpy.int64, copy=False)
    return numpy.where(indices < 0, indices + length, indices)


def _collective_checked_indices(indices: Any, length: int, axis: int) -> Any:
    return collective_try(lambda: checked_indices(indices, length, axis))


def index_error(index: int, length: int, axis: int) -> IndexError:
    """NumPy's IndexError."""
    return IndexError(f"index {index} is out of bounds for axis {axis} with size {length}")


def is_basic_index(one: Any) -> bool:
    """Whether an item of a key is a basic index."""
    is_integer = isinstance(one, int) and not isinstance(one, bool)
    return one is None or one is ... or is_integer or isinstance(one, slice)


def _filter(values: Any, wanted: list[bool]) -> list[Any]:
    return [value for value, is_wanted in zip(values, wanted, strict=True) if is_wanted]


def raise_like_numpy(array: Any, key: Any) -> Any:
    """Raises NumPy's error for a key, which depends on shapes alone; else NotImplemented."""
    keys = key if isinstance(key, tuple) else (key,)
    meta(array.shape, array.dtype)[tuple(map(_key_meta, keys))]
    return NotImplemented


def _key_meta(one: Any) -> Any:
    """An index array of the same shape and dtype whose indices are all in range."""
    if not isinstance(one, ndarray | numpy.ndarray) or not one.ndim:
        return core.unwrap(one) if isinstance(one, ndarray) else one
    if one.dtype != bool or not one.size:
        return meta(one.shape, one.dtype)
    mask = numpy.zeros(one.shape, bool)
    mask.flat[0] = True  # selects one index, which broadcasts with any number of others
    return mask
