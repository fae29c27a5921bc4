"""Elements by their places: take, put, compress, nonzero and their like.

On several ranks they are keys with arrays in them; in one process, large arrays are done by the
core on all threads. What is rare is NumPy's.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy

from dappled import _rows
from dappled._array import core, empty, few, into, is_moved, ndarray
from dappled._creation import asarray
from dappled._large import is_large
from dappled._line import called_by_user
from dappled._native import native
from dappled._order import flags_of
from dappled._piecewise import applied, in_pieces
from dappled._places import MODES, inside, numbers_of, wound
from dappled._threads import plain, unwritten

_METHODS = "dappled.ndarray"


def _nonzero(a: Any) -> Any:
    if not isinstance(a, ndarray) or not a.ndim:
        return NotImplemented
    if is_large(a):
        mask = plain(a if a.dtype == bool else a != 0)
        made, found = unwritten((core.count_chosen(mask),), numpy.int64)
        core.places(mask, found)
        if a.ndim == 1:
            return (made[...],)
        table = numpy.empty((found.size, a.ndim), numpy.int64)
        for place, one in enumerate(numpy.unravel_index(found, a.shape)):
            table[:, place] = one
        return _columns(core.wrap(table, True))
    if core.ranks() > 1 and a._whole and a.ndim > 1:
        return _columns(core.wrap(numpy.argwhere(core.unwrap(a)), True))
    if not in_pieces(a) or not is_moved(a.dtype):
        return NotImplemented
    piece = _rows.rows(a.reshape(-1))
    found = numpy.flatnonzero(piece) + _rows.own_start(a.size)
    return _columns(_rows.joined_rows(numpy.stack(numpy.unravel_index(found, a.shape), 1)))


def _columns(table: Any) -> Any:
    """Places as NumPy has them: columns of one table, which are not contiguous."""
    return tuple(table[:, place] for place in range(table.shape[1]))


nonzero = native(numpy.nonzero)(_nonzero)


@native(numpy.argwhere)
def argwhere(a: Any) -> Any:
    if core.ranks() == 1 or not in_pieces(a) or not a.ndim:
        return NotImplemented
    found = nonzero(a)
    made = empty((len(found), len(found[0])), numpy.intp)
    for place, numbers in enumerate(found):
        made[place] = numbers
    return made.T


def _axis(dims: int, axis: Any) -> int | None:
    """Which of so many axes is meant; None if there is none such."""
    if not hasattr(axis, "__index__") or not -dims <= operator.index(axis) < dims:
        return None
    return range(dims)[operator.index(axis)]


def _take(a: Any, indices: Any, axis: Any, mode: Any) -> Any:
    on_ranks = core.ranks() > 1 and any(map(in_pieces, (a, indices)))
    if not (on_ranks or is_large(indices)) or not isinstance(a, ndarray):
        return NotImplemented
    numbers, row = numbers_of(indices), a.reshape(-1) if axis is None else a
    at = _axis(row.ndim, 0 if axis is None else axis)
    if numbers is None or at is None or mode not in MODES:
        return NotImplemented
    length = row.shape[at]
    if not length and numbers.size:
        raise IndexError("cannot do a non-empty take from an empty axes.")
    if 0 in row.shape[:at]:  # whatever the numbers are
        return empty((*row.shape[:at], *numbers.shape, *row.shape[at + 1 :]), row.dtype)
    numbers = inside(numbers, length, mode)
    if not numbers.ndim:
        found = row[(slice(None),) * at + (int(numbers),)]
        return found.copy() if row.ndim > 1 else found
    found = row[(slice(None),) * at + (numbers,)]
    return found if flags_of(found).c_contiguous else found.copy()


def _is_cast(a: Any, out: Any) -> bool:
    """Whether elements may become those of another dtype, if NumPy does not refuse that."""
    return core.ranks() > 1 and isinstance(a, ndarray) and isinstance(out, ndarray)


def _take_into(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise") -> Any:
    if mode == "wrap" and (known := wound(indices, _length(a, axis))) is not None:
        return take(a, known, axis, out)
    if casts := _is_cast(a, out):
        at = few(asarray(indices)).astype(int)
        called_by_user(numpy.take, few(a), at, axis, few(out), mode)  # which NumPy may refuse
    return into(_take(a, indices, axis, mode), out, casts)


def _length(a: Any, axis: Any) -> int:
    """How many places there are to take from; 0 where there is no such axis."""
    shape = (numpy.size(a),) if axis is None else numpy.shape(a)
    at = _axis(len(shape), 0 if axis is None else axis)
    return 0 if at is None else shape[at]


take = native(numpy.take)(_take_into)


def _put(a: Any, ind: Any, v: Any, mode: Any = "raise") -> Any:
    if mode == "wrap" and (known := wound(ind, numpy.size(a), "safe")) is not None:
        return put(a, known, v)
    if core.ranks() == 1 or not in_pieces(a) or not a._writeable:
        return NotImplemented
    given = v if isinstance(v, ndarray | numpy.ndarray) else numpy.asarray(v, a.dtype)
    numbers, values = numbers_of(ind, "safe"), asarray(given).reshape(-1)
    if mode not in MODES or numbers is None or not values.size or not a.size:
        return NotImplemented
    numbers = inside(asarray(numbers).reshape(-1), a.size, mode)
    write_flat(a, numbers, _cycled(values, numbers.size))
    return None


put = native(numpy.put)(_put)


def write_flat(a: Any, numbers: Any, values: Any) -> None:
    """Writes into the elements of an array as if they were in one row."""
    row = a.reshape(-1)
    row[numbers] = values
    if a.ndim != 1:  # on several ranks another shape is a copy
        a[...] = row.reshape(a.shape)


def _cycled(values: Any, size: int) -> Any:
    """Values from the first again, as often as is needed."""
    if len(values) == size:
        return values
    if len(values) == 1:
        return values[0]
    return values[asarray(numpy.arange(size) % len(values))]


@native(numpy.place)
def place(arr: Any, mask: Any, vals: Any) -> Any:
    if core.ranks() == 1 or not in_pieces(arr) or not arr._writeable:
        return NotImplemented
    chosen = asarray(mask)
    if chosen.size != arr.size or not numpy.size(vals):
        return NotImplemented
    values = _checked(arr.dtype, vals).reshape(-1)
    (numbers,) = nonzero(chosen.reshape(-1))
    if numbers.size:
        write_flat(arr, numbers, _cycled(values, numbers.size).astype(arr.dtype))
    return None


@native(numpy.putmask)
def putmask(a: Any, mask: Any, values: Any) -> Any:
    if core.ranks() == 1 or not in_pieces(a) or not a._writeable:
        return NotImplemented
    chosen = asarray(mask)
    if chosen.size != a.size or not numpy.size(values):
        return NotImplemented
    given = _checked(a.dtype, values).reshape(-1)
    (numbers,) = nonzero(chosen.reshape(-1))
    if numbers.size:
        write_flat(a, numbers, given[numbers % given.size].astype(a.dtype))
    return None


def _checked(dtype: Any, values: Any) -> Any:
    """Values as an array; raises what NumPy raises of those that a dtype does not take."""
    arrays = isinstance(values, ndarray | numpy.ndarray)
    like = numpy.zeros(1, values.dtype) if arrays else values
    numpy.putmask(numpy.zeros(1, dtype), [False], like)
    return asarray(values if arrays else numpy.asarray(values, dtype))


def _compress(condition: Any, a: Any, axis: Any) -> Any:
    on_ranks = core.ranks() > 1 and any(map(in_pieces, (condition, a)))
    if not (on_ranks or is_large(a)) or not isinstance(a, ndarray):
        return NotImplemented
    mask = asarray(condition)
    if mask.ndim != 1:
        return NotImplemented
    if axis is None and mask.dtype == bool and mask.size == a.size:
        return a.reshape(-1)[mask]
    (numbers,) = nonzero(mask)
    return take(a, numbers, axis)


def _compress_into(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    if casts := _is_cast(a, out):
        called_by_user(numpy.compress, [True], few(a), axis, few(out))  # which NumPy may refuse
    return into(_compress(condition, a, axis), out, casts)


compress = native(numpy.compress)(_compress_into)


def _choose(a: Any, choices: Any, mode: Any) -> Any:
    given = choices if isinstance(choices, list | tuple) else None
    if core.ranks() == 1 or given is None:
        return NotImplemented
    if not any(map(in_pieces, (a, *given))):
        return NotImplemented
    kind = numpy.result_type(*map(_dtype, given))

    def chosen(a: Any, *choices: Any) -> Any:
        return numpy.choose(a, choices, mode=mode).astype(kind, copy=False)

    return applied(chosen, (a, *given), {})


def _dtype(value: Any) -> Any:
    """What a value says of a dtype: a number of Python's adapts to the others."""
    return value if type(value) in (bool, int, float, complex) else asarray(value).dtype


def _choose_into(a: Any, choices: Any, out: Any = None, mode: Any = "raise") -> Any:
    if mode == "wrap" and (known := wound(a, len(choices), "safe")) is not None:
        return choose(known, choices, out)
    try:
        shape = numpy.broadcast_shapes(*map(numpy.shape, (a, *choices)))
    except ValueError:
        return NotImplemented
    if out is not None and numpy.shape(out) != shape:  # which NumPy sees before any value
        return NotImplemented
    if mode != "raise" and isinstance(out, ndarray) and not flags_of(out).c_contiguous:
        # NumPy (2.3 and later) writes one element after the other, whatever the strides.
        return into(choose(a, choices, mode=mode), out, casts=True)
    return into(_choose(a, choices, mode), out, casts=True)


choose = native(numpy.choose)(_choose_into)


@native(numpy.unravel_index)
def unravel_index(indices: Any, shape: Any, order: Any = "C") -> Any:
    if core.ranks() == 1 or not in_pieces(indices):
        return NotImplemented

    def unravelled(part: Any) -> Any:
        return numpy.unravel_index(part, shape, order)

    return applied(unravelled, (indices,), {}, order="K")


@native(numpy.ravel_multi_index)
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: Any = "C") -> Any:
    parts = tuple(multi_index)
    if core.ranks() == 1 or not any(map(in_pieces, parts)):
        return NotImplemented

    def ravelled(*parts: Any) -> Any:
        return numpy.ravel_multi_index(parts, dims, mode, order)

    return applied(ravelled, parts, {}, order="K")


def _method(name: str, ours: Callable[..., Any]) -> Any:
    return native(getattr(numpy.ndarray, name), _METHODS)(ours)


def _compress_method(self: Any, condition: Any, axis: Any = None, out: Any = None) -> Any:
    return _compress_into(condition, self, axis, out)


METHODS = {
    "choose": _method("choose", _choose_into),
    "compress": _method("compress", _compress_method),
    "nonzero": _method("nonzero", _nonzero),
    "put": _method("put", _put),
    "take": _method("take", _take_into),
}
