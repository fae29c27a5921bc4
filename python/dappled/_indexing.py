"""Reading and writing by keys with arrays in them, of arrays in pieces.

The axes that arrays of numbers are about are one axis of rows. Rows that are read are asked of
those who have them; what is written is sent there, and written in the order of the numbers, so that
of several for one row the last stays.
"""

from __future__ import annotations

import functools
import math
import warnings
from typing import Any

import numpy

from dappled import _rows
from dappled._agreeing import agreed
from dappled._array import core, ndarray, ufuncs
from dappled._broadcasting import broadcast_to, fits, fitted
from dappled._comm import together
from dappled._creation import asarray
from dappled._keys import (
    Key,
    in_range,
    is_basic,
    is_spread,
    mask_of,
    out_of_range,
    refused,
    single_key,
    taken_apart,
)
from dappled._line import called_by_user
from dappled._order import by_stride, laid, turned
from dappled._piecewise import in_pieces
from dappled._truths import seen
from dappled.protocol import Distribution

_MISMATCH = "shape mismatch: value array of shape {} could not be broadcast to indexing result of "
_MISMATCH += "shape {}"


def getitem(array: Any, key: Any) -> Any:
    """What a key with arrays in it selects; NotImplemented if NumPy has to see all."""
    if not is_spread(array, key):
        return NotImplemented
    together("indexing")
    if (single := single_key(key)) is not None:
        found = array[single]
        return found.copy("K") if isinstance(found, ndarray) else found
    if (view := seen(array, key)) is not None:
        return view.copy()
    if (mask := mask_of(array, key)) is not None:
        return _chosen(array, mask)
    parsed = taken_apart(array, key)
    if parsed is None:
        return refused(array, key)
    made = _taken_in_order(parsed)
    rest = made.ndim - len(parsed.shape)
    return _turned(made, len(parsed.shape), rest, parsed.front)


def setitem(array: Any, key: Any, value: Any) -> Any:
    """Writes through such a key; NotImplemented if NumPy has to see all."""
    if not is_spread(array, key, value):
        return _list_written(array, key, value)
    together("indexing")
    if (single := single_key(key)) is not None:
        array[single] = value
        return None
    if (view := seen(array, key)) is not None:
        view[...] = fitted(asarray(value), view.shape, _MISMATCH) if numpy.ndim(value) else value
        return None
    if (mask := mask_of(array, key)) is not None and not numpy.ndim(value):
        return _filled(array, mask, called_by_user(_cast, value, array.dtype))
    parsed = taken_apart(array, key)
    if parsed is None:
        return refused(array, key)
    value = called_by_user(_cast, value, array.dtype)
    if mask is not None:
        _check_number(value, parsed.shape[0])
    return _put(parsed, _fitted(parsed, value))


def _list_written(array: Any, key: Any, value: Any) -> Any:
    """Writes a list through a key without arrays; NotImplemented for all that is not so simple, or
    wrong, of which NumPy knows more.
    """
    keys = key if isinstance(key, tuple) else (key,)
    known = isinstance(value, list | tuple | range) and all(map(is_basic, keys))
    if not (known and in_pieces(array) and array._writeable and not array._items):
        return NotImplemented
    part = array[key]
    try:
        made = asarray(value, array.dtype)
    except (OverflowError, TypeError, ValueError):
        return NotImplemented
    if not isinstance(part, ndarray) or made.ndim > part.ndim:  # one element, or a list too deep
        return NotImplemented
    part[...] = made
    return None


def at(ufunc: Any, array: Any, key: Any, *values: Any) -> Any:
    """`ufunc.at`; NotImplemented if NumPy has to see all."""
    keys = key if isinstance(key, tuple) else (key,)
    if isinstance(array, ndarray) and core.ranks() > 1 and len(values) == ufunc.nin - 1:
        _check_loop(ufunc, array, values)
    if in_pieces(array) and all(map(is_basic, keys)):
        dots = () if any(one is ... for one in keys) else (...,)  # a view, also of one element
        return _at_once(ufunc, array, (*keys, *dots), values)
    if not isinstance(array, ndarray) or not is_spread(array, key, *values):
        return NotImplemented
    together("ufunc.at")
    parsed = taken_apart(array, key)
    if parsed is None or not array._writeable:
        return NotImplemented
    if not values:
        return _changed(parsed, None, lambda piece, numbers, _: _agreed_at(ufunc, piece, numbers))
    value = asarray(values[0])
    axes = len(parsed.shape) + parsed.part.ndim - len(parsed.numbers)
    try:
        value = _fitted(parsed, value) if value.ndim <= axes else None
    except ValueError:
        value = None
    if value is None:  # which NumPy refuses, also where there are axes of length 1 too many
        return NotImplemented
    return _changed(parsed, value, functools.partial(_agreed_at, ufunc))


def _check_loop(ufunc: Any, array: Any, values: tuple[Any, ...]) -> None:
    """NumPy's error of dtypes, which comes before those of places."""
    rows = [one if hasattr(one, "dtype") or not numpy.ndim(one) else asarray(one) for one in values]
    like = [numpy.ones(1, one.dtype) if hasattr(one, "dtype") else one for one in rows]
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        called_by_user(ufunc.at, numpy.ones(1, array.dtype), numpy.empty(0, int), *like)


def _at_once(ufunc: Any, array: Any, key: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
    """The same where no element is meant twice, as it is of a key without arrays."""
    view = array[key]
    given = tuple(map(asarray, values))
    ours: Any = ufuncs.get(ufunc.__name__)
    known = ours is not None and ours._numpy is ufunc and ufunc.nout == 1 and view._writeable
    if not known or not all(fits(value.shape, view.shape) for value in given):
        return NotImplemented
    if view.ndim:
        view[...] = ours(view, *given)  # cast as is written, whatever comes
    else:  # of which a ufunc makes a scalar
        single = tuple(one for one in key if one is not ...)
        found = ours(array[single], *map(core.unwrap, given))
        array[single] = numpy.asarray(found)  # cast, not refused as numbers are
    return None


def _agreed_at(ufunc: Any, *args: Any) -> None:
    """What raises for the elements of one rank is raised by all, and nothing is written."""
    agreed(lambda: ufunc.at(*args))


def _chosen(array: Any, mask: Any) -> Any:
    row, which = array.reshape(-1), mask.reshape(-1)
    if (found := core.chosen(row, which)) is not None:
        return found
    if (found := core.chosen(row.redistribute(_rows.row_blocks(row.shape)), which)) is not None:
        return found
    return _rows.joined_rows(_rows.rows(row)[_rows.rows(which)])


def _filled(array: Any, mask: Any, value: Any) -> None:
    from dappled._choosing import copyto  # which needs the slow ways, and they need this

    copyto(array, value, where=mask)


def _check_number(value: Any, count: int) -> None:
    """Of what a mask of all elements chooses NumPy has its own words."""
    text = "NumPy boolean array indexing assignment "
    if value.ndim > 1:
        numpy.zeros(1)[numpy.ones(1, bool)] = numpy.zeros((1,) * value.ndim)  # which it refuses
    if value.size not in (1, count):
        text += f"cannot assign {value.size} input values to the {count} output values"
        raise ValueError(f"{text} where the mask is true")


def _flat(parsed: Key) -> Any:
    """This rank's numbers of rows, where several axes are one, in the shape of its part."""
    numbers = iter(parsed.numbers)
    total = next(numbers).astype(numpy.int64, copy=False)
    for one, length in zip(numbers, parsed.part.shape[1:], strict=False):
        total = total * length + one
    return total


def _as_rows(parsed: Key) -> Any:
    """The part, its axes of numbers as one."""
    count = len(parsed.numbers)
    shape = parsed.part.shape
    rows = (math.prod(shape[:count]), *shape[count:])
    return parsed.part if count == 1 else parsed.part.reshape(rows)


def _is_none(parsed: Key, rest: tuple[int, ...]) -> bool:
    """Whether nothing is selected: by numbers that are in range nevertheless."""
    if math.prod(parsed.shape) and not math.prod(rest):
        first, length = parsed.numbers[0], len(parsed.part)
        agreed(lambda: in_range(first, length, parsed.axis))
    return not math.prod((*parsed.shape, *rest))


def _taken_in_order(parsed: Key) -> Any:
    """What is taken, as NumPy lays it out: the axes of numbers, then the others as those of the
    array lie.
    """
    first, count = len(parsed.numbers), len(parsed.shape)
    others = by_stride(parsed.part, first)
    part = parsed.part.transpose([*range(first), *others])
    order = [*range(count), *(axis - first + count for axis in others)]
    made = _taken(parsed._replace(part=part))
    return turned(made, order) if others else laid(made, parsed.order)


def _taken(parsed: Key) -> Any:
    array = _as_rows(parsed)
    rest = array.shape[1:]
    if _is_none(parsed, rest):
        return core.wrap(numpy.empty((*parsed.shape, *rest), array.dtype))
    grid = core.placed("b" * len(parsed.shape), parsed.shape).grid_shape
    kinds = "b" * len(parsed.shape) + "n" * len(rest)
    target = Distribution((*parsed.shape, *rest), kinds, grid_shape=(*grid, *(1 for _ in rest)))
    found, wrong = _rows.by_number(array, _flat(parsed), target)
    if wrong is not None:
        raise out_of_range(wrong, len(array), parsed.axis)
    return _rows.settled(found)


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
    elif isinstance(value, numpy.generic):
        made = numpy.asarray(value).astype(dtype)  # a scalar of NumPy's is cast as an array is
    elif isinstance(value, bool | int | float | complex | str | bytes):
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
    value = fitted(value, shape, _MISMATCH)
    if not value.ndim:
        return value
    axes = [*range(front, front + count), *range(front), *range(front + count, len(shape))]
    return broadcast_to(value, shape).transpose(axes)


def _put(parsed: Key, value: Any) -> None:
    """Rows written by those who have them, in the order of the numbers."""
    array = _as_rows(parsed)
    size, rest = math.prod(parsed.shape), array.shape[1:]
    if _is_none(parsed, rest):
        return
    numbers, blocks = _in_order(parsed, size), _rows.row_blocks(array.shape)
    if not value.ndim:
        given = numpy.full((1, *rest), core.unwrap(value))
    else:
        given = _rows.read_rows(value.reshape(size, *rest))
    raw, written, wrong = _rows.raw(given), False, None
    if array is parsed.part:
        written, wrong = core.put_by_number(array, blocks, numbers, raw, not value.ndim)
    if not written and wrong is None:
        array = array.redistribute(blocks)
        _, wrong = core.put_by_number(array, blocks, numbers, raw, not value.ndim)
    if wrong is not None:
        raise out_of_range(wrong, len(array), parsed.axis)
    if not written:
        parsed.part[...] = array.reshape(parsed.part.shape)


def _changed(parsed: Key, value: Any, change: Any) -> None:
    """Rows changed by those who have them, in the order of the numbers."""
    array = _as_rows(parsed)
    size, rest = math.prod(parsed.shape), array.shape[1:]
    if _is_none(parsed, rest):
        return
    numbers = _in_order(parsed, size)
    numbers = agreed(lambda: in_range(numbers, len(array), parsed.axis))
    way = _rows.routes("rows by number", numbers, len(array))
    asked = way.there(numbers) - _rows.own_start(len(array))
    if value is None or not value.ndim:
        given = None if value is None else core.unwrap(value)
    else:
        given = way.there(_rows.read_rows(value.reshape(size, *rest)))
    piece = _rows.rows(array)
    change(piece, asked, given)
    made = core.from_piece(_rows.row_blocks(array.shape), piece, True)
    parsed.part[...] = made.reshape(parsed.part.shape)


def _in_order(parsed: Key, size: int) -> Any:
    """The numbers of rows that this rank has to write, so that ranks have them in order."""
    flat = _flat(parsed)
    if flat.ndim < 2:
        return numpy.ascontiguousarray(flat).reshape(-1)
    blocks = core.placed("b" * len(parsed.shape), parsed.shape)
    made = core.from_piece(blocks, _rows.solid(flat), True)
    return _rows.rows(made.reshape(size))
