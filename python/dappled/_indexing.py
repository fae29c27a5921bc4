"""Keys with arrays in them: what NumPy calls advanced indexing, of arrays in pieces.

A key is a part that slices say, which is a view, and arrays of numbers for some axes of it: these
axes come first then, as one axis of rows, and rows are asked of those who have them. A mask is the
numbers of what it chooses. Static errors are NumPy's, asked of an array without memory; a number
out of range is found by who has it, and raised by all.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy

from dappled import _rows
from dappled._array import core, is_moved, ndarray
from dappled._broadcasting import broadcast_to
from dappled._comm import together
from dappled._creation import asarray
from dappled._line import called_by_user
from dappled._piecewise import agreed, in_pieces
from dappled.protocol import Distribution


class Key(NamedTuple):
    """A key, taken apart."""

    part: Any  # what the slices say, the axes of numbers first
    numbers: list[Any]  # an array of ours for each of those
    axes: list[int]  # which axis of the array each is about
    shape: tuple[int, ...]  # that they have together
    front: int  # at which axis of the result it begins


def getitem(array: Any, key: Any) -> Any:
    """What a key with arrays in it selects; NotImplemented if NumPy has to see all."""
    if not _is_ours(array, key):
        return NotImplemented
    together("indexing")
    if (single := _single(key)) is not None:
        found = array[single]
        return found.copy() if isinstance(found, ndarray) else found
    if (mask := _mask_of(array, key)) is not None:
        return _chosen(array, mask)
    parsed = _parsed(array, key)
    if parsed is None:
        return _refused(array, key)
    made = _taken(parsed)
    rest = made.ndim - len(parsed.shape)
    return _turned(made, len(parsed.shape), rest, parsed.front)


def setitem(array: Any, key: Any, value: Any) -> Any:
    """Writes through such a key; NotImplemented if NumPy has to see all."""
    if not _is_ours(array, key, value):
        return NotImplemented
    together("indexing")
    if (single := _single(key)) is not None:
        array[single] = value
        return None
    if (mask := _mask_of(array, key)) is not None and not numpy.ndim(value):
        return _filled(array, mask, called_by_user(_cast, value, array.dtype))
    parsed = _parsed(array, key)
    if parsed is None:
        return _refused(array, key)
    value = called_by_user(_cast, value, array.dtype)
    return _put(parsed, _fitted(parsed, value), numpy.ndarray.__setitem__)


def at(ufunc: Any, array: Any, key: Any, *values: Any) -> Any:
    """`ufunc.at`; NotImplemented if NumPy has to see all."""
    if not isinstance(array, ndarray) or not _is_ours(array, key, *values):
        return NotImplemented
    together("ufunc.at")
    parsed = _parsed(array, key)
    if parsed is None or not array._writeable:
        return NotImplemented
    if not values:
        return _put(parsed, None, lambda piece, numbers, _: ufunc.at(piece, numbers))
    try:
        value = _fitted(parsed, asarray(values[0]))
    except ValueError:
        return NotImplemented
    return _put(parsed, value, ufunc.at)


def _is_ours(array: Any, key: Any, *values: Any) -> bool:
    """Whether arrays are in pieces, and all can be moved."""
    keys = key if type(key) is tuple else (key,)
    if core.ranks() == 1 or not any(map(in_pieces, (array, *keys, *values))):
        return False
    if all(map(_is_basic, keys)):  # and the value is what is special
        return False
    arrays = [value for value in (array, *values) if isinstance(value, ndarray | numpy.ndarray)]
    return all(is_moved(value.dtype) and getattr(value, "_held", None) is None for value in arrays)


def _mask_of(array: Any, key: Any) -> Any:
    """The key, if it is one mask of all elements."""
    key = key[0] if type(key) is tuple and len(key) == 1 else key
    known = isinstance(key, ndarray | numpy.ndarray) and key.dtype == bool
    return asarray(key) if known and array.ndim and key.shape == array.shape else None


def _single(key: Any) -> Any:
    """A basic key, if all arrays in it are single numbers."""
    keys = key if type(key) is tuple else (key,)
    arrays = [isinstance(one, ndarray | numpy.ndarray) for one in keys]
    known = all(one.ndim == 0 and one.dtype.kind in "iu" for one in _only(keys, arrays))
    others = _only(keys, [not is_array for is_array in arrays])
    if not (any(arrays) and known and all(map(_is_basic, others))):
        return None
    return tuple(int(one) if is_array else one for one, is_array in zip(keys, arrays, strict=True))


def _is_basic(one: Any) -> bool:
    number = isinstance(one, int) and not isinstance(one, bool)
    return one is None or one is ... or number or isinstance(one, slice)


def _only(values: Any, wanted: list[bool]) -> list[Any]:
    return [value for value, is_wanted in zip(values, wanted, strict=True) if is_wanted]


def _chosen(array: Any, mask: Any) -> Any:
    piece, chosen = _rows.rows(array.reshape(-1)), _rows.rows(mask.reshape(-1))
    return _rows.joined_rows(piece[chosen])


def _filled(array: Any, mask: Any, value: Any) -> None:
    from dappled._choosing import copyto  # which needs the slow ways, and they need this

    copyto(array, value, where=mask)


def _parsed(array: Any, key: Any) -> Key | None:
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


def _refused(array: Any, key: Any) -> Any:
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


def _flat(parsed: Key, numbers: list[Any]) -> Any:
    """The numbers of rows, where several axes are one."""
    total = numpy.zeros((), numpy.int64)
    for one, length in zip(numbers, parsed.part.shape, strict=False):
        total = total * length + one
    return total


def _as_rows(parsed: Key) -> Any:
    """The part, its axes of numbers as one."""
    count = len(parsed.numbers)
    shape = parsed.part.shape
    rows = (math.prod(shape[:count]), *shape[count:])
    return parsed.part if count == 1 else parsed.part.reshape(rows)


def _taken(parsed: Key) -> Any:
    array = _as_rows(parsed)
    rest = array.shape[1:]
    if not math.prod((*parsed.shape, *rest)):
        return core.wrap(numpy.empty((*parsed.shape, *rest), array.dtype))
    blocks = core.placed("b" * len(parsed.shape), parsed.shape)
    numbers = _flat(parsed, parsed.numbers)
    found = _rows.taken(_rows.rows(array), len(array), numbers.reshape(-1))
    shape = (*parsed.shape, *rest)
    grid = (*blocks.grid_shape, *(1 for _ in rest))
    made = Distribution(shape, "b" * len(parsed.shape) + "n" * len(rest), grid_shape=grid)
    piece = found.reshape(*numbers.shape, *rest)
    return _rows.settled(core.from_piece(made, _rows.solid(piece), True))


def _turned(made: Any, count: int, rest: int, front: int) -> Any:
    """What was taken, its first axes where the arrays stood in the key."""
    if not front:
        return made
    axes = [*range(count, count + front), *range(count), *range(count + front, count + rest)]
    return made.transpose(axes)._owner()


def _cast(value: Any, dtype: Any) -> Any:
    """A value in the dtype that it is written into."""
    if isinstance(value, ndarray):
        return value if value.dtype == dtype else value.astype(dtype)
    if isinstance(value, numpy.ndarray):
        made = value if value.dtype == dtype else value.astype(dtype)
    elif isinstance(value, bool | int | float | complex | numpy.generic | str | bytes):
        made = numpy.empty((), dtype)
        made[()] = value
    else:
        made = numpy.asarray(value, dtype)
    return asarray(made)


def _fitted(parsed: Key, value: Any) -> Any:
    """A value repeated to the shape of what a key selects, its axes as those of rows."""
    count, rest = len(parsed.shape), parsed.part.shape[len(parsed.numbers) :]
    front = parsed.front
    shape = (*rest[:front], *parsed.shape, *rest[front:])
    while value.ndim > len(shape) and value.shape[0] == 1:
        value = value[0]
    try:
        fits = numpy.broadcast_shapes(value.shape, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        given, wanted = (str(lengths).replace(" ", "") for lengths in (value.shape, shape))
        text = f"shape mismatch: value array of shape {given} could not be broadcast to indexing "
        raise ValueError(f"{text}result of shape {wanted}")
    if not value.ndim:
        return value
    axes = [*range(front, front + count), *range(front), *range(front + count, len(shape))]
    return broadcast_to(value, shape).transpose(axes)


def _put(parsed: Key, value: Any, write: Any) -> None:
    """Rows written, or changed, by those who have them, in the order of the numbers."""
    array = _as_rows(parsed)
    size, rest = math.prod(parsed.shape), array.shape[1:]
    if not size or not math.prod(rest):
        return
    numbers = _in_order(parsed, size)
    way = _rows.routes("rows by number", numbers, len(array))
    asked = way.there(numbers) - _rows.own_start(len(array))
    if value is None or not value.ndim:
        given = None if value is None else core.unwrap(value)
    else:
        given = way.there(_rows.rows(value.reshape(size, *rest)))
    piece = _rows.rows(array)
    write(piece, asked, given)
    made = core.from_piece(_rows.row_blocks(array.shape), piece, True)
    parsed.part[...] = made.reshape(parsed.part.shape)


def _in_order(parsed: Key, size: int) -> Any:
    """The numbers of rows that this rank has to write, so that ranks have them in order."""
    flat = _flat(parsed, parsed.numbers)
    if flat.ndim < 2:
        return flat.reshape(-1)
    blocks = core.placed("b" * len(parsed.shape), parsed.shape)
    made = core.from_piece(blocks, _rows.solid(flat), True)
    return _rows.rows(made.reshape(size))
