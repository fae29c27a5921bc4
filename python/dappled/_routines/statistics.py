"""median, quantile and percentile.

On distributed arrays NumPy's Python code runs over our sort and selection. In one process a median
is selected: a sample bounds it, and all elements are compared once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy

from dappled._dispatch.callsite import call_from_user_frame
from dappled._dispatch.implements import implements
from dappled._dispatch.rebind import rebound_and_wrapped
from dappled._ndarray.core import core, is_communicable, ndarray
from dappled._ndarray.memory_order import memory_order, undo_transpose
from dappled._ndarray.threaded_indexing import is_large
from dappled._ranks.consensus import collective_errstate
from dappled._ranks.map_blocks import is_distributed
from dappled._routines._distributed import row_blocks
from dappled._routines._distributed.threads import (
    as_contiguous_row,
    map_threads,
    thread_slices,
)
from dappled._routines.sorting import sort

# Elements of a sample, and the margin of order statistics in it.
_SAMPLE_SIZE = 1 << 14
_SAMPLE_MARGIN = 400
# Lines that are copied together: a cache line contains elements of several.
_LINES_PER_COPY = 16
# Parameters after the axis of a quantile.
_OPTIONS = ("out", "overwrite_input", "method", "keepdims")


@functools.cache
def _rebound_function(function: Any) -> Callable[..., Any]:
    return rebound_and_wrapped(function)


@implements(numpy.median)
def median(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, keepdims: Any = False
) -> Any:
    if not isinstance(a, ndarray) or not a.size or a.ndim == 0:
        return NotImplemented
    if core.ranks() > 1 and is_distributed(a) and is_communicable(a.dtype):
        all_of_it = axis is None and out is None and not keepdims and _is_selectable(a.dtype)
        result = _median_on_ranks(a.reshape(-1)) if all_of_it else None
        if result is None and out is None and not keepdims and not overwrite_input:
            result = _in_memory_order(a, axis, _median_of_rows)
        steps = _rebound_function(numpy.median)
        return steps(a, axis, out, overwrite_input, keepdims) if result is None else result
    if core.ranks() > 1 and overwrite_input:  # replicated arrays are read-only for NumPy
        return median(a, axis, out, False, keepdims)
    if not is_large(a) or out is not None or keepdims or a.dtype.kind not in "iuf":
        return NotImplemented
    if axis is None or a.ndim == 1:
        right = axis in (None, 0, -1) and _is_selectable(a.dtype)
        return _median_in_process(a) if right else NotImplemented
    return _map_lines(a, axis, _median_of_rows)


def _in_memory_order(a: Any, axis: Any, compute: Callable[[Any], Any]) -> Any:
    """The result for each line, in the memory order of the lines; None if there is no such axis."""
    if type(axis) is not int or not -a.ndim <= axis < a.ndim:
        return None
    axes = memory_order(a, a.ndim, "K")
    result = _map_distributed_lines(a.transpose(axes), axes.index(axis % a.ndim), compute)
    rest = [one - (one > axis % a.ndim) for one in axes if one != axis % a.ndim]
    return None if result is None else undo_transpose(result, rest)


def _median_of_rows(rows: Any) -> Any:
    return numpy.median(rows, -1, overwrite_input=True)


def _is_selectable(dtype: Any) -> bool:
    """Whether the core compares elements of this dtype."""
    return bool(dtype.isnative and dtype.char in "dfilq")


def _quantile(
    function: Any, a: Any, q: Any, axis: Any, more: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """`quantile` or `percentile` of each line of a large array."""
    if len(more) > len(_OPTIONS):
        return NotImplemented
    options = dict(zip(_OPTIONS, more, strict=False)) | options
    rare = options.keys() - {"overwrite_input", "method"}
    known = {**options, "overwrite_input": True}

    def compute(rows: Any) -> Any:
        return function(rows, q, -1, **known)

    if core.ranks() > 1:
        plain = not rare and not isinstance(q, ndarray) and not options.get("overwrite_input")
        result = _map_distributed_lines(a, axis, compute) if plain and is_distributed(a) else None
        return _rebound_function(function)(a, q, axis, **options) if result is None else result
    lines = is_large(a) and a.ndim > 1 and a.size and a.dtype.kind in "iuf"
    if rare or not lines or isinstance(q, ndarray):
        return NotImplemented
    return _map_lines(a, axis, compute)


@implements(numpy.quantile)
def quantile(a: Any, q: Any, axis: Any = None, *more: Any, **options: Any) -> Any:
    return _quantile(numpy.quantile, a, q, axis, more, options)


@implements(numpy.percentile)
def percentile(a: Any, q: Any, axis: Any = None, *more: Any, **options: Any) -> Any:
    return _quantile(numpy.percentile, a, q, axis, more, options)


def _map_lines(a: Any, axis: Any, compute: Callable[[Any], Any]) -> Any:
    """The result for each line, on all threads."""
    if type(axis) is not int or not -a.ndim <= axis < a.ndim:
        return NotImplemented
    memory = numpy.moveaxis(core.unwrap(a), axis, -1)
    return core.wrap(_compute_lines(memory, compute, _longest_axis(memory.shape[:-1])), True)


def _longest_axis(shape: tuple[int, ...]) -> int:
    return max(range(len(shape)), key=shape.__getitem__)


def _compute_lines(memory: Any, compute: Callable[[Any], Any], shared: int) -> Any:
    """The result for each line along the last axis; threads divide another axis.

    Lines are copied to contiguous memory, some at a time.
    """
    rest = memory.shape[:-1]
    like = numpy.asarray(compute(numpy.ones(1, memory.dtype)))
    result = numpy.empty((*like.shape, *rest), like.dtype)
    sample = max(_LINES_PER_COPY, rest[shared] * _SAMPLE_SIZE // max(memory.size, 1))
    before = (slice(None),) * like.ndim

    def part(share: slice) -> None:
        for start in range(share.start, share.stop, sample):
            key = (slice(None),) * shared + (slice(start, min(start + sample, share.stop)),)
            result[before + key] = compute(numpy.array(memory[key], order="C"))

    map_threads(part, thread_slices(rest[shared]))
    return result


def _map_distributed_lines(a: Any, axis: Any, compute: Callable[[Any], Any]) -> Any:
    """The result for each line of a distributed array; None if there is no such axis.

    Each rank gets whole lines.
    """
    known = type(axis) is int and -a.ndim <= axis < a.ndim and a.ndim > 1 and a.size
    if not known or a.dtype.kind not in "iuf" or not a.dtype.isnative:
        return None
    rest = a.shape[: axis % a.ndim] + a.shape[axis % a.ndim + 1 :]
    shared = _longest_axis(rest)
    kinds = ["n"] * len(rest)
    kinds[shared] = "b"
    lines = [*kinds]
    lines.insert(axis % a.ndim, "n")
    piece, _ = core.part(a, a.shape, core.placed("".join(lines), a.shape))
    rows = numpy.moveaxis(piece, axis, -1)
    result = collective_errstate(
        lambda: call_from_user_frame(_compute_lines, rows, compute, shared)
    )
    more = result.ndim - len(rest)
    shape = (*result.shape[:more], *rest)
    target = core.placed("n" * more + "".join(kinds), shape)
    return row_blocks.to_default_layout(
        core.from_piece(target, row_blocks.contiguous_copy(result), True)
    )


def _median_in_process(a: Any) -> Any:
    values = as_contiguous_row(a)
    half = len(values) // 2
    wanted = [half] if len(values) % 2 else [half - 1, half]
    result = _select(values, wanted)
    return NotImplemented if result is None else numpy.median(result)


def _median_on_ranks(row: Any) -> Any:
    """The median by selection among the elements near it; None where a sample does not help."""
    values, half = row_blocks.read_local_rows(row), len(row) // 2
    wanted = [half] if len(row) % 2 else [half - 1, half]
    step = max(1, len(row) // _SAMPLE_SIZE)
    sent = core.gather("a sample", numpy.ascontiguousarray(values[::step]).tobytes())
    low, high = _sample_bounds(
        numpy.concatenate([_read(one, row) for one in sent]), len(row), wanted
    )
    if not low < high:
        return None
    before, nans, result = core.within(values, low, high)
    sent = core.gather("counts", numpy.array([before, nans], numpy.int64).tobytes())
    before, nans = numpy.sum([numpy.frombuffer(one, numpy.int64) for one in sent], axis=0)
    near = row_blocks.concatenate_ranks(result)
    if nans:
        return numpy.median(numpy.full(1, numpy.nan, row.dtype))
    ranks = [rank - int(before) for rank in wanted]
    if ranks[0] < 0 or ranks[-1] >= len(near):
        return None
    ordered = sort(near)
    return numpy.median(numpy.array([ordered[rank] for rank in ranks]))


def _read(bytes: bytes, like: Any) -> Any:
    return numpy.frombuffer(bytes, like.dtype)


def _sample_bounds(sample: Any, length: int, wanted: list[int]) -> tuple[Any, Any]:
    """Two sample values that should bound the elements of these order statistics."""
    sample = numpy.sort(sample)
    scale = len(sample) / length
    low = sample[max(0, int(wanted[0] * scale) - _SAMPLE_MARGIN)]
    return low, sample[min(len(sample) - 1, int(wanted[-1] * scale) + _SAMPLE_MARGIN)]


def _select(values: Any, wanted: list[int]) -> Any:
    """Elements by order statistic, or a NaN if there is one; None where a sample does not help."""
    sample = values[:: max(1, len(values) // _SAMPLE_SIZE)]
    low, high = _sample_bounds(sample, len(values), wanted)
    if low == high:  # many equal elements: counting is faster than selection
        before, equal = (numpy.count_nonzero(result) for result in (values < low, values == low))
        sure = before <= wanted[0] and wanted[-1] < before + equal and not (values != values).any()
        return numpy.full(len(wanted), low) if sure else None
    before, nans, result = core.within(values, low, high)
    if nans:
        return numpy.full(1, numpy.nan, values.dtype)
    ranks = [rank - before for rank in wanted]
    if ranks[0] < 0 or ranks[-1] >= len(result):
        return None
    return numpy.partition(result, ranks)[ranks]
