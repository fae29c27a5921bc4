"""unique: by sorting, or by counting integers with a small range.

On distributed arrays NumPy's Python code runs over our sort.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy

from dappled._dispatch.implements import implements
from dappled._dispatch.rebind import rebound_and_wrapped
from dappled._ndarray.core import core, is_communicable, ndarray, ufuncs
from dappled._ndarray.threaded_indexing import is_large
from dappled._ranks.map_blocks import is_distributed
from dappled._routines._distributed import row_blocks
from dappled._routines._distributed.threads import (
    as_contiguous_row,
    true_positions,
)
from dappled._routines.sorting import sort


@functools.cache
def _rebound_function(function: Any) -> Callable[..., Any]:
    return rebound_and_wrapped(function)


@implements(numpy.unique)
def unique(
    ar: Any,
    return_index: Any = False,
    return_inverse: Any = False,
    return_counts: Any = False,
    axis: Any = None,
    *,
    equal_nan: Any = True,
    sorted: Any = True,
) -> Any:
    if not isinstance(ar, ndarray):
        return NotImplemented
    several = return_index or return_inverse or return_counts or axis is not None
    if core.ranks() > 1 and is_distributed(ar) and is_communicable(ar.dtype):
        return _unique_on_ranks(
            ar, return_index, return_inverse, return_counts, axis, several, equal_nan
        )
    if several or not is_large(ar) or not equal_nan or ar.dtype.kind not in "iuf":
        return NotImplemented
    return _unique_on_threads(ar)


def _unique_on_ranks(
    ar: Any, index: Any, inverse: Any, counts: Any, axis: Any, several: Any, equal_nan: Any
) -> Any:
    steps = _rebound_function(numpy.unique)
    if several:
        return steps(ar, index, inverse, counts, axis, equal_nan=equal_nan)
    if ar.dtype.kind in "iu" and ar.dtype != numpy.uint64:
        result = _unique_by_counting(ar.reshape(-1))
        if result is not None:
            return result
    # Unique values of each rank first, to send less.
    own = numpy.unique(row_blocks.local_rows(ar.reshape(-1)), equal_nan=equal_nan)
    result = steps(row_blocks.concatenate_ranks(own), return_index=True, equal_nan=equal_nan)[0]
    return _with_first_nan(result, ar.reshape(-1), equal_nan)


def _unique_by_counting(row: Any) -> Any:
    """Unique integers by counting; None where their range is too large."""
    values = row_blocks.read_local_rows(row).astype(numpy.int64, copy=False)
    own = numpy.array(core.extent(values) or (), numpy.int64)
    ends = numpy.concatenate(
        [numpy.frombuffer(one, numpy.int64) for one in core.gather("extents", own.tobytes())]
    )
    # The counts may not exceed a rank's share of the elements.
    if not len(ends) or int(ends.max()) - int(ends.min()) >= len(row) // core.ranks():
        return None
    low, length = int(ends.min()), int(ends.max() - ends.min()) + 1
    there = core.count_numbers(values, low, length) != 0
    starts = row_blocks.block_starts(length)
    parts = row_blocks.all_to_all("numbers that are there", numpy.split(there, starts[1:-1]))
    result = true_positions(functools.reduce(numpy.logical_or, parts)) + (low + starts[core.rank()])
    return row_blocks.concatenate_ranks(result.astype(row.dtype, copy=False))


def _with_first_nan(result: Any, row: Any, equal_nan: Any) -> Any:
    """Unique values; of complex NaN the one that came first."""
    if equal_nan and row.dtype.kind == "c" and result.size and numpy.isnan(result[-1]):
        result[-1] = row[int(ufuncs["isnan"](row).argmax())]
    return result


def _unique_on_threads(ar: Any) -> Any:
    if ar.dtype.kind in "iu" and ar.dtype != numpy.uint64:
        values = as_contiguous_row(ar).astype(numpy.int64, copy=False)
        low, high = core.extent(values)
        if high - low < len(values):  # a small range: count
            counts = core.count_numbers(values, low, high - low + 1)
            result = true_positions(counts != 0)
            return core.wrap((result + low).astype(ar.dtype, copy=False), True)
    output = core.unwrap(sort(ar, axis=None))
    kept = numpy.empty(output.shape, bool)
    kept[0] = True
    numpy.not_equal(output[1:], output[:-1], out=kept[1:])
    if output.dtype.kind == "f" and numpy.isnan(output[-1]):
        first = numpy.searchsorted(output, output[-1])
        kept[first + 1 :] = False
    result = output[kept]
    position = numpy.searchsorted(result, 0)
    if output.dtype.kind == "f" and position < len(result) and result[position] == 0:
        values = as_contiguous_row(ar)
        result[position] = values[
            numpy.argmax(values == 0)
        ]  # of 0.0 and -0.0 the one that came first
    return core.wrap(result, True)
