"""Sorting: sort, argsort, partition, lexsort.

Numbers of eight bytes are dealt out to ranges, here or on several ranks (`_dealing`). Other arrays
in pieces are sorted by sampling: ranks sort their rows, agree by samples on who gets which
values (`_sampling`), send them there and merge what comes. Along one axis of several, lines are
whole on a rank, where NumPy sorts them. In one process large arrays are sorted in parts by NumPy,
on all threads, and merged by the core; integers that are near one another are counted (`_near`).
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy

from dappled import _rows
from dappled._array import core, is_moved, ndarray
from dappled._creation import asarray
from dappled._dealing import dealt_sorted, is_dealt
from dappled._folding import along
from dappled._large import is_large
from dappled._line import called_by_user
from dappled._native import native
from dappled._near import sort_near
from dappled._order import memory_order, turned
from dappled._piecewise import in_pieces
from dappled._sampling import bounds, cuts, exchanged
from dappled._threads import LARGE, each, plain, scratch, shares, unwritten

_MODULE = "dappled.ndarray"


# The dtypes that the core merges, and those that it finds the order of.
_MERGED = "bhilqBHILQfd"


_RANKED = "ilqILQfd"

# Those that NumPy puts in order by their digits, if it has to keep what is equal as it is.
_SHORT = "?bhBH"


# Elements of a rank that can be told apart by four bytes.
_FAR = 1 << 32


_STABLE = ("stable", "mergesort", "s", "S", "m", "M")


def _is_spread(a: Any) -> bool:
    """Whether an array is in pieces that can be moved."""
    return core.ranks() > 1 and in_pieces(a) and is_moved(a.dtype) and a.ndim > 0


def _along(a: Any, axis: Any) -> int | None:
    """The axis that is meant; None if there is none such."""
    if not hasattr(axis, "__index__") or not -a.ndim <= operator.index(axis) < a.ndim:
        return None
    return range(a.ndim)[operator.index(axis)]


def _is_plain(kind: Any, stable: Any) -> bool:
    known = kind is None or kind in ("quicksort", "heapsort", *_STABLE)
    return known and (stable is None or (kind is None and type(stable) is bool))


def _by_fields(a: Any, order: Any) -> Any:
    """Structures in pieces seen with those fields first by which they are put in order; None where
    NumPy is to do it.
    """
    if order is None:
        return a
    if not _is_spread(a) or not a.dtype.names:
        return None
    one = numpy.zeros(1, a.dtype)
    numpy.sort(one, order=order)  # which NumPy may refuse
    first = [order] if isinstance(order, str) else list(order)
    names = [*first, *(name for name in a.dtype.names if name not in first)]
    return a.view(one[names].dtype)


def _row_and_axis(a: Any, axis: Any) -> tuple[Any, int | None]:
    """What is put in order, and along which axis; no axis if NumPy is to do it."""
    if not isinstance(a, ndarray) or (not _is_spread(a) and not is_large(a)):
        return a, None
    row = a.reshape(-1) if axis is None else a
    return row, _along(row, 0 if axis is None else axis)


def _sorted(a: Any, axis: Any, kind: Any, stable: Any) -> Any:
    """A sorted copy, in pieces or on threads; NotImplemented if NumPy is to do it."""
    row, at = _row_and_axis(a, axis)
    if at is None:
        return NotImplemented
    # NumPy 2.4's other sort of float16 leaves some out of order on CPUs with AVX-512.
    is_half = row.dtype == numpy.float16
    kind = "stable" if stable or kind in _STABLE or is_half else None
    if row.ndim > 1:
        return _as_it_lies(row, at, lambda part, at: numpy.sort(part, at, kind))
    if core.ranks() > 1:
        return _sample_sorted(row, kind)
    return _merge_sorted(row, kind)


def _as_it_lies(array: Any, axis: int, order: Callable[[Any, int], Any]) -> Any:
    """A copy with each line in an order, its axes as they lie in memory."""
    axes = memory_order(array, array.ndim, "K")
    made = lines(array.transpose(axes), axes.index(axis), order, array.dtype)
    return made if made is NotImplemented else turned(made, axes)


def _refused(function: Any, a: Any, **options: Any) -> Any:
    """NumPy's error, if it needs no more than the number of axes; else NotImplemented."""
    if _is_spread(a):
        called_by_user(function, numpy.zeros((1,) * a.ndim, a.dtype), **options)
    return NotImplemented


def _arranged(
    arrange: Callable[..., Any], a: Any, axis: Any, kind: Any, order: Any, stable: Any = None
) -> Any:
    """What is `_sorted`, or `_argsorted`, by the fields that are named."""
    seen = _by_fields(a, order)
    if seen is None or not _is_plain(kind, stable):
        return NotImplemented
    made = arrange(seen, axis, kind, stable)
    if made is NotImplemented or seen is a or arrange is not _sorted:
        return made
    return made.view(a.dtype)


@native(numpy.sort)
def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    made = _arranged(_sorted, a, axis, kind, order, stable)
    if made is not NotImplemented:
        return made
    return _refused(numpy.sort, a, axis=axis, kind=kind, order=order, stable=stable)


def _sort(
    self: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Any:
    if not self._writeable:
        return NotImplemented
    made = NotImplemented
    if axis is not None:
        made = _arranged(_sorted, self, axis, kind, order, stable)
    if made is NotImplemented:
        options = {"axis": axis, "kind": kind, "order": order, "stable": stable}
        return _refused(numpy.ndarray.sort, self, **options)
    self[...] = made
    return None


def _merge_sorted(row: Any, kind: Any) -> Any:
    """By parts on all threads, which are merged two by two."""
    dealt = is_dealt(row.dtype, kind)
    if dealt or row.dtype.kind in "iub":
        made, values = unwritten(row.shape, row.dtype)
        if sort_near(given := plain(row), values):
            return made
        if dealt:
            core.sort_values(given, scratch(row.shape, numpy.uint64), values)
            return made
    if row.dtype.char not in _MERGED or not row.dtype.isnative:
        return NotImplemented
    memory = core.unwrap(row)
    made, values = unwritten(memory.shape, memory.dtype)

    def part(share: slice) -> None:
        values[share] = memory[share]
        values[share].sort(kind=kind)

    bounds = shares(len(values))
    each(part, bounds)
    while len(bounds) > 1:
        made, other = unwritten(values.shape, values.dtype)
        values, bounds = other, _merged(values, bounds, other)
    return made


def _merged(values: Any, bounds: list[slice], out: Any) -> list[slice]:
    """Sorted parts merged two by two, and where those are that came of it."""
    made = []
    for one, next_one in zip(bounds[::2], bounds[1::2], strict=False):
        both = slice(one.start, next_one.stop)
        core.merge_sorted(values[one], values[next_one], out[both])
        made.append(both)
    if len(bounds) % 2:
        out[bounds[-1]] = values[bounds[-1]]
        made.append(bounds[-1])
    return made


def lines(a: Any, axis: int, compute: Callable[[Any, int], Any], dtype: Any) -> Any:
    """What NumPy makes of each line along an axis, as long as before: on pieces, or on threads."""
    if core.ranks() > 1:
        return along(a, [axis], lambda part: compute(part, axis), True)
    memory = numpy.moveaxis(core.unwrap(a), axis, -1)
    made = numpy.empty(a.shape, dtype)
    out = numpy.moveaxis(made, axis, -1)
    longest = max(range(memory.ndim - 1), key=memory.shape.__getitem__)

    def part(share: slice) -> None:
        key = (slice(None),) * longest + (share,)
        out[key] = compute(numpy.ascontiguousarray(memory[key]), -1)

    each(part, shares(memory.shape[longest]))
    return core.wrap(made, True)


def _sample_sorted(row: Any, kind: Any) -> Any:
    if len(row) >= LARGE and is_dealt(row.dtype, kind):
        made = dealt_sorted(row)
        if made is not None:
            return made
    values = _sorted_here(_rows.rows(row), kind)
    parts = exchanged(values, cuts(values))
    if values.dtype.char in _MERGED and values.dtype.isnative:
        while len(parts) > 1:
            pairs = itertools.zip_longest(parts[::2], parts[1::2])
            parts = [one if other is None else _both(one, other) for one, other in pairs]
        return _rows.from_rows(parts[0], len(row), fresh=True)
    came = _rows.joined(parts)
    came.sort(kind="stable")  # which finds what is sorted already, and merges
    return _rows.from_rows(came, len(row))


def _sorted_here(values: Any, kind: Any) -> Any:
    if values.dtype.kind in "iub" and sort_near(
        values, made := scratch(values.shape, values.dtype)
    ):
        return made
    values.sort(kind=kind)
    return values


def _both(one: Any, other: Any) -> Any:
    """Two sorted parts merged, into memory of their own."""
    made = scratch((len(one) + len(other),), one.dtype)
    core.merge_sorted(one, other, made)
    return made


def _argsorted(a: Any, axis: Any, kind: Any, stable: Any) -> Any:
    row, at = _row_and_axis(a, axis)
    if at is None:
        return NotImplemented
    if row.ndim > 1:
        kind = "stable" if stable or kind in _STABLE else None
        return lines(row, at, lambda part, at: numpy.argsort(part, at, kind), numpy.intp)
    if core.ranks() > 1:
        return _sample_argsorted(row)
    if row.dtype.char in _SHORT and row.dtype.isnative:
        return core.wrap(numpy.argsort(plain(row), kind="stable"), True)
    values = row.astype(numpy.float32) if row.dtype.char == "e" else row
    if values.dtype.char not in _RANKED or not values.dtype.isnative:
        return NotImplemented
    made, order = unwritten((len(row),), numpy.int64)
    core.argsort(plain(values), _room(len(row)), order)
    return made


def _room(length: int) -> Any:
    """The memory beside so many values that finding their order takes."""
    return scratch((4 * length,), numpy.uint64)


def _sample_argsorted(row: Any) -> Any:
    values, starts = _rows.read_rows(row), _rows.starts(len(row))
    first = int(starts[core.rank()])
    known = row.dtype.char in _RANKED and row.dtype.isnative
    if not known or not len(row) or max(numpy.diff(starts)) > _FAR:
        return _sorted_and_merged(values, first, len(row))
    given = (numpy.ascontiguousarray(values), first, *bounds(values, first))
    *columns, counts = core.divided(given)
    ends = numpy.cumsum(counts)[:-1]
    came, offsets = (_rows.sent("values to sort", numpy.split(one, ends)) for one in columns)
    parts = list(zip(came, offsets, starts[:-1].tolist(), strict=True))
    length = sum(map(len, came))
    order = scratch((length,), numpy.int64)
    core.argsort_parts(parts, len(row), _room(length), order)
    return _rows.joined_rows(order, fresh=True)


def _sorted_and_merged(piece: Any, first: int, length: int) -> Any:
    """The same for values that NumPy alone compares: each rank sorts its own first."""
    order = numpy.argsort(piece, kind="stable")
    values = piece[order]
    places = cuts(values)
    came = _rows.joined(exchanged(values, places))
    numbers = _rows.joined(exchanged(order + first, places))
    return _rows.from_rows(numbers[numpy.argsort(came, kind="stable")], length)


def _argsort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Any:
    made = _arranged(_argsorted, a, axis, kind, order, stable)
    if made is not NotImplemented:
        return made
    return _refused(numpy.argsort, a, axis=axis, kind=kind, order=order, stable=stable)


argsort = native(numpy.argsort)(_argsort)


def _has_ranks(a: Any, kth: Any, axis: Any) -> bool:
    """Whether these are ranks of elements along an axis."""
    at = 0 if axis is None else _along(a, axis)
    numbers = kth if isinstance(kth, ndarray) else numpy.asarray(kth)
    if at is None or numbers.dtype.kind not in "iu" or numbers.ndim > 1:
        return False
    length = a.size if axis is None else a.shape[at]
    return bool(((-length <= numbers) & (numbers < length)).all())


@native(numpy.partition)
def partition(
    a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None
) -> Any:
    return _parted(numpy.partition, a, kth, axis, kind, order)


def _parted(function: Any, a: Any, kth: Any, axis: Any, kind: Any, order: Any) -> Any:
    """By sorting where in pieces, lines of one process on threads; NotImplemented for the rest."""
    if not isinstance(a, ndarray) or kind != "introselect":
        return NotImplemented
    several = a.ndim > 1 and axis is not None and is_large(a)
    if not (_is_spread(a) or several) or not _has_ranks(a, kth, axis):
        return NotImplemented
    by_values = function is numpy.partition
    if core.ranks() > 1:
        return _arranged(_sorted if by_values else _argsorted, a, axis, None, order)
    if order is not None:
        return NotImplemented
    which, at = numpy.asarray(kth), range(a.ndim)[operator.index(axis)]
    if by_values:
        return _as_it_lies(a, at, lambda part, at: function(part, which, at))
    return lines(a, at, lambda part, at: function(part, which, at), numpy.intp)


def _partition(
    self: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None
) -> Any:
    if axis is None or not self._writeable:
        return NotImplemented
    made = _parted(numpy.partition, self, kth, axis, kind, order)
    if made is NotImplemented:
        return NotImplemented
    self[...] = made
    return None


def _argpartition(
    a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None
) -> Any:
    return _parted(numpy.argpartition, a, kth, axis, kind, order)


argpartition = native(numpy.argpartition)(_argpartition)


@native(numpy.lexsort)
def lexsort(keys: Any, axis: Any = -1) -> Any:
    if in_pieces(keys) and keys.ndim == 1:  # keys of one element each: their order is no order
        return numpy.lexsort(numpy.zeros(min(len(keys), 1)), axis)
    given = list(keys)
    ours = any(map(in_pieces, given)) if core.ranks() > 1 else any(map(is_large, given))
    if not ours:
        return NotImplemented
    columns = [asarray(key) for key in given]
    at = _along(columns[0], axis)
    if at is None or any(key.shape != columns[0].shape for key in columns):
        return NotImplemented
    if columns[0].ndim > 1 and core.ranks() == 1:
        return NotImplemented
    order = argsort(columns[0], at, kind="stable")
    for key in columns[1:]:
        order = _at(order, argsort(_at(key, order, at), at, kind="stable"), at)
    return order


def _at(array: Any, order: Any, axis: int) -> Any:
    """Elements in an order along an axis."""
    return array[order] if array.ndim == 1 else numpy.take_along_axis(array, order, axis)


_OWN: dict[str, Callable[..., Any]] = {
    "argpartition": _argpartition,
    "argsort": _argsort,
    "partition": _partition,
    "sort": _sort,
}


METHODS = {name: native(getattr(numpy.ndarray, name), _MODULE)(ours) for name, ours in _OWN.items()}
