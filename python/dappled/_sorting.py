"""Sorting and searching: sort, argsort, partition, searchsorted, unique, median and their like.

An array in pieces is sorted by sampling: ranks sort their rows, agree by samples on who gets which
values, send them there and merge what comes. Of equal values, those of an earlier rank come first,
also where they are cut, so that the order is stable, and no rank gets more than its share of values
that are many times the same. Along one axis of several, lines are whole on a rank, where NumPy
sorts them. In one process large arrays are sorted in parts by NumPy, on all threads, and merged by
the core.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy

from dappled import _rows
from dappled._array import core, is_moved, ndarray
from dappled._creation import asarray
from dappled._folding import along
from dappled._native import native
from dappled._piecewise import applied, in_pieces
from dappled._taking import is_large
from dappled._threads import each, plain, shares

_MODULE = "dappled.ndarray"
# The dtypes that the core merges, and those that it finds the order of.
_MERGED = "bhilqBHILQfd"
_RANKED = "ilqILQfd"
_STABLE = ("stable", "mergesort", "s", "S", "m", "M")
# Values of a rank among the samples, for each rank: shares differ by one part in so many.
_SAMPLES = 32


def _is_spread(a: Any) -> bool:
    """Whether an array is in pieces that can be moved."""
    return core.ranks() > 1 and in_pieces(a) and is_moved(a.dtype) and a.ndim > 0


def _along(a: Any, axis: Any) -> int | None:
    """The axis that is meant; None if there is none such."""
    if not hasattr(axis, "__index__") or not -a.ndim <= operator.index(axis) < a.ndim:
        return None
    return range(a.ndim)[operator.index(axis)]


def _is_plain(kind: Any, order: Any, stable: Any) -> bool:
    known = kind is None or kind in ("quicksort", "heapsort", *_STABLE)
    return known and order is None and (stable is None or (kind is None and type(stable) is bool))


def _sorted(a: Any, axis: Any, kind: Any, stable: Any) -> Any:
    """A sorted copy, in pieces or on threads; NotImplemented if NumPy is to do it."""
    if not isinstance(a, ndarray) or (not _is_spread(a) and not is_large(a)):
        return NotImplemented
    row = a.reshape(-1) if axis is None else a
    at = _along(row, 0 if axis is None else axis)
    if at is None:
        return NotImplemented
    kind = "stable" if stable or kind in _STABLE else None
    if row.ndim > 1:
        return lines(row, at, lambda part, at: numpy.sort(part, at, kind), row.dtype)
    if core.ranks() > 1:
        return _sample_sorted(row, kind)
    return _merge_sorted(row, kind)


@native(numpy.sort)
def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    return _sorted(a, axis, kind, stable) if _is_plain(kind, order, stable) else NotImplemented


def _sort(
    self: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Any:
    if axis is None or not _is_plain(kind, order, stable) or not self._writeable:
        return NotImplemented
    made = _sorted(self, axis, kind, stable)
    if made is NotImplemented:
        return NotImplemented
    self[...] = made
    return None


def _merge_sorted(row: Any, kind: Any) -> Any:
    """By parts on all threads, which are merged two by two."""
    if row.dtype.char not in _MERGED or not row.dtype.isnative:
        return NotImplemented
    values = numpy.array(core.unwrap(row), order="C")
    bounds = shares(len(values))
    each(lambda share: values[share].sort(kind=kind), bounds)
    return core.wrap(_merged(values, bounds), True)


def _merged(values: Any, bounds: list[slice]) -> Any:
    while len(bounds) > 1:
        other = numpy.empty_like(values)
        made = []
        for one, next_one in zip(bounds[::2], bounds[1::2], strict=False):
            both = slice(one.start, next_one.stop)
            core.merge_sorted(values[one], values[next_one], other[both])
            made.append(both)
        if len(bounds) % 2:
            other[bounds[-1]] = values[bounds[-1]]
            made.append(bounds[-1])
        values, bounds = other, made
    return values


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


def _cuts(values: Any) -> Any:
    """Where this rank's sorted values are cut, so that each rank gets about as many. Collective."""
    ranks, own = core.ranks(), core.rank()
    count = min(len(values), _SAMPLES * ranks)
    places = numpy.linspace(0, len(values) - 1, count).astype(int) if count else numpy.zeros(0, int)
    every = (
        _everywhere(values[places]),
        _everywhere(places),
        _everywhere(numpy.array([len(values)])),
    )
    samples, numbers, sizes = every
    who = numpy.repeat(numpy.arange(ranks), [len(one) for one in samples])
    order = numpy.argsort(numpy.concatenate(samples), kind="stable")
    if not len(order):
        return numpy.zeros(ranks - 1, int)
    # Of how many values each sample is the first.
    weights = numpy.concatenate([_weights(*one) for one in zip(numbers, sizes, strict=True)])
    before = numpy.cumsum(weights[order])
    total = sum(int(size[0]) for size in sizes)
    wanted = numpy.arange(1, ranks) * total / ranks
    chosen = order[numpy.minimum(numpy.searchsorted(before, wanted), len(order) - 1)]
    all_values, all_numbers = numpy.concatenate(samples), numpy.concatenate(numbers)
    left = numpy.searchsorted(values, all_values[chosen], side="left")
    right = numpy.searchsorted(values, all_values[chosen], side="right")
    mine = numpy.where(own < who[chosen], right, left)
    cuts = numpy.where(own == who[chosen], all_numbers[chosen], mine)
    return numpy.maximum.accumulate(cuts)


def _weights(places: Any, size: Any) -> Any:
    return numpy.diff(places, append=size)


def _everywhere(values: Any) -> list[Any]:
    """Values of every rank. Collective."""
    raw = core.gather("samples", numpy.ascontiguousarray(values).tobytes())
    return [numpy.frombuffer(one, values.dtype) for one in raw]


def _exchanged(column: Any, cuts: Any) -> Any:
    return numpy.concatenate(_rows.sent("sorted values", numpy.split(column, cuts)))


def _sample_sorted(row: Any, kind: Any) -> Any:
    values = _rows.rows(row)
    values.sort(kind=kind)
    came = _exchanged(values, _cuts(values))
    came.sort(kind="stable")  # which finds what is sorted already, and merges
    return _rows.joined_rows(came)


def _argsorted(a: Any, axis: Any, kind: Any, stable: Any) -> Any:
    if not isinstance(a, ndarray) or (not _is_spread(a) and not is_large(a)):
        return NotImplemented
    row = a.reshape(-1) if axis is None else a
    at = _along(row, 0 if axis is None else axis)
    if at is None:
        return NotImplemented
    if row.ndim > 1:
        kind = "stable" if stable or kind in _STABLE else None
        return lines(row, at, lambda part, at: numpy.argsort(part, at, kind), numpy.intp)
    if core.ranks() > 1:
        return _sample_argsorted(row)
    if row.dtype.char not in _RANKED or not row.dtype.isnative:
        return NotImplemented
    return core.wrap(core.argsort(plain(row)), True)


def _sample_argsorted(row: Any) -> Any:
    piece = _rows.rows(row)
    order = numpy.argsort(piece, kind="stable")
    values = piece[order]
    cuts = _cuts(values)
    came = _exchanged(values, cuts)
    numbers = _exchanged(order + _rows.own_start(len(row)), cuts)
    return _rows.joined_rows(numbers[numpy.argsort(came, kind="stable")])


def _argsort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Any:
    return _argsorted(a, axis, kind, stable) if _is_plain(kind, order, stable) else NotImplemented


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
    plain = isinstance(a, ndarray) and _is_spread(a) and order is None and kind == "introselect"
    return _sorted(a, axis, None, None) if plain and _has_ranks(a, kth, axis) else NotImplemented


def _partition(
    self: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None
) -> Any:
    plain = _is_spread(self) and order is None and kind == "introselect" and self._writeable
    if not plain or axis is None or not _has_ranks(self, kth, axis):
        return NotImplemented
    self[...] = _sorted(self, axis, None, None)
    return None


def _argpartition(
    a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None
) -> Any:
    plain = isinstance(a, ndarray) and _is_spread(a) and order is None and kind == "introselect"
    return _argsorted(a, axis, None, None) if plain and _has_ranks(a, kth, axis) else NotImplemented


argpartition = native(numpy.argpartition)(_argpartition)


@native(numpy.lexsort)
def lexsort(keys: Any, axis: Any = -1) -> Any:
    given = list(keys)
    if core.ranks() == 1 or not any(map(in_pieces, given)) or axis not in (-1, 0):
        return NotImplemented
    columns = [asarray(key) for key in given]
    if any(key.ndim != 1 or key.shape != columns[0].shape for key in columns):
        return NotImplemented
    order = argsort(columns[0], kind="stable")
    for key in columns[1:]:
        order = order[argsort(key[order], kind="stable")]
    return order


def _searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
    a = a if isinstance(a, ndarray) else numpy.asarray(a)
    if side not in ("left", "right") or a.ndim != 1:
        return NotImplemented
    if core.ranks() == 1:
        return _search_on_threads(a, v, side) if sorter is None else NotImplemented
    if not any(map(in_pieces, (a, v))):
        return NotImplemented
    where = a if sorter is None else asarray(a)[asarray(sorter)]
    values = asarray(v)
    if where.dtype != values.dtype:
        kind = numpy.result_type(where.dtype, values.dtype)
        where, values = where.astype(kind), values.astype(kind)
    if not in_pieces(where):
        memory = core.unwrap(where) if isinstance(where, ndarray) else where
        return applied(lambda part: numpy.searchsorted(memory, part, side), (values,), {})
    found = _search(where, values.reshape(-1), side).reshape(values.shape)
    return found if values.ndim else found[()]


searchsorted = native(numpy.searchsorted)(_searchsorted)


def _search_on_threads(a: Any, v: Any, side: Any) -> Any:
    if not is_large(v) or not v.ndim:
        return NotImplemented
    where = core.unwrap(a) if isinstance(a, ndarray) else a
    values, made = plain(v), numpy.empty(v.size, numpy.intp)

    def part(share: slice) -> None:
        made[share] = where.searchsorted(values[share], side)

    each(part, shares(len(values)))
    return core.wrap(made.reshape(v.shape), True)


def _search(where: Any, values: Any, side: Any) -> Any:
    """Values go to the rank among whose rows their place is."""
    piece, asked = _rows.rows(where), _rows.rows(values)
    last = _everywhere(piece[-1:])
    owners = numpy.array([rank for rank, one in enumerate(last) if len(one)])
    found = numpy.searchsorted(numpy.concatenate(last), asked, side)
    way = _rows.Routes("a search", owners[numpy.minimum(found, len(owners) - 1)])
    came = way.there(asked)
    places = numpy.searchsorted(piece, came, side) + _rows.own_start(len(where))
    return _rows.from_rows(way.back(places), len(values))


@native(numpy.digitize)
def digitize(x: Any, bins: Any, right: Any = False) -> Any:
    if core.ranks() == 1 or not any(map(in_pieces, (x, bins))):
        return NotImplemented
    if not in_pieces(bins):
        edges = core.unwrap(bins) if isinstance(bins, ndarray) else bins
        return applied(lambda part: numpy.digitize(part, edges, right), (x,), {})
    if bins.ndim != 1 or asarray(x).dtype.kind == "c":
        return NotImplemented
    side = "left" if right else "right"
    if (bins[1:] >= bins[:-1]).all():
        return searchsorted(bins, x, side)
    if (bins[1:] <= bins[:-1]).all():
        return len(bins) - searchsorted(bins[::-1], x, "right" if right else "left")
    raise ValueError("bins must be monotonically increasing or decreasing")


_OWN: dict[str, Callable[..., Any]] = {
    "argpartition": _argpartition,
    "argsort": _argsort,
    "partition": _partition,
    "searchsorted": _searchsorted,
    "sort": _sort,
}
METHODS = {name: native(getattr(numpy.ndarray, name), _MODULE)(ours) for name, ours in _OWN.items()}
