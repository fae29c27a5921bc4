"""Keys with arrays in them in one process: large ones are done by the core, on all threads."""

from __future__ import annotations

from typing import Any

import numpy

from dappled._array import core, ndarray
from dappled._creation import asarray
from dappled._threads import LARGE, as_bytes, plain, readable


def is_large(array: Any) -> bool:
    """Whether threads are worth starting for an array that is all in this process."""
    ours = isinstance(array, ndarray) and core.ranks() == 1 and array._held is None
    return ours and array.size >= LARGE


def getitem(array: Any, key: Any) -> Any:
    """What a mask or an array of numbers selects, in one process; NotImplemented if NumPy is to."""
    key = key[0] if type(key) is tuple and len(key) == 1 else key
    if not isinstance(key, ndarray) or not (is_large(array) and is_large(key)):
        return NotImplemented
    if key.dtype == bool and key.shape == array.shape:
        made = core.chosen(array, key)
        return NotImplemented if made is None else made
    return _rows_of(array, key) if key.dtype.kind in "iu" else NotImplemented


def places(mask: Any) -> Any:
    """The places that a mask chooses, in NumPy's array."""
    made = numpy.empty(core.count_chosen(mask), numpy.int64)
    core.places(mask, made)
    return made


def _rows_of(array: Any, key: Any) -> Any:
    memory = core.unwrap(array)
    source = readable(memory.reshape(-1)) if memory.flags.c_contiguous else None
    if source is None or not array.size:
        return NotImplemented
    numbers = plain(key).astype(numpy.int64, copy=False)
    made = numpy.empty((*key.shape, *array.shape[1:]), array.dtype)
    width = array.size // len(array)
    wrong = core.take_rows(source, width, numbers, made.reshape(-1).view(source.dtype))
    if wrong is not None:  # NumPy has words for it
        return NotImplemented
    return core.wrap(made, True)


def setitem(array: Any, key: Any, value: Any) -> Any:
    """Writes at an array of numbers, in one process; NotImplemented if NumPy is to."""
    key = key[0] if type(key) is tuple and len(key) == 1 else key
    large = isinstance(key, ndarray) and is_large(array) and is_large(key) and array.ndim == 1
    if not large or key.dtype.kind not in "iu" or not array._writeable:
        return NotImplemented
    given = _values(value, array.dtype, key.shape)
    target = None if given is None else as_bytes(core.unwrap(array, writeable=True))
    if target is None or numpy.may_share_memory(target, given):
        return NotImplemented
    numbers = plain(key).astype(numpy.int64, copy=False)
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
