"""Counting: bincount and histogram. Ranks count what they have, threads too; counts are summed."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable
from typing import Any

import numpy

from dappled import _rows
from dappled._agreeing import agreed
from dappled._array import core, empty, is_moved, is_native, ndarray
from dappled._binning import between, estimated
from dappled._creation import asarray
from dappled._large import is_large
from dappled._line import called_by_user
from dappled._native import native
from dappled._piecewise import in_pieces
from dappled._rebind import rebound
from dappled._threads import plain
from dappled.protocol import Distribution

# Counts that each of several threads may have of its own.
_MOST = 1 << 26


@native(numpy.bincount)
def bincount(x: Any, /, weights: Any = None, minlength: Any = 0) -> Any:
    if in_pieces(weights) and core.ranks() > 1:
        x = asarray(x)
    if not isinstance(x, ndarray) or x.ndim != 1 or x.dtype.kind not in "iub" or not x.size:
        return NotImplemented
    if not isinstance(minlength, int | numpy.integer) or minlength < 0 or x.dtype == numpy.uint64:
        return NotImplemented
    if core.ranks() == 1 and isinstance(weights, ndarray):
        # Lent to be written, as NumPy copies what it may not write; it does not write these.
        theirs = (core.unwrap(one, writeable=True) for one in (x, weights))
        return core.wrap(called_by_user(numpy.bincount, *theirs, int(minlength)), True)
    if core.ranks() == 1:
        return _count_on_threads(x, int(minlength)) if weights is None else NotImplemented
    if not any(map(in_pieces, (x, weights))) or not _fits(weights, x.shape):
        return NotImplemented
    return _count_on_ranks(x, weights, int(minlength))


def _fits(weights: Any, shape: tuple[int, ...]) -> bool:
    if weights is None:
        return True
    given = asarray(weights)
    return given.shape == shape and numpy.can_cast(given.dtype, float, "safe")


def _count_on_threads(x: Any, minlength: int) -> Any:
    if not is_large(x) or x.dtype.kind == "b":
        return NotImplemented
    values = plain(x).astype(numpy.int64, copy=False)
    low, high = core.extent(values)
    length = max(high + 1, minlength)
    if low < 0 or length > min(len(values), _MOST):
        return NotImplemented
    return core.wrap(core.count_numbers(values, 0, length), True)


def _count_on_ranks(x: Any, weights: Any, minlength: int) -> Any:
    piece = _rows.read_rows(x).astype(numpy.int64, copy=False)
    low, high = _extent(core.extent, piece)
    if low < 0:
        raise ValueError("'list' argument must have no negative elements")
    length = max(high + 1, minlength)
    if weights is None and length <= _MOST:
        return summed(core.count_numbers(piece, 0, length))
    if weights is None:
        return summed(numpy.bincount(piece, None, length))
    counts = numpy.bincount(piece, _rows.rows(asarray(weights)), length)
    with numpy.errstate(all="ignore"):  # NumPy looks at no signals; of none it gives whole numbers
        return summed(counts.astype(float, copy=False))


def _extent(own: Callable[[Any], Any], piece: Any) -> Any:
    """The least and the greatest on all ranks; None where one of them can't say. Collective."""
    sent = core.gather("the extent", pickle.dumps((len(piece), own(piece))))
    found = [ends for length, ends in map(pickle.loads, sent) if length]
    return None if None in found else (min(one[0] for one in found), max(one[1] for one in found))


def summed(counts: Any) -> Any:
    """The sum of what ranks have counted. Collective."""
    ranks = core.ranks()
    if ranks == 1:
        return core.wrap(counts, True)
    kind = counts.dtype
    if counts.ndim == 1 and (kind.kind in "iu" or not is_native(kind)):  # in any order, or NumPy's
        parts = numpy.split(counts, _rows.starts(len(counts))[1:-1])
        total = functools.reduce(numpy.add, _rows.sent("counts", parts)).astype(kind, copy=False)
        return _rows.from_rows(total, len(counts))
    pieces = Distribution((ranks, *counts.shape), "b" + "n" * counts.ndim, nprocs=ranks)
    parts = core.from_piece(pieces, _rows.solid(counts[None]), True)
    return core.reduce(parts, "add", 0, kind)


@native(numpy.histogramdd)
def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    columns = sample if isinstance(sample, list | tuple) else (sample,)
    if core.ranks() == 1 or not any(map(in_pieces, columns)):
        return NotImplemented
    if columns is sample and len({numpy.shape(column)[1:] for column in columns} | {()}) > 1:
        return NotImplemented  # columns of several axes, which NumPy refuses
    points = sample if isinstance(sample, ndarray) else _points(columns)
    return rebound(numpy.histogramdd)(points, bins, range, density, weights)


def _points(columns: Any) -> Any:
    """Points, whose coordinates are in columns."""
    given = [asarray(column) for column in columns]
    made = empty((len(given[0]), len(given)), numpy.result_type(*(one.dtype for one in given)))
    for place, column in enumerate(given):
        made[:, place] = column
    return made


@native(numpy.histogram)
def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    if weights is not None and numpy.shape(weights) != numpy.shape(a):
        return NotImplemented  # which NumPy refuses
    spread = core.ranks() > 1 and in_pieces(a)
    if in_pieces(bins) and numpy.size(a):  # of which the range says nothing
        return between(a, bins, density, weights)
    if not isinstance(a, ndarray) or not (spread or is_large(a)):
        return NotImplemented
    if isinstance(bins, str) and spread:
        bins, range = estimated(a, bins, range, weights)
    if isinstance(bins, str):
        return NotImplemented
    if a.dtype.kind not in "iuf" or not a.size or (weights is not None and not spread):
        return NotImplemented
    if weights is not None and not is_moved(asarray(weights).dtype):
        return NotImplemented  # objects are whole on every rank
    edges = _edges(a, bins, range)
    counts = _histogram(a, bins, edges, range, weights)
    if counts is NotImplemented:
        return NotImplemented
    if density:
        widths = numpy.array(numpy.diff(edges), float)
        counts = counts / widths / counts.sum()
    return counts, core.wrap(edges)


def _edges(a: Any, bins: Any, range: Any) -> Any:
    """NumPy's edges, which depend on the least and greatest value alone; or its error."""
    over = core.unwrap(bins) if isinstance(bins, ndarray) else bins
    if numpy.ndim(over) or range is not None:
        return numpy.histogram_bin_edges(numpy.empty(0, a.dtype), over, range)
    ends = _ends(a) if a.dtype == float else None
    ends = (a.min(), a.max()) if ends is None else ends
    return numpy.histogram_bin_edges(numpy.array(ends, a.dtype), over)


def _ends(a: Any) -> Any:
    """The least and the greatest, found together; None where one is no number."""
    if core.ranks() == 1:
        return core.extent_of_floats(plain(a)) if is_large(a) else None
    return _extent(core.extent_of_floats, _rows.read_rows(a.reshape(-1)))


def _histogram(a: Any, bins: Any, edges: Any, range: Any, weights: Any) -> Any:
    equal = not numpy.ndim(bins)
    # As they were said: edges of float32 between numbers of Python's are others.
    said = (edges[0], edges[-1]) if range is None else range
    ends = said if equal else None
    if core.ranks() == 1:
        if not equal or a.dtype != float or edges.dtype != float:
            return NotImplemented
        return core.wrap(core.count_between(plain(a), edges), True)
    piece = _rows.read_rows(a.reshape(-1))
    if equal and weights is None and a.dtype == float and edges.dtype == float:
        return summed(core.count_between(piece, edges))
    weigh = None if weights is None else _rows.rows(asarray(weights).reshape(-1))
    over = bins if equal else edges
    counts, _ = agreed(lambda: numpy.histogram(piece, over, ends, weights=weigh))
    return summed(counts)
