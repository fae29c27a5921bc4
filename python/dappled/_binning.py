"""Histograms whose bins NumPy chooses, or has to be told in pieces."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy

from dappled._array import core
from dappled._creation import asarray
from dappled._rebind import rewrapped
from dappled._searching import searchsorted
from dappled._sorting import argsort, sort


@functools.cache
def _edges() -> Callable[..., Any]:
    return rewrapped(numpy.histogram_bin_edges)


def estimated(a: Any, bins: str, range: Any, weights: Any) -> tuple[int, Any]:
    """How many bins of equal width there are by one of NumPy's rules, and their ends.

    The rules need a spread and some percentiles, which are computed in pieces.
    """
    edges = core.unwrap(_edges()(a, bins, range, weights))
    return len(edges) - 1, (edges[0], edges[-1]) if range is None else range


def between(a: Any, edges: Any, density: Any, weights: Any) -> Any:
    """What lies between edges in pieces: these are looked for among the sorted values."""
    alike = weights is None or numpy.shape(weights) == numpy.shape(a)
    if edges.ndim != 1 or not edges.size or not alike:
        return NotImplemented
    if (edges[:-1] > edges[1:]).any():
        raise ValueError("`bins` must increase monotonically, when an array")
    row = asarray(a).reshape(-1)
    if weights is None:
        below = _below(sort(row), edges)
    else:
        order = argsort(row)
        below = _weighed(asarray(weights).reshape(-1)[order])[_below(row[order], edges)]
    counts = below[1:] - below[:-1]
    if not density:
        return counts, edges
    widths = (edges[1:] - edges[:-1]).astype(float)
    return counts / widths / counts.sum(), edges


def _below(ordered: Any, edges: Any) -> Any:
    """How many values are below each edge; what is at the last one counts."""
    found = searchsorted(ordered, edges)
    found[-1:] = searchsorted(ordered, edges[-1:], "right")
    return found


def _weighed(weights: Any) -> Any:
    """The weight of the first so many values, of none at first."""
    sums = weights.cumsum()
    made = core.full((sums.size + 1,), 0, sums.dtype, "C")
    made[1:] = sums
    return made
