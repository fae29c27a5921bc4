"""Keys with arrays in them, taken apart: what NumPy calls advanced indexing, of arrays in pieces.

A key is a part that slices say, which is a view, and arrays of numbers for some axes of it: these
axes come first then. A mask is the numbers of what it chooses. Static errors are NumPy's, asked of
an array without memory; a number out of range is found by who has it, and raised by all.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

from dappled._array import core, is_moved, ndarray
from dappled._creation import asarray
from dappled._piecewise import agreed, in_pieces


class Key(NamedTuple):
    """A key, taken apart."""

    part: Any  # what the slices say, the axes of numbers first
    numbers: list[Any]  # an array of ours for each of those
    axes: list[int]  # which axis of the array each is about
    shape: tuple[int, ...]  # that they have together
    front: int  # at which axis of the result it begins


def is_spread(array: Any, key: Any, *values: Any) -> bool:
    """Whether arrays are in pieces, and all can be moved."""
    keys = key if type(key) is tuple else (key,)
    if core.ranks() == 1 or not any(map(in_pieces, (array, *keys, *values))):
        return False
    if all(map(is_basic, keys)):  # and the value is what is special
        return False
    arrays = [value for value in (array, *values) if isinstance(value, ndarray | numpy.ndarray)]
    return all(is_moved(value.dtype) and getattr(value, "_held", None) is None for value in arrays)


def single_key(key: Any) -> Any:
    """A basic key, if all arrays in it are single numbers."""
    keys = key if type(key) is tuple else (key,)
    arrays = [isinstance(one, ndarray | numpy.ndarray) for one in keys]
    known = all(one.ndim == 0 and one.dtype.kind in "iu" for one in _only(keys, arrays))
    others = _only(keys, [not is_array for is_array in arrays])
    if not (any(arrays) and known and all(map(is_basic, others))):
        return None
    return tuple(int(one) if is_array else one for one, is_array in zip(keys, arrays, strict=True))


def mask_of(array: Any, key: Any) -> Any:
    """The key, if it is one mask of all elements."""
    key = key[0] if type(key) is tuple and len(key) == 1 else key
    known = isinstance(key, ndarray | numpy.ndarray) and key.dtype == bool
    return asarray(key) if known and array.ndim and key.shape == array.shape else None


def taken_apart(array: Any, key: Any) -> Key | None:
    """A key, taken apart; None where it is wrong or rare."""
    items = _items(array, key)
    if items is None:
        return None
    basic, found, places = _split(array, items)
    if not found:
        return None
    try:
        shape = numpy.broadcast_shapes(*(numbers.shape for _, numbers, _ in found))
    except ValueError:
        return None
    part = array[tuple(basic)]
    axes = [axis for _, _, axis in found]
    others = [axis for axis in range(part.ndim) if axis not in axes]
    numbers = [
        _in_range(numbers, shape, part.shape[axis], own)
        for (own, numbers, _), axis in zip(found, axes, strict=True)
    ]
    front = axes[0] if places[-1] - places[0] == len(places) - 1 else 0
    return Key(part.transpose(axes + others), numbers, axes, shape, front)


def _items(array: Any, key: Any) -> list[Any] | None:
    """What a key says of each axis in turn, as many as there are axes."""
    items: list[Any] = []
    for one in key if type(key) is tuple else (key,):
        if one is None or one is ... or isinstance(one, slice):
            items.append(one)
        elif (numbers := _numbers(one)) is None:
            return None
        else:
            items.append(numbers)
    used = sum(getattr(one, "ndim", 1) if _is_mask(one) else one is not None for one in items)
    dots = [place for place, one in enumerate(items) if one is ...]
    missing = array.ndim - used + len(dots)
    if len(dots) > 1 or missing < 0:
        return None
    where = dots[0] if dots else len(items)
    items[where : where + len(dots)] = [slice(None)] * missing
    return items


def _numbers(one: Any) -> Any:
    """An array of numbers or a mask, or one number as an array; None for what is rare or wrong."""
    if isinstance(one, bool | numpy.bool):
        return None
    if not isinstance(one, ndarray):
        try:
            one = numpy.asarray(one)
        except ValueError:
            return None
        one = one.astype(numpy.intp) if not one.size and one.dtype == float else one
    if one.dtype.kind not in "biu" or (one.dtype == bool and not one.ndim):
        return None
    return one


def _is_mask(one: Any) -> bool:
    return isinstance(one, ndarray | numpy.ndarray) and one.dtype == bool


def _split(array: Any, items: list[Any]) -> tuple[list[Any], list[Any], list[int]]:
    """The basic key; the axis of the array, the numbers and the axis of the part of each array;
    and where arrays stand among what is not one of them.
    """
    from dappled._taking import nonzero

    basic: list[Any] = []
    found: list[Any] = []
    places: list[int] = []
    axis = shown = 0
    for place, one in enumerate(items):
        if one is None or isinstance(one, slice):
            basic.append(one)
            axis, shown = axis + (one is not None), shown + 1
            continue
        places.append(place)
        if _is_mask(one) and one.shape != array.shape[axis : axis + one.ndim]:
            return basic, [], places
        for numbers in nonzero(asarray(one)) if _is_mask(one) else (one,):
            found.append((axis, numbers, shown))
            basic.append(slice(None))
            axis, shown = axis + 1, shown + 1
    if all(not numbers.ndim and not in_pieces(numbers) for _, numbers, _ in found):
        found = []  # all are single numbers: rare enough
    return basic, found, places


def _in_range(numbers: Any, shape: tuple[int, ...], length: int, axis: int) -> Any:
    """This rank's part of numbers repeated to a shape, if all are in range: from the start on."""
    part, _ = core.part(asarray(numbers), shape)
    return agreed(lambda: _checked(part, length, axis))


def _checked(numbers: Any, length: int, axis: int) -> Any:
    if numbers.dtype != numpy.int64:
        numbers = numbers.astype(numpy.int64)
    wrong = (numbers < -length) | (numbers >= length)
    if wrong.any():
        first = numbers[wrong][0]
        raise IndexError(f"index {first} is out of bounds for axis {axis} with size {length}")
    return numpy.where(numbers < 0, numbers + length, numbers)


def is_basic(one: Any) -> bool:
    number = isinstance(one, int) and not isinstance(one, bool)
    return one is None or one is ... or number or isinstance(one, slice)


def _only(values: Any, wanted: list[bool]) -> list[Any]:
    return [value for value, is_wanted in zip(values, wanted, strict=True) if is_wanted]


def refused(array: Any, key: Any) -> Any:
    """NumPy's error, which needs shapes alone; NotImplemented if there is none."""
    keys = key if type(key) is tuple else (key,)
    like = numpy.broadcast_to(numpy.zeros((), array.dtype), array.shape)
    like[tuple(map(_shadow, keys))]
    return NotImplemented


def _shadow(one: Any) -> Any:
    """Something of the same shape and kind that selects nothing that is not there."""
    if not isinstance(one, ndarray | numpy.ndarray) or not one.ndim:
        return core.unwrap(one) if isinstance(one, ndarray) else one
    return numpy.zeros(one.shape, one.dtype)
