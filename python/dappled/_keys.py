"""Keys with arrays in them, taken apart: what NumPy calls advanced indexing, of arrays in pieces.

A key is a part that slices say, which is a view, and arrays of numbers for some axes of it: these
axes come first then. A mask is the numbers of what it chooses. Static errors are NumPy's, asked of
an array without memory; a number out of range is found by who has it, and raised by all: numbers of
one axis where they are used, so that they are looked at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

from dappled._agreeing import agreed
from dappled._array import core, is_moved, ndarray
from dappled._creation import asarray
from dappled._order import common_order
from dappled._piecewise import in_pieces


class Key(NamedTuple):
    """A key, taken apart."""

    part: Any  # what the slices say, the axes of numbers first
    numbers: list[Any]  # this rank's part of them for each of those
    axis: int  # the first axis of the array that they are about
    shape: tuple[int, ...]  # that they have together
    front: int  # at which axis of the result it begins
    order: list[int]  # in which these axes of what is read lie: as the numbers do, if alone


def is_spread(array: Any, key: Any, *values: Any) -> bool:
    """Whether arrays are in pieces, and all can be moved."""
    keys = key if isinstance(key, tuple) else (key,)
    if core.ranks() == 1 or not any(map(in_pieces, (array, *keys, *values))):
        return False
    if all(map(is_basic, keys)):  # and the value is what is special
        return False
    arrays = [value for value in (array, *values) if isinstance(value, ndarray | numpy.ndarray)]
    return all(is_moved(value.dtype) and getattr(value, "_held", None) is None for value in arrays)


def single_key(key: Any) -> Any:
    """A basic key, if all arrays in it are single numbers."""
    keys = key if isinstance(key, tuple) else (key,)
    arrays = [isinstance(one, ndarray | numpy.ndarray) for one in keys]
    known = all(one.ndim == 0 and one.dtype.kind in "iu" for one in _only(keys, arrays))
    others = _only(keys, [not is_array for is_array in arrays])
    if not (any(arrays) and known and all(map(is_basic, others))):
        return None
    return tuple(int(one) if is_array else one for one, is_array in zip(keys, arrays, strict=True))


def mask_of(array: Any, key: Any) -> Any:
    """The key, if it is one mask of all elements."""
    key = key[0] if isinstance(key, tuple) and len(key) == 1 else key
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
    numbers = [_own_part(numbers, shape) for _, numbers, _ in found]
    if len(found) > 1 or numbers[0].dtype == numpy.uint64:
        numbers = [
            _agreed_range(own, part.shape[at], axis)
            for own, (axis, _, at) in zip(numbers, found, strict=True)
        ]
    front = axes[0] if places[-1] - places[0] == len(places) - 1 else 0
    alone = [] if others else [asarray(one) for _, one, _ in found]
    order = common_order(alone, shape)
    return Key(part.transpose(axes + others), numbers, found[0][0], shape, front, order)


def _items(array: Any, key: Any) -> list[Any] | None:
    """What a key says of each axis in turn, as many as there are axes; dots that stand for none
    stay, as they part arrays.
    """
    items: list[Any] = []
    for one in key if isinstance(key, tuple) else (key,):
        if one is None or one is ... or isinstance(one, slice):
            items.append(one)
        elif is_truth(one):
            items.append(numpy.bool(one))
        elif (numbers := _numbers(one)) is None:
            return None
        else:
            items.append(numbers)
    used = sum(map(_axes, items))
    dots = [place for place, one in enumerate(items) if one is ...]
    missing = array.ndim - used + len(dots)
    if len(dots) > 1 or missing < 0:
        return None
    if missing or not dots:
        where = dots[0] if dots else len(items)
        items[where : where + len(dots)] = [slice(None)] * missing
    return items


def is_truth(one: Any) -> bool:
    """Whether an item of a key is a single truth, which is about no axis."""
    single = isinstance(one, ndarray | numpy.ndarray) and not one.ndim and one.dtype == bool
    return single or isinstance(one, bool | numpy.bool)


def _axes(one: Any) -> int:
    """How many axes an item is about."""
    if one is None or is_truth(one):
        return 0
    return one.ndim if _is_mask(one) else 1


def _numbers(one: Any) -> Any:
    """An array of numbers or a mask, or one number as an array; None for what is rare or wrong."""
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
    """The basic key; the axis of the array, the numbers and the axis of the part of each array;
    and where arrays stand among what is not one of them.
    """
    from dappled._taking import nonzero

    basic: list[Any] = []
    found: list[Any] = []
    places: list[int] = []
    axis = shown = 0
    for place, one in enumerate(items):
        if one is ...:
            continue
        if one is None or isinstance(one, slice):
            basic.append(one)
            axis, shown = axis + (one is not None), shown + 1
            continue
        places.append(place)
        if is_truth(one):  # an axis more, of which it has all or nothing
            found.append((axis, numpy.zeros(int(one), numpy.intp), shown))
            basic.append(None)
            shown += 1
            continue
        if _is_mask(one) and one.shape != array.shape[axis : axis + one.ndim]:
            return basic, [], places
        for numbers in nonzero(asarray(one)) if _is_mask(one) else (one,):
            found.append((axis, numbers, shown))
            basic.append(slice(None))
            axis, shown = axis + 1, shown + 1
    if all(not numbers.ndim and not in_pieces(numbers) for _, numbers, _ in found):
        found = []  # all are single numbers: rare enough
    return basic, found, places


def _own_part(numbers: Any, shape: tuple[int, ...]) -> Any:
    """This rank's part of numbers repeated to a shape."""
    return core.part(asarray(numbers), shape)[0]


def in_range(numbers: Any, length: int, axis: int) -> Any:
    """Numbers from the start on, if all are in range."""
    wrong = (numbers < -length) | (numbers >= length)
    if wrong.any():
        raise out_of_range(numbers[wrong][0], length, axis)
    numbers = numbers.astype(numpy.int64, copy=False)
    return numpy.where(numbers < 0, numbers + length, numbers)


def _agreed_range(numbers: Any, length: int, axis: int) -> Any:
    return agreed(lambda: in_range(numbers, length, axis))


def out_of_range(number: int, length: int, axis: int) -> IndexError:
    """NumPy's error."""
    return IndexError(f"index {number} is out of bounds for axis {axis} with size {length}")


def is_basic(one: Any) -> bool:
    number = isinstance(one, int) and not isinstance(one, bool)
    return one is None or one is ... or number or isinstance(one, slice)


def _only(values: Any, wanted: list[bool]) -> list[Any]:
    return [value for value, is_wanted in zip(values, wanted, strict=True) if is_wanted]


def refused(array: Any, key: Any) -> Any:
    """NumPy's error, which needs shapes alone; NotImplemented if there is none."""
    keys = key if isinstance(key, tuple) else (key,)
    like = numpy.broadcast_to(numpy.zeros((), array.dtype), array.shape)
    like[tuple(map(_shadow, keys))]
    return NotImplemented


def _shadow(one: Any) -> Any:
    """Something of the same shape and kind that selects nothing that is not there."""
    if not isinstance(one, ndarray | numpy.ndarray) or not one.ndim:
        return core.unwrap(one) if isinstance(one, ndarray) else one
    made = numpy.zeros(one.shape, one.dtype)
    if one.dtype == bool and one.size:
        made.flat[0] = True  # one index, which broadcasts with any number of others
    return made
