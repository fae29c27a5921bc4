"""What follows from the order of elements: unique, median.

Where arrays are in pieces these are NumPy's own steps over our arrays, which sort and choose in
pieces. In one process a median is selected: a sample says between which two values it is, and all
elements are looked at once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy

from dappled import _rows
from dappled._array import core, is_moved, ndarray, ufuncs
from dappled._large import is_large, places
from dappled._native import native
from dappled._piecewise import in_pieces
from dappled._rebind import rewrapped
from dappled._sorting import sort
from dappled._threads import each, plain, shares

# Elements of a sample, and how many ranks in it to each side the wanted one may be.
_SAMPLE = 1 << 14
_ASIDE = 400
# Lines that are put in a row at the same time: a cache line has elements of several.
_LINES = 16


@functools.cache
def _numpys(function: Any) -> Callable[..., Any]:
    return rewrapped(function)


@native(numpy.unique)
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
    if core.ranks() > 1 and in_pieces(ar) and is_moved(ar.dtype):
        return _unique_on_ranks(
            ar, return_index, return_inverse, return_counts, axis, several, equal_nan
        )
    if several or not is_large(ar) or not equal_nan or ar.dtype.kind not in "iuf":
        return NotImplemented
    return _unique_on_threads(ar)


def _unique_on_ranks(
    ar: Any, index: Any, inverse: Any, counts: Any, axis: Any, several: Any, equal_nan: Any
) -> Any:
    steps = _numpys(numpy.unique)
    if several:
        return steps(ar, index, inverse, counts, axis, equal_nan=equal_nan)
    # Each rank's own first, that there is less to send.
    own = numpy.unique(_rows.rows(ar.reshape(-1)), equal_nan=equal_nan)
    found = steps(_rows.joined_rows(own), return_index=True, equal_nan=equal_nan)[0]
    return _with_first(found, ar.reshape(-1), equal_nan)


def _with_first(found: Any, row: Any, equal_nan: Any) -> Any:
    """What is unique, of complex NaN the one that came first."""
    if equal_nan and row.dtype.kind == "c" and found.size and numpy.isnan(found[-1]):
        found[-1] = row[int(ufuncs["isnan"](row).argmax())]
    return found


def _unique_on_threads(ar: Any) -> Any:
    if ar.dtype.kind in "iu" and ar.dtype != numpy.uint64:
        values = plain(ar).astype(numpy.int64, copy=False)
        low, high = core.extent(values)
        if high - low < len(values):  # so few that they are found by counting
            counts = core.count_numbers(values, low, high - low + 1)
            found = places(counts != 0)
            return core.wrap((found + low).astype(ar.dtype, copy=False), True)
    made = core.unwrap(sort(ar, axis=None))
    kept = numpy.empty(made.shape, bool)
    kept[0] = True
    numpy.not_equal(made[1:], made[:-1], out=kept[1:])
    if made.dtype.kind == "f" and numpy.isnan(made[-1]):
        first = numpy.searchsorted(made, made[-1])
        kept[first + 1 :] = False
    found = made[kept]
    place = numpy.searchsorted(found, 0)
    if made.dtype.kind == "f" and place < len(found) and found[place] == 0:
        values = plain(ar)
        found[place] = values[numpy.argmax(values == 0)]  # of 0.0 and -0.0 the first
    return core.wrap(found, True)


@native(numpy.median)
def median(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, keepdims: Any = False
) -> Any:
    if not isinstance(a, ndarray) or not a.size or a.ndim == 0:
        return NotImplemented
    if core.ranks() > 1 and in_pieces(a) and is_moved(a.dtype):
        return _numpys(numpy.median)(a, axis, out, overwrite_input, keepdims)
    if core.ranks() > 1 and overwrite_input:  # NumPy may only read what every rank has
        return median(a, axis, out, False, keepdims)
    if not is_large(a) or out is not None or keepdims or a.dtype.kind not in "iuf":
        return NotImplemented
    if axis is None or a.ndim == 1:
        right = axis in (None, 0, -1) and a.dtype.char in "dfilq"
        return _median_of_all(a) if right else NotImplemented
    return _median_along(a, axis) if isinstance(axis, int) else NotImplemented


def _median_along(a: Any, axis: int) -> Any:
    """Of each line, on all threads; lines are put in a row first, some at a time."""
    if not -a.ndim <= axis < a.ndim:
        return NotImplemented
    memory = numpy.moveaxis(core.unwrap(a), axis, -1)
    rest = memory.shape[:-1]
    like = numpy.median(numpy.empty(1, a.dtype))
    made = numpy.empty(rest, like.dtype)
    longest = max(range(len(rest)), key=rest.__getitem__)
    few = max(_LINES, rest[longest] * _SAMPLE // a.size)

    def part(share: slice) -> None:
        for start in range(share.start, share.stop, few):
            key = (slice(None),) * longest + (slice(start, min(start + few, share.stop)),)
            rows = numpy.array(memory[key], order="C")
            made[key] = numpy.median(rows, -1, overwrite_input=True)

    each(part, shares(rest[longest]))
    return core.wrap(made, True)


def _median_of_all(a: Any) -> Any:
    values = plain(a)
    half = len(values) // 2
    wanted = [half] if len(values) % 2 else [half - 1, half]
    found = _selected(values, wanted)
    return NotImplemented if found is None else numpy.median(found)


def _selected(values: Any, wanted: list[int]) -> Any:
    """Elements by their ranks, or a NaN if there is one; None where a sample does not help."""
    sample = numpy.sort(values[:: max(1, len(values) // _SAMPLE)])
    scale = len(sample) / len(values)
    low = sample[max(0, int(wanted[0] * scale) - _ASIDE)]
    high = sample[min(len(sample) - 1, int(wanted[-1] * scale) + _ASIDE)]
    if low == high:  # so many are equal that they are better counted than picked
        before, equal = (numpy.count_nonzero(found) for found in (values < low, values == low))
        sure = before <= wanted[0] and wanted[-1] < before + equal and not (values != values).any()
        return numpy.full(len(wanted), low) if sure else None
    before, nans, found = core.within(values, low, high)
    if nans:
        return numpy.full(1, numpy.nan, values.dtype)
    ranks = [rank - before for rank in wanted]
    if ranks[0] < 0 or ranks[-1] >= len(found):
        return None
    return numpy.partition(found, ranks)[ranks]
