"""Keys with arrays in them in one process: large ones are done by the core, on all threads."""

from __future__ import annotations

import math
from typing import Any

import numpy

from dappled._array import core, ndarray
from dappled._creation import asarray
from dappled._threads import LARGE, as_bytes, each, plain, readable, shares, unwritten


def is_large(array: Any) -> bool:
    """Whether threads are worth starting for an array that is all in this process."""
    ours = isinstance(array, ndarray) and core.ranks() == 1 and array._held is None
    return ours and array.size >= LARGE


def getitem(array: Any, key: Any) -> Any:
    """What a mask or an array of numbers selects, in one process; NotImplemented if NumPy is to."""
    key = key[0] if type(key) is tuple and len(key) == 1 else key
    if type(key) is tuple and is_large(array):
        return _parts_of_rows(array, key)
    if not isinstance(key, ndarray) or not (is_large(array) and is_large(key)):
        return NotImplemented
    if key.dtype == bool and key.shape == array.shape:
        made = core.chosen(array, key)
        return NotImplemented if made is None else made
    return _rows_of(array, key) if key.dtype.kind in "iu" else NotImplemented


def _parts_of_rows(array: Any, key: tuple[Any, ...]) -> Any:
    """Slices of rows by their numbers, by NumPy on all threads."""
    first, *others = key
    numbered = isinstance(first, ndarray) and first.dtype.kind in "iu" and first.ndim == 1
    if not numbered or len(key) > array.ndim or not all(type(one) is slice for one in others):
        return NotImplemented
    memory, numbers = core.unwrap(array), plain(first)
    rest = memory[(slice(0), *others)].shape[1:]
    if len(numbers) * math.prod(rest) < LARGE or not memory.flags.c_contiguous:
        return NotImplemented  # what NumPy makes lies as the array does
    made, rows = unwritten((len(numbers), *rest), array.dtype)

    def part(share: slice) -> None:
        rows[share] = memory[(numbers[share], *others)]

    each(part, shares(len(numbers)))
    return made


def _rows_of(array: Any, key: Any) -> Any:
    memory = core.unwrap(array)
    source = readable(memory.reshape(-1)) if memory.flags.c_contiguous else None
    if source is None or not array.size:
        return NotImplemented
    numbers = plain(key).astype(numpy.int64, copy=False)
    made, rows = unwritten((*key.shape, *array.shape[1:]), array.dtype)
    width = array.size // len(array)
    wrong = core.take_rows(source, width, numbers, rows.reshape(-1).view(source.dtype))
    return made if wrong is None else NotImplemented  # NumPy has words for it


def setitem(array: Any, key: Any, value: Any) -> Any:
    """Writes at an array of numbers, in one process; NotImplemented if NumPy is to."""
    key = key[0] if type(key) is tuple and len(key) == 1 else key
    large = isinstance(key, ndarray) and is_large(array) and is_large(key) and array.ndim == 1
    if not large or key.dtype.kind not in "iu" or not array._writeable:
        return NotImplemented
    given = _values(value, array.dtype, key.shape)
    target = None if given is None else as_bytes(core.unwrap(array, writeable=True))
    if target is None:
        return NotImplemented
    given = core.disjoint(target, given)
    numbers = core.disjoint(target, plain(key).astype(numpy.int64, copy=False))
    wrong = core.put_items(target, numbers, given.view(target.dtype))
    return None if wrong is None else NotImplemented


def _values(value: Any, dtype: Any, shape: tuple[int, ...]) -> Any:
    """Values in a dtype, as many as there are numbers, or one; None where NumPy is to be asked."""
    if isinstance(value, ndarray | numpy.ndarray):
        if value.dtype != dtype or value.shape not in ((), (1,), shape):
            return None
        return plain(asarray(value))
    if type(value) not in (bool, int, float):
        return None
    made = numpy.empty(1, dtype)
    made[0] = value
    return made
