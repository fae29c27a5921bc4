"""Keys of indexing: which of them the core resolves, and NumPy's errors for the others."""

from __future__ import annotations

from typing import Any

import numpy

from dappled._dispatch.meta import meta
from dappled._ndarray.core import core, is_communicable, ndarray
from dappled._ranks.map_blocks import is_distributed


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
