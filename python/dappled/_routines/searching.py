"""searchsorted and digitize of arrays in one process, on threads, and of distributed arrays."""

from __future__ import annotations

from typing import Any

import numpy

from dappled._dispatch.implements import implements
from dappled._dispatch.meta import small_meta
from dappled._ndarray.core import core, ndarray
from dappled._ndarray.threaded_indexing import is_large
from dappled._ranks.comm import check_collective
from dappled._ranks.map_blocks import is_distributed, map_blocks
from dappled._routines._distributed.threads import as_contiguous_row, map_threads, thread_slices
from dappled._routines.creation import asarray


def _searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
    a = a if isinstance(a, ndarray) else numpy.asarray(a)
    if side not in ("left", "right") or a.ndim != 1:
        numpy.searchsorted(small_meta(a), 0, side)  # NumPy's error
        return NotImplemented
    if core.ranks() == 1:
        return _search_on_threads(a, v, side) if sorter is None else NotImplemented
    if not any(map(is_distributed, (a, v))):
        return NotImplemented
    where = a if sorter is None else _apply_sorter(a, asarray(sorter))
    values = asarray(v)
    if where.dtype != values.dtype:
        kind = numpy.result_type(where.dtype, values.dtype)
        where, values = where.astype(kind), values.astype(kind)
    check_collective("searchsorted")
    numpy.zeros(0, where.dtype).searchsorted(numpy.zeros(0, where.dtype))  # NumPy may raise

    def search(rows: Any, asked: Any) -> Any:
        return rows.view(where.dtype).searchsorted(asked.view(where.dtype), side)

    return core.searchsorted(asarray(where), values, side == "right", search)


def _apply_sorter(a: Any, sorter: Any) -> Any:
    if sorter.size != a.size:
        raise ValueError("sorter.size must equal a.size")
    if sorter.dtype.kind not in "iu":
        raise TypeError("sorter must only contain integers")
    return asarray(a)[sorter]


searchsorted = implements(numpy.searchsorted)(_searchsorted)


def _search_on_threads(a: Any, v: Any, side: Any) -> Any:
    if not is_large(v) or not v.ndim:
        return NotImplemented
    where = core.unwrap(a) if isinstance(a, ndarray) else a
    values, result = as_contiguous_row(v), numpy.empty(v.size, numpy.intp)

    def part(share: slice) -> None:
        result[share] = where.searchsorted(values[share], side)

    map_threads(part, thread_slices(len(values)))
    return core.wrap(result.reshape(v.shape), True)


@implements(numpy.digitize)
def digitize(x: Any, bins: Any, right: Any = False) -> Any:
    if core.ranks() == 1 or not any(map(is_distributed, (x, bins))):
        return NotImplemented
    if not is_distributed(bins):
        edges = core.unwrap(bins) if isinstance(bins, ndarray) else bins
        return map_blocks(lambda part: numpy.digitize(part, edges, right), (x,), {})
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
    """NumPy's result then depends on the steps of its search."""
    return bins.dtype.kind == "f" and bool(numpy.isnan(bins).any())


METHODS = {
    "searchsorted": implements(numpy.ndarray.searchsorted, "dappled.ndarray")(_searchsorted),
}
