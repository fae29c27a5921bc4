"""Advanced indexing in one process, on all threads."""

from __future__ import annotations

import math
from typing import Any

import numpy

from dappled._ndarray.core import core, ndarray
from dappled._routines._distributed.threads import (
    MIN_PARALLEL_ELEMENTS,
    as_contiguous_row,
    as_readable_words,
    as_writeable_words,
    map_threads,
    thread_slices,
    uninitialised,
)
from dappled._routines.creation import asarray


def is_large(array: Any) -> bool:
    """Whether threads pay for an array of this process."""
    ours = isinstance(array, ndarray) and core.ranks() == 1 and array._held is None
    return ours and array.size >= MIN_PARALLEL_ELEMENTS


def getitem(array: Any, key: Any) -> Any:
    """The elements that a mask or an index array selects; NotImplemented for the fallback."""
    key = key[0] if type(key) is tuple and len(key) == 1 else key
    if type(key) is tuple and is_large(array):
        return _slices_of_rows(array, key)
    if not isinstance(key, ndarray) or not (is_large(array) and is_large(key)):
        return NotImplemented
    if key.dtype == bool and key.shape == array.shape:
        result = core.chosen(array, key)
        return NotImplemented if result is None else result
    return _take_rows(array, key) if key.dtype.kind in "iu" else NotImplemented


def _slices_of_rows(array: Any, key: tuple[Any, ...]) -> Any:
    """Slices of rows selected by an index array."""
    first, *others = key
    numbered = isinstance(first, ndarray) and first.dtype.kind in "iu" and first.ndim == 1
    if not numbered or len(key) > array.ndim or not all(type(one) is slice for one in others):
        return NotImplemented
    memory, indices = core.unwrap(array), as_contiguous_row(first)
    rest = memory[(slice(0), *others)].shape[1:]
    if len(indices) * math.prod(rest) < MIN_PARALLEL_ELEMENTS or not memory.flags.c_contiguous:
        return NotImplemented  # NumPy's result has the array's memory order
    result, rows = uninitialised((len(indices), *rest), array.dtype)

    def part(share: slice) -> None:
        rows[share] = memory[(indices[share], *others)]

    map_threads(part, thread_slices(len(indices)))
    return result


def _take_rows(array: Any, key: Any) -> Any:
    memory = core.unwrap(array)
    source = as_readable_words(memory.reshape(-1)) if memory.flags.c_contiguous else None
    if source is None or not array.size:
        return NotImplemented
    indices = as_contiguous_row(key).astype(numpy.int64, copy=False)
    result, rows = uninitialised((*key.shape, *array.shape[1:]), array.dtype)
    width = array.size // len(array)
    wrong = core.take_rows(source, width, indices, rows.reshape(-1).view(source.dtype))
    return result if wrong is None else NotImplemented  # NumPy raises the error


def setitem(array: Any, key: Any, value: Any) -> Any:
    """Assigns at an index array; NotImplemented for the fallback."""
    key = key[0] if type(key) is tuple and len(key) == 1 else key
    large = isinstance(key, ndarray) and is_large(array) and is_large(key) and array.ndim == 1
    if not large or key.dtype.kind not in "iu" or not array._writeable:
        return NotImplemented
    given = _values(value, array.dtype, key.shape)
    target = None if given is None else as_writeable_words(core.unwrap(array, writeable=True))
    if target is None:
        return NotImplemented
    given = core.disjoint(target, given)
    indices = core.disjoint(target, as_contiguous_row(key).astype(numpy.int64, copy=False))
    wrong = core.put_items(target, indices, given.view(target.dtype))
    return None if wrong is None else NotImplemented


def _values(value: Any, dtype: Any, shape: tuple[int, ...]) -> Any:
    """Values in a dtype, one or as many as indices; None for the fallback."""
    if isinstance(value, ndarray | numpy.ndarray):
        if value.dtype != dtype or value.shape not in ((), (1,), shape):
            return None
        return as_contiguous_row(asarray(value))
    if type(value) not in (bool, int, float):
        return None
    result = numpy.empty(1, dtype)
    result[0] = value
    return result
