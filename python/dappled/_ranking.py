"""What follows from the order of elements: unique, median, quantile, percentile.

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
from dappled._agreeing import signalling
from dappled._array import core, is_moved, ndarray, ufuncs
from dappled._large import is_large
from dappled._line import called_by_user
from dappled._native import native
from dappled._order import memory_order, turned
from dappled._piecewise import in_pieces
from dappled._rebind import rewrapped
from dappled._sorting import sort
from dappled._threads import each, places, plain, shares

# Elements of a sample, and how many ranks in it to each side the wanted one may be.
_SAMPLE = 1 << 14
_ASIDE = 400
# Lines that are put in a row at the same time: a cache line has elements of several.
_LINES = 16
# What may follow the axis of a quantile.
_OPTIONS = ("out", "overwrite_input", "method", "keepdims")


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
    if ar.dtype.kind in "iu" and ar.dtype != numpy.uint64:
        found = _numbers_there(ar.reshape(-1))
        if found is not None:
            return found
    # Each rank's own first, that there is less to send.
    own = numpy.unique(_rows.rows(ar.reshape(-1)), equal_nan=equal_nan)
    found = steps(_rows.joined_rows(own), return_index=True, equal_nan=equal_nan)[0]
    return _with_first(found, ar.reshape(-1), equal_nan)


def _numbers_there(row: Any) -> Any:
    """Whole numbers that are there, found by counting; None where they are too far apart."""
    values = _rows.read_rows(row).astype(numpy.int64, copy=False)
    own = numpy.array(core.extent(values) or (), numpy.int64)
    ends = numpy.concatenate(
        [numpy.frombuffer(one, numpy.int64) for one in core.gather("extents", own.tobytes())]
    )
    # A count for each on every rank: not more than a rank's share of the elements.
    if not len(ends) or int(ends.max()) - int(ends.min()) >= len(row) // core.ranks():
        return None
    low, length = int(ends.min()), int(ends.max() - ends.min()) + 1
    there = core.count_numbers(values, low, length) != 0
    starts = _rows.starts(length)
    parts = _rows.sent("numbers that are there", numpy.split(there, starts[1:-1]))
    found = places(functools.reduce(numpy.logical_or, parts)) + (low + starts[core.rank()])
    return _rows.joined_rows(found.astype(row.dtype, copy=False))


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
        all_of_it = axis is None and out is None and not keepdims and _is_selected(a.dtype)
        found = _median_on_ranks(a.reshape(-1)) if all_of_it else None
        if found is None and out is None and not keepdims and not overwrite_input:
            found = _in_its_order(a, axis, _median_of_rows)
        steps = _numpys(numpy.median)
        return steps(a, axis, out, overwrite_input, keepdims) if found is None else found
    if core.ranks() > 1 and overwrite_input:  # NumPy may only read what every rank has
        return median(a, axis, out, False, keepdims)
    if not is_large(a) or out is not None or keepdims or a.dtype.kind not in "iuf":
        return NotImplemented
    if axis is None or a.ndim == 1:
        right = axis in (None, 0, -1) and _is_selected(a.dtype)
        return _median_of_all(a) if right else NotImplemented
    return _along(a, axis, _median_of_rows)


def _in_its_order(a: Any, axis: Any, compute: Callable[[Any], Any]) -> Any:
    """What comes of each line in pieces, in memory as the lines are; None where they are none."""
    if type(axis) is not int or not -a.ndim <= axis < a.ndim:
        return None
    axes = memory_order(a, a.ndim, "K")
    found = _along_on_ranks(a.transpose(axes), axes.index(axis % a.ndim), compute)
    rest = [one - (one > axis % a.ndim) for one in axes if one != axis % a.ndim]
    return None if found is None else turned(found, rest)


def _median_of_rows(rows: Any) -> Any:
    return numpy.median(rows, -1, overwrite_input=True)


def _is_selected(dtype: Any) -> bool:
    """Are elements of this kind compared by the core?"""
    return bool(dtype.isnative and dtype.char in "dfilq")


def _quantile(
    function: Any, a: Any, q: Any, axis: Any, more: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """`quantile` or `percentile` of each line of a large array, on all threads."""
    if len(more) > len(_OPTIONS):
        return NotImplemented
    options = dict(zip(_OPTIONS, more, strict=False)) | options
    rare = options.keys() - {"overwrite_input", "method"}
    known = {**options, "overwrite_input": True}

    def compute(rows: Any) -> Any:
        return function(rows, q, -1, **known)

    if core.ranks() > 1:
        plain = not rare and not isinstance(q, ndarray) and not options.get("overwrite_input")
        found = _along_on_ranks(a, axis, compute) if plain and in_pieces(a) else None
        return _numpys(function)(a, q, axis, **options) if found is None else found
    lines = is_large(a) and a.ndim > 1 and a.size and a.dtype.kind in "iuf"
    if rare or not lines or isinstance(q, ndarray):
        return NotImplemented
    return _along(a, axis, compute)


@native(numpy.quantile)
def quantile(a: Any, q: Any, axis: Any = None, *more: Any, **options: Any) -> Any:
    return _quantile(numpy.quantile, a, q, axis, more, options)


@native(numpy.percentile)
def percentile(a: Any, q: Any, axis: Any = None, *more: Any, **options: Any) -> Any:
    return _quantile(numpy.percentile, a, q, axis, more, options)


def _along(a: Any, axis: Any, compute: Callable[[Any], Any]) -> Any:
    """What comes of each line, on all threads."""
    if type(axis) is not int or not -a.ndim <= axis < a.ndim:
        return NotImplemented
    memory = numpy.moveaxis(core.unwrap(a), axis, -1)
    return core.wrap(_of_lines(memory, compute, _longest(memory.shape[:-1])), True)


def _longest(shape: tuple[int, ...]) -> int:
    return max(range(len(shape)), key=shape.__getitem__)


def _of_lines(memory: Any, compute: Callable[[Any], Any], shared: int) -> Any:
    """What comes of each line along the last axis, on all threads, which share another; lines are
    put in a row first, some at a time.
    """
    rest = memory.shape[:-1]
    like = numpy.asarray(compute(numpy.ones(1, memory.dtype)))
    made = numpy.empty((*like.shape, *rest), like.dtype)
    few = max(_LINES, rest[shared] * _SAMPLE // max(memory.size, 1))
    before = (slice(None),) * like.ndim

    def part(share: slice) -> None:
        for start in range(share.start, share.stop, few):
            key = (slice(None),) * shared + (slice(start, min(start + few, share.stop)),)
            made[before + key] = compute(numpy.array(memory[key], order="C"))

    each(part, shares(rest[shared]))
    return made


def _along_on_ranks(a: Any, axis: Any, compute: Callable[[Any], Any]) -> Any:
    """The same in pieces: each rank gets whole lines, and has what comes of them; None where lines
    are none, or not of the core's elements.
    """
    known = type(axis) is int and -a.ndim <= axis < a.ndim and a.ndim > 1 and a.size
    if not known or a.dtype.kind not in "iuf" or not a.dtype.isnative:
        return None
    rest = a.shape[: axis % a.ndim] + a.shape[axis % a.ndim + 1 :]
    shared = _longest(rest)
    kinds = ["n"] * len(rest)
    kinds[shared] = "b"
    lines = [*kinds]
    lines.insert(axis % a.ndim, "n")
    piece, _ = core.part(a, a.shape, core.placed("".join(lines), a.shape))
    rows = numpy.moveaxis(piece, axis, -1)
    made = signalling(lambda: called_by_user(_of_lines, rows, compute, shared))
    more = made.ndim - len(rest)
    shape = (*made.shape[:more], *rest)
    target = core.placed("n" * more + "".join(kinds), shape)
    return _rows.settled(core.from_piece(target, _rows.solid(made), True))


def _median_of_all(a: Any) -> Any:
    values = plain(a)
    half = len(values) // 2
    wanted = [half] if len(values) % 2 else [half - 1, half]
    found = _selected(values, wanted)
    return NotImplemented if found is None else numpy.median(found)


def _median_on_ranks(row: Any) -> Any:
    """Selected: the few that are near it are sorted; None where a sample does not help."""
    values, half = _rows.read_rows(row), len(row) // 2
    wanted = [half] if len(row) % 2 else [half - 1, half]
    step = max(1, len(row) // _SAMPLE)
    sent = core.gather("a sample", numpy.ascontiguousarray(values[::step]).tobytes())
    low, high = _around(numpy.concatenate([_read(one, row) for one in sent]), len(row), wanted)
    if not low < high:
        return None
    before, nans, found = core.within(values, low, high)
    sent = core.gather("counts", numpy.array([before, nans], numpy.int64).tobytes())
    before, nans = numpy.sum([numpy.frombuffer(one, numpy.int64) for one in sent], axis=0)
    near = _rows.joined_rows(found)
    if nans:
        return numpy.median(numpy.full(1, numpy.nan, row.dtype))
    ranks = [rank - int(before) for rank in wanted]
    if ranks[0] < 0 or ranks[-1] >= len(near):
        return None
    ordered = sort(near)
    return numpy.median(numpy.array([ordered[rank] for rank in ranks]))


def _read(bytes: bytes, like: Any) -> Any:
    return numpy.frombuffer(bytes, like.dtype)


def _around(sample: Any, length: int, wanted: list[int]) -> tuple[Any, Any]:
    """Two values of a sample between which elements of these ranks should be."""
    sample = numpy.sort(sample)
    scale = len(sample) / length
    low = sample[max(0, int(wanted[0] * scale) - _ASIDE)]
    return low, sample[min(len(sample) - 1, int(wanted[-1] * scale) + _ASIDE)]


def _selected(values: Any, wanted: list[int]) -> Any:
    """Elements by their ranks, or a NaN if there is one; None where a sample does not help."""
    sample = values[:: max(1, len(values) // _SAMPLE)]
    low, high = _around(sample, len(values), wanted)
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
