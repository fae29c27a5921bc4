"""bincount and histogram: ranks and threads count their elements, and counts are summed.

The core counts integers and float64 values; NumPy counts other values of each rank.
"""

from __future__ import annotations

import functools
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
from dappled._routines.creation import asarray
from dappled._routines.histogram_bins import estimate_bins, histogram_with_edges
from dappled.protocol import Distribution


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
        known = weights is None and is_large(x) and x.dtype.kind != "b"
    else:
        known = any(map(is_distributed, (x, weights))) and _is_weights_like(weights, x.shape)
    if not known:
        return NotImplemented
    x = x if is_native(x.dtype) else x.astype(numpy.int64)
    given = None if weights is None else asarray(weights).astype(float, copy=False)
    return core.bincount(x, given, int(minlength))


def _is_weights_like(weights: Any, shape: tuple[int, ...]) -> bool:
    if weights is None:
        return True
    given = asarray(weights)
    return given.shape == shape and numpy.can_cast(given.dtype, float, "safe")


def _sum_over_ranks(counts: Any) -> Any:
    """The sum of the counts of all ranks. Collective."""
    counts = numpy.ascontiguousarray(counts)
    if is_native(counts.dtype):
        return core.sum_over_ranks(counts)
    ranks = core.ranks()
    pieces = Distribution((ranks, counts.size), "bn", nprocs=ranks)
    parts = core.from_piece(pieces, row_blocks.contiguous_copy(counts.reshape(1, -1)), True)
    total = functools.reduce(numpy.add, parts.redistribute("nb").local)
    return row_blocks.from_local_rows(total.astype(counts.dtype, copy=False), counts.size)


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
    ends = core.value_range(a) if a.dtype == float else None
    ends = (a.min(), a.max()) if ends is None else ends
    return numpy.histogram_bin_edges(numpy.array(ends, a.dtype), over)


def _count(a: Any, bins: Any, edges: Any, range: Any, weights: Any) -> Any:
    equal = not numpy.ndim(bins)
    # As given: float32 edges between Python numbers would differ.
    said = (edges[0], edges[-1]) if range is None else range
    ends = said if equal else None
    if equal and weights is None and a.dtype == float and edges.dtype == float:
        return core.histogram_uniform(a, edges)
    if core.ranks() == 1:
        return NotImplemented
    piece = row_blocks.read_local_rows(a.reshape(-1))
    weigh = None if weights is None else row_blocks.local_rows(asarray(weights).reshape(-1))
    over = bins if equal else edges
    counts, _ = collective_try(lambda: numpy.histogram(piece, over, ends, weights=weigh))
    return _sum_over_ranks(counts)
