"""unique: by sorting, or by counting integers with a small range.

The core finds the unique elements of distributed arrays. Along an axis, and for structures, NumPy's
Python code runs over our sort.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy

from dappled._dispatch.implements import implements
from dappled._dispatch.rebind import rebound_and_wrapped
from dappled._ndarray.core import core, is_communicable, is_native, ndarray, ufuncs
from dappled._ndarray.threaded_indexing import is_large
from dappled._ranks.map_blocks import is_distributed
from dappled._routines._distributed.threads import as_contiguous_row, true_positions
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
    if core.ranks() > 1 and is_distributed(ar) and is_communicable(ar.dtype):
        return _unique_on_ranks(ar, return_index, return_inverse, return_counts, axis, equal_nan)
    several = return_index or return_inverse or return_counts or axis is not None
    if several or not is_large(ar) or not equal_nan or ar.dtype.kind not in "iuf":
        return NotImplemented
    return _unique_on_threads(ar)


def _unique_on_ranks(
    ar: Any, index: Any, inverse: Any, counts: Any, axis: Any, equal_nan: Any
) -> Any:
    wanted = bool(index), bool(inverse), bool(counts)
    if axis is not None or not _is_unique_by_core(ar.dtype, equal_nan):
        return _rebound_function(numpy.unique)(ar, *wanted, axis, equal_nan=equal_nan)
    row = ar.reshape(-1)
    # NumPy hashes dates if it returns values alone, and then finds each NaT equal.
    equal_nan = bool(equal_nan) or (ar.dtype.kind == "M" and not any(wanted))
    values, *columns = core.unique_distributed(row, *wanted, equal_nan)
    if not any(wanted):
        return _with_first_nan(values, row, equal_nan)
    if inverse:
        columns[1] = columns[1].reshape(ar.shape)
    return values, *(column for column in columns if column is not None)


def _is_unique_by_core(dtype: Any, equal_nan: Any) -> bool:
    """Whether elements are equal exactly if neither sorts before the other, or both are NaN."""
    if is_native(dtype) or dtype.kind in "iuSU":
        return True
    native_times = dtype.kind in "mM" and dtype.isnative
    return native_times or (bool(equal_nan) and dtype.kind in "fmM")


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
