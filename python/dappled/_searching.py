"""Where values would be among sorted ones: searchsorted, digitize.

Where the sorted values are in pieces, each value goes to the rank among whose rows its place is.
"""

from __future__ import annotations

from typing import Any

import numpy

from dappled import _rows
from dappled._array import core, empty, few, ndarray
from dappled._creation import asarray
from dappled._large import is_large
from dappled._native import native
from dappled._piecewise import applied, in_pieces
from dappled._sampling import everywhere
from dappled._threads import each, plain, shares


def _searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
    a = a if isinstance(a, ndarray) else numpy.asarray(a)
    if side not in ("left", "right") or a.ndim != 1:
        numpy.searchsorted(few(a), 0, side)  # which NumPy refuses
        return NotImplemented
    if core.ranks() == 1:
        return _search_on_threads(a, v, side) if sorter is None else NotImplemented
    if not any(map(in_pieces, (a, v))):
        return NotImplemented
    where = a if sorter is None else _in_order(a, asarray(sorter))
    values = asarray(v)
    if where.dtype != values.dtype:
        kind = numpy.result_type(where.dtype, values.dtype)
        where, values = where.astype(kind), values.astype(kind)
    if not in_pieces(where):
        memory = core.unwrap(where) if isinstance(where, ndarray) else where
        return applied(lambda part: numpy.searchsorted(memory, part, side), (values,), {})
    found = _search(where, values.reshape(-1), side).reshape(values.shape)
    return found if values.ndim else found[()]


def _in_order(a: Any, sorter: Any) -> Any:
    if sorter.size != a.size:
        raise ValueError("sorter.size must equal a.size")
    if sorter.dtype.kind not in "iu":
        raise TypeError("sorter must only contain integers")
    return asarray(a)[sorter]


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
    if not len(where):
        return empty(values.shape, numpy.intp)
    piece, asked = _rows.rows(where), _rows.rows(values)
    last = everywhere(piece[-1:])
    kind = numpy.min_scalar_type(core.ranks())
    owners = numpy.array([rank for rank, one in enumerate(last) if len(one)], kind)
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
    known = bins.ndim == 1 and numpy.can_cast(bins.dtype, float) and not _has_nan(bins)
    if not known or asarray(x).dtype.kind == "c":
        return NotImplemented
    side = "left" if right else "right"
    if (bins[1:] >= bins[:-1]).all():
        return searchsorted(bins, x, side)
    if (bins[1:] <= bins[:-1]).all():
        return len(bins) - searchsorted(bins[::-1], x, side)
    raise ValueError("bins must be monotonically increasing or decreasing")


def _has_nan(bins: Any) -> bool:
    """Among such NumPy finds a place by the steps that it takes."""
    return bins.dtype.kind == "f" and bool(numpy.isnan(bins).any())


METHODS = {
    "searchsorted": native(numpy.ndarray.searchsorted, "dappled.ndarray")(_searchsorted),
}
