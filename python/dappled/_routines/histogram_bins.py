"""Bins of histograms: NumPy's estimators, and distributed edges."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy

from dappled._dispatch.rebind import rebound_and_wrapped
from dappled._ndarray.core import core
from dappled._routines.creation import asarray
from dappled._routines.searching import searchsorted
from dappled._routines.sorting import argsort, sort


@functools.cache
def _bin_edges() -> Callable[..., Any]:
    return rebound_and_wrapped(numpy.histogram_bin_edges)


def estimate_bins(a: Any, bins: str, range: Any, weights: Any) -> tuple[int, Any]:
    """The number of equal bins by one of NumPy's estimators, and their range.

    The estimators need a spread and percentiles, which are computed on distributed arrays.
    """
    edges = core.unwrap(_bin_edges()(a, bins, range, weights))
    return len(edges) - 1, (edges[0], edges[-1]) if range is None else range


def histogram_with_edges(a: Any, edges: Any, density: Any, weights: Any) -> Any:
    """A histogram with distributed edges, located among the sorted values."""
    alike = weights is None or numpy.shape(weights) == numpy.shape(a)
    if edges.ndim != 1 or not edges.size or not alike:
        return NotImplemented
    if (edges[:-1] > edges[1:]).any():
        raise ValueError("`bins` must increase monotonically, when an array")
    row = asarray(a).reshape(-1)
    if weights is None:
        below = _count_below(sort(row), edges)
    else:
        order = argsort(row)
        below = _cumulative_weights(asarray(weights).reshape(-1)[order])[
            _count_below(row[order], edges)
        ]
    counts = below[1:] - below[:-1]
    if not density:
        return counts, edges
    widths = (edges[1:] - edges[:-1]).astype(float)
    return counts / widths / counts.sum(), edges


def _count_below(ordered: Any, edges: Any) -> Any:
    """The number of values below each edge; the last edge is inclusive."""
    result = searchsorted(ordered, edges)
    result[-1:] = searchsorted(ordered, edges[-1:], "right")
    return result


def _cumulative_weights(weights: Any) -> Any:
    """The cumulative weights, starting from zero."""
    sums = weights.cumsum()
    result = core.full((sums.size + 1,), 0, sums.dtype, "C")
    result[1:] = sums
    return result
