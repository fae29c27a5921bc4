"""`ufunc.reduceat` of distributed arrays.

Each rank reduces its part of a segment, and the rank that has the result reduces the partial
results. Where there are enough other axes, the segmented axis is made local instead, and results
are NumPy's bit by bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from dappled._dispatch.callsite import call_from_user_frame
from dappled._ndarray.core import core, is_communicable, ndarray, ufuncs
from dappled._ranks.comm import check_collective
from dappled._ranks.consensus import collective_errstate, collective_try
from dappled._routines._distributed import row_blocks
from dappled._routines.creation import asarray
from dappled._routines.ufunc.reduce import ASSOCIATIVE, map_along_axes, normalise_axes

Fold = Callable[[Any, Any], Any]


def reduceat_distributed(ufunc: Any, array: Any, indices: Any, axis: Any, kind: Any) -> Any:
    """`ufunc.reduceat` in a dtype; NotImplemented if a gather is needed."""
    axes = normalise_axes(array, axis) if array.size and axis is not None else None
    starts = _segment_starts(indices) if core.ranks() > 1 and axes else None
    if starts is None or not axes or len(axes) > 1:
        return NotImplemented
    (axis,) = axes
    try:
        like = call_from_user_frame(ufunc.reduceat, numpy.zeros(1, array.dtype), [0], dtype=kind)
    except TypeError:  # NumPy reports invalid indices first
        collective_try(
            lambda: _check_indices(ufunc, row_blocks.read_local_rows(starts), array.shape[axis])
        )
        raise
    if not is_communicable(like.dtype):
        return NotImplemented
    if array.size // array.shape[axis] >= core.ranks():
        index_array = core.unwrap(starts.redistribute("n"))
        return map_along_axes(
            array, axes, lambda part: ufunc.reduceat(part, index_array, axis, kind), True
        )
    if ufunc.__name__ not in ASSOCIATIVE:
        return NotImplemented
    check_collective("ufunc.reduceat")

    def fold(rows: Any, index_array: Any) -> Any:
        return call_from_user_frame(ufunc.reduceat, rows, index_array, 0, kind)

    def whole(rows: Any) -> Any:
        return ufuncs[ufunc.__name__].reduce(rows, 0, kind)

    collective_try(
        lambda: _check_indices(ufunc, row_blocks.read_local_rows(starts), array.shape[axis])
    )
    # Whether a product overflows depends on its start.
    in_order = ufunc is numpy.multiply and like.dtype.kind in "fc"
    rows = numpy.moveaxis(array, axis, 0)
    result = _reduce_segments(fold, whole if in_order else None, rows, starts, like.dtype)
    return numpy.moveaxis(result, 0, axis) if axis and result is not NotImplemented else result


def _segment_starts(indices: Any) -> Any:
    """The starts of segments; None where NumPy raises."""
    if not isinstance(indices, ndarray | numpy.ndarray):
        try:
            indices = numpy.asarray(indices, numpy.intp)
        except (TypeError, ValueError):
            return None
    known = indices.ndim == 1 and numpy.can_cast(indices.dtype, numpy.intp, "safe")
    return asarray(indices).astype(numpy.intp, copy=False) if known else None


def _reduce_segments(fold: Fold, whole: Any, array: Any, positions: Any, kind: Any) -> Any:
    """Reduces rows between segment starts.

    `whole` reduces segments that span several ranks, in order; NotImplemented if there are many of
    them.
    """
    length, count = len(array), len(positions)
    following = core.full((count,), length, numpy.dtype(numpy.intp), "C")
    following[:-1] = positions[1:]
    first, last = row_blocks.local_rows(positions), row_blocks.local_rows(following)
    last = numpy.where(last > first, last, first + 1)
    bounds, spanning = row_blocks.block_starts(length), []
    if whole is not None:
        low, high = (row_blocks.owner_ranks(length, ends) for ends in (first, last - 1))
        index = row_blocks.first_row(count) + numpy.flatnonzero(low < high)
        own = numpy.stack([index, first[low < high], last[low < high]], 1)
        spanning = row_blocks.allgather("ufunc.reduceat", own).tolist()
        if len(spanning) > 4 * core.ranks():
            return NotImplemented
        last = numpy.where(low < high, first + 1, last)
    cut = _SegmentParts(first, last, bounds)
    way = row_blocks.RowExchange("segments", cut.owners)
    asked = way.send(cut.ends)
    piece = row_blocks.read_local_rows(array)
    parts = way.reply(collective_try(lambda: _reduce_parts(fold, piece, asked, kind)))
    result = collective_errstate(lambda: fold(parts, cut.begins) if len(first) else parts)
    for index, start, stop in spanning:
        value = core.unwrap(asarray(whole(array[start:stop])))
        if 0 <= index - row_blocks.first_row(count) < len(first):
            result[index - row_blocks.first_row(count)] = value
    return row_blocks.from_local_rows(result, count)


def _check_indices(ufunc: Any, positions: Any, length: int) -> None:
    wrong = (positions < 0) | (positions >= length)
    if wrong.any():
        where = f"{ufunc.__name__}.reduceat [0, {length})"
        raise IndexError(f"index {positions[wrong][0]} out-of-bounds in {where}")


class _SegmentParts:
    """Segments split at the bounds of the ranks."""

    def __init__(self, first: Any, last: Any, bounds: Any) -> None:
        low, high = (
            numpy.searchsorted(bounds[1:-1], ends, side="right") for ends in (first, last - 1)
        )
        counts = high - low + 1
        self.begins = numpy.cumsum(counts) - counts  # the first part of each segment
        whose = numpy.repeat(numpy.arange(len(first)), counts)
        within = numpy.arange(len(whose)) - self.begins[whose]
        self.owners = low[whose] + within
        start = numpy.maximum(first[whose], bounds[self.owners])
        stop = numpy.minimum(last[whose], bounds[self.owners + 1])
        self.ends = numpy.stack([start, stop], 1) - bounds[self.owners][:, None]


def _reduce_parts(fold: Fold, piece: Any, ends: Any, kind: Any) -> Any:
    """Rows reduced between each pair of bounds."""
    result = numpy.empty((len(ends), *piece.shape[1:]), kind)
    open_ended = ends[:, 1] == len(piece)
    if len(inner := numpy.flatnonzero(~open_ended)):
        # Between an end and a smaller next start nothing is reduced.
        backwards = inner[numpy.argsort(ends[inner, 0], kind="stable")[::-1]]
        result[backwards] = fold(piece, ends[backwards].reshape(-1))[::2]
    starts, which = numpy.unique(ends[open_ended, 0], return_inverse=True)
    if len(starts):
        rest = [fold(piece, [start]) for start in starts]
        result[open_ended] = numpy.concatenate(rest)[which]
    return result
