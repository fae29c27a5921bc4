"""bincount and histogram: ranks and threads count their elements, and counts are summed."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable
from typing import Any

import numpy

from dappled._dispatch.callsite import call_from_user_frame
from dappled._dispatch.implements import implements
from dappled._dispatch.rebind import rebound
from dappled._ndarray.core import core, empty, is_communicable, is_native, ndarray
from dappled._ndarray.threaded_indexing import is_large
from dappled._ranks.consensus import collective_try
from dappled._ranks.map_blocks import is_distributed
from dappled._routines._distributed import row_blocks
from dappled._routines._distributed.threads import as_contiguous_row
from dappled._routines.creation import asarray
from dappled._routines.histogram_bins import estimate_bins, histogram_with_edges
from dappled.protocol import Distribution

# Counts that each thread may have of its own.
_MAX_COUNTS_PER_THREAD = 1 << 26


@implements(numpy.bincount)
def bincount(x: Any, /, weights: Any = None, minlength: Any = 0) -> Any:
    if is_distributed(weights) and core.ranks() > 1:
        x = asarray(x)
    if not isinstance(x, ndarray) or x.ndim != 1 or x.dtype.kind not in "iub" or not x.size:
        return NotImplemented
    if not isinstance(minlength, int | numpy.integer) or minlength < 0 or x.dtype == numpy.uint64:
        return NotImplemented
    if core.ranks() == 1 and isinstance(weights, ndarray):
        # Lent as writeable, because NumPy copies read-only arguments; it does not write them.
        theirs = (core.unwrap(one, writeable=True) for one in (x, weights))
        return core.wrap(call_from_user_frame(numpy.bincount, *theirs, int(minlength)), True)
    if core.ranks() == 1:
        return _count_on_threads(x, int(minlength)) if weights is None else NotImplemented
    if not any(map(is_distributed, (x, weights))) or not _is_weights_like(weights, x.shape):
        return NotImplemented
    return _count_on_ranks(x, weights, int(minlength))


def _is_weights_like(weights: Any, shape: tuple[int, ...]) -> bool:
    if weights is None:
        return True
    given = asarray(weights)
    return given.shape == shape and numpy.can_cast(given.dtype, float, "safe")


def _count_on_threads(x: Any, minlength: int) -> Any:
    if not is_large(x) or x.dtype.kind == "b":
        return NotImplemented
    values = as_contiguous_row(x).astype(numpy.int64, copy=False)
    low, high = core.extent(values)
    length = max(high + 1, minlength)
    if low < 0 or length > min(len(values), _MAX_COUNTS_PER_THREAD):
        return NotImplemented
    return core.wrap(core.count_numbers(values, 0, length), True)


def _count_on_ranks(x: Any, weights: Any, minlength: int) -> Any:
    piece = row_blocks.read_local_rows(x).astype(numpy.int64, copy=False)
    low, high = _global_extent(core.extent, piece)
    if low < 0:
        raise ValueError("'list' argument must have no negative elements")
    length = max(high + 1, minlength)
    if weights is None and length <= _MAX_COUNTS_PER_THREAD:
        return sum_over_ranks(core.count_numbers(piece, 0, length))
    if weights is None:
        return sum_over_ranks(numpy.bincount(piece, None, length))
    counts = numpy.bincount(piece, row_blocks.local_rows(asarray(weights)), length)
    # NumPy ignores floating-point errors here, and returns integers for no elements
    with numpy.errstate(all="ignore"):
        return sum_over_ranks(counts.astype(float, copy=False))


def _global_extent(own: Callable[[Any], Any], piece: Any) -> Any:
    """The minimum and maximum over all ranks; None if one rank has none. Collective."""
    sent = core.gather("the extent", pickle.dumps((len(piece), own(piece))))
    result = [ends for length, ends in map(pickle.loads, sent) if length]
    return (
        None if None in result else (min(one[0] for one in result), max(one[1] for one in result))
    )


def sum_over_ranks(counts: Any) -> Any:
    """The sum of counts over all ranks. Collective."""
    ranks = core.ranks()
    if ranks == 1:
        return core.wrap(counts, True)
    kind = counts.dtype
    # Exact in any order, or NumPy's addition
    if counts.ndim == 1 and (kind.kind in "iu" or not is_native(kind)):
        parts = numpy.split(counts, row_blocks.block_starts(len(counts))[1:-1])
        total = functools.reduce(numpy.add, row_blocks.all_to_all("counts", parts)).astype(
            kind, copy=False
        )
        return row_blocks.from_local_rows(total, len(counts))
    pieces = Distribution((ranks, *counts.shape), "b" + "n" * counts.ndim, nprocs=ranks)
    parts = core.from_piece(pieces, row_blocks.contiguous_copy(counts[None]), True)
    return core.reduce(parts, "add", 0, kind)


@implements(numpy.histogramdd)
def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    columns = sample if isinstance(sample, list | tuple) else (sample,)
    if core.ranks() == 1 or not any(map(is_distributed, columns)):
        return NotImplemented
    if columns is sample and len({numpy.shape(column)[1:] for column in columns} | {()}) > 1:
        return NotImplemented  # NumPy raises for columns with several axes
    points = sample if isinstance(sample, ndarray) else _stack_columns(columns)
    return rebound(numpy.histogramdd)(points, bins, range, density, weights)


def _stack_columns(columns: Any) -> Any:
    """Points from a sequence of coordinate arrays."""
    given = [asarray(column) for column in columns]
    result = empty((len(given[0]), len(given)), numpy.result_type(*(one.dtype for one in given)))
    for position, column in enumerate(given):
        result[:, position] = column
    return result


@implements(numpy.histogram)
def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    if weights is not None and numpy.shape(weights) != numpy.shape(a):
        return NotImplemented  # NumPy raises
    spread = core.ranks() > 1 and is_distributed(a)
    if is_distributed(bins) and numpy.size(a):  # the range does not determine them
        return histogram_with_edges(a, bins, density, weights)
    if not isinstance(a, ndarray) or not (spread or is_large(a)):
        return NotImplemented
    if isinstance(bins, str) and spread:
        bins, range = estimate_bins(a, bins, range, weights)
    if isinstance(bins, str):
        return NotImplemented
    if a.dtype.kind not in "iuf" or not a.size or (weights is not None and not spread):
        return NotImplemented
    if weights is not None and not is_communicable(asarray(weights).dtype):
        return NotImplemented  # object arrays are replicated
    edges = _bin_edges(a, bins, range)
    counts = _count(a, bins, edges, range, weights)
    if counts is NotImplemented:
        return NotImplemented
    if density:
        widths = numpy.array(numpy.diff(edges), float)
        counts = counts / widths / counts.sum()
    return counts, core.wrap(edges)


def _bin_edges(a: Any, bins: Any, range: Any) -> Any:
    """NumPy's edges, which depend on the minimum and maximum alone; or its error."""
    over = core.unwrap(bins) if isinstance(bins, ndarray) else bins
    if numpy.ndim(over) or range is not None:
        return numpy.histogram_bin_edges(numpy.empty(0, a.dtype), over, range)
    ends = _range_of(a) if a.dtype == float else None
    ends = (a.min(), a.max()) if ends is None else ends
    return numpy.histogram_bin_edges(numpy.array(ends, a.dtype), over)


def _range_of(a: Any) -> Any:
    """The minimum and maximum in one pass; None if there is a NaN."""
    if core.ranks() == 1:
        return core.extent_of_floats(as_contiguous_row(a)) if is_large(a) else None
    return _global_extent(core.extent_of_floats, row_blocks.read_local_rows(a.reshape(-1)))


def _count(a: Any, bins: Any, edges: Any, range: Any, weights: Any) -> Any:
    equal = not numpy.ndim(bins)
    # As given: float32 edges between Python numbers would differ.
    said = (edges[0], edges[-1]) if range is None else range
    ends = said if equal else None
    if core.ranks() == 1:
        if not equal or a.dtype != float or edges.dtype != float:
            return NotImplemented
        return core.wrap(core.count_between(as_contiguous_row(a), edges), True)
    piece = row_blocks.read_local_rows(a.reshape(-1))
    if equal and weights is None and a.dtype == float and edges.dtype == float:
        return sum_over_ranks(core.count_between(piece, edges))
    weigh = None if weights is None else row_blocks.local_rows(asarray(weights).reshape(-1))
    over = bins if equal else edges
    counts, _ = collective_try(lambda: numpy.histogram(piece, over, ends, weights=weigh))
    return sum_over_ranks(counts)
