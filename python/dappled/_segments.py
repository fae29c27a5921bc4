"""`ufunc.reduceat` of arrays in pieces.

A segment that lies on several ranks is folded by each of them as far as it has it; what comes of
that is folded by the rank that has the result. Where there are enough other axes, the one with the
segments is made whole instead, and all is NumPy's to the last bit.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy

from dappled import _rows
from dappled._agreeing import agreed, signalling
from dappled._array import core, is_moved, ndarray, ufuncs
from dappled._comm import together
from dappled._creation import asarray
from dappled._folding import ASSOCIATIVE, along, axes_of
from dappled._line import called_by_user

Fold = Callable[[Any, Any], Any]


def parted(ufunc: Any, array: Any, indices: Any, axis: Any, kind: Any) -> Any:
    """`ufunc.reduceat` in a dtype; NotImplemented if arrays must be gathered."""
    axes = axes_of(array, axis) if array.size and axis is not None else None
    places = _places(indices) if core.ranks() > 1 and axes else None
    if places is None or not axes or len(axes) > 1:
        return NotImplemented
    (axis,) = axes
    try:
        like = called_by_user(ufunc.reduceat, numpy.zeros(1, array.dtype), [0], dtype=kind)
    except TypeError:  # of places that are wrong as well NumPy speaks first
        agreed(lambda: _check(ufunc, _rows.read_rows(places), array.shape[axis]))
        raise
    if not is_moved(like.dtype):
        return NotImplemented
    if array.size // array.shape[axis] >= core.ranks():
        numbers = core.unwrap(places.redistribute("n"))
        return along(array, axes, lambda part: ufunc.reduceat(part, numbers, axis, kind), True)
    if ufunc.__name__ not in ASSOCIATIVE:
        return NotImplemented
    together("ufunc.reduceat")

    def fold(rows: Any, numbers: Any) -> Any:
        return called_by_user(ufunc.reduceat, rows, numbers, 0, kind)

    def whole(rows: Any) -> Any:
        return ufuncs[ufunc.__name__].reduce(rows, 0, kind)

    agreed(lambda: _check(ufunc, _rows.read_rows(places), array.shape[axis]))
    # Whether a product overflows depends on where it begins.
    in_order = ufunc is numpy.multiply and like.dtype.kind in "fc"
    rows = numpy.moveaxis(array, axis, 0)
    made = _of_rows(fold, whole if in_order else None, rows, places, like.dtype)
    return numpy.moveaxis(made, 0, axis) if axis and made is not NotImplemented else made


def _places(indices: Any) -> Any:
    """Where segments begin; None where NumPy has words for it."""
    if not isinstance(indices, ndarray | numpy.ndarray):
        try:
            indices = numpy.asarray(indices, numpy.intp)
        except (TypeError, ValueError):
            return None
    known = indices.ndim == 1 and numpy.can_cast(indices.dtype, numpy.intp, "safe")
    return asarray(indices).astype(numpy.intp, copy=False) if known else None


def _of_rows(fold: Fold, whole: Any, array: Any, places: Any, kind: Any) -> Any:
    """Rows folded between places, into rows of a dtype.

    If `whole` is given, it folds segments that lie on several ranks, in order; NotImplemented if
    these are many, as they are only where segments overlap.
    """
    length, count = len(array), len(places)
    following = core.full((count,), length, numpy.dtype(numpy.intp), "C")
    following[:-1] = places[1:]
    first, last = _rows.rows(places), _rows.rows(following)
    last = numpy.where(last > first, last, first + 1)
    bounds, spanning = _rows.starts(length), []
    if whole is not None:
        low, high = (_rows.owners(bounds[1:-1], ends) for ends in (first, last - 1))
        number = _rows.own_start(count) + numpy.flatnonzero(low < high)
        own = numpy.stack([number, first[low < high], last[low < high]], 1).tolist()
        sent = core.gather("ufunc.reduceat", pickle.dumps(own))
        spanning = [one for told in sent for one in pickle.loads(told)]
        if len(spanning) > 4 * core.ranks():
            return NotImplemented
        last = numpy.where(low < high, first + 1, last)
    cut = _Cut(first, last, bounds)
    way = _rows.Routes("segments", cut.owners)
    asked = way.there(cut.ends)
    piece = _rows.read_rows(array)
    parts = way.back(agreed(lambda: _folded(fold, piece, asked, kind)))
    made = signalling(lambda: fold(parts, cut.begins) if len(first) else parts)
    for number, start, stop in spanning:
        value = core.unwrap(asarray(whole(array[start:stop])))
        if 0 <= number - _rows.own_start(count) < len(first):
            made[number - _rows.own_start(count)] = value
    return _rows.from_rows(made, count)


def _check(ufunc: Any, places: Any, length: int) -> None:
    wrong = (places < 0) | (places >= length)
    if wrong.any():
        where = f"{ufunc.__name__}.reduceat [0, {length})"
        raise IndexError(f"index {places[wrong][0]} out-of-bounds in {where}")


class _Cut:
    """Segments cut where the rows of one rank end."""

    def __init__(self, first: Any, last: Any, bounds: Any) -> None:
        low, high = (_rows.owners(bounds[1:-1], ends).astype(int) for ends in (first, last - 1))
        counts = high - low + 1
        self.begins = numpy.cumsum(counts) - counts  # the first part of each segment
        whose = numpy.repeat(numpy.arange(len(first)), counts)
        within = numpy.arange(len(whose)) - self.begins[whose]
        self.owners = low[whose] + within
        start = numpy.maximum(first[whose], bounds[self.owners])
        stop = numpy.minimum(last[whose], bounds[self.owners + 1])
        self.ends = numpy.stack([start, stop], 1) - bounds[self.owners][:, None]


def _folded(fold: Fold, piece: Any, ends: Any, kind: Any) -> Any:
    """Rows folded between each two ends."""
    made = numpy.empty((len(ends), *piece.shape[1:]), kind)
    open_ended = ends[:, 1] == len(piece)
    if len(inner := numpy.flatnonzero(~open_ended)):
        # Between an end and the next start nothing is folded if that comes before it.
        backwards = inner[numpy.argsort(ends[inner, 0], kind="stable")[::-1]]
        made[backwards] = fold(piece, ends[backwards].reshape(-1))[::2]
    starts, which = numpy.unique(ends[open_ended, 0], return_inverse=True)
    if len(starts):
        rest = [fold(piece, [start]) for start in starts]
        made[open_ended] = numpy.concatenate(rest)[which]
    return made
