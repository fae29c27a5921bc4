"""median, quantile and percentile.

NumPy's own code runs over order statistics that the core selects; along an axis of several it runs
on whole lines, on all ranks and threads.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy

from dappled._dispatch.callsite import call_from_user_frame
from dappled._dispatch.implements import implements
from dappled._dispatch.rebind import rebound_and_wrapped
from dappled._ndarray.core import core, is_communicable, is_native, ndarray
from dappled._ndarray.memory_order import memory_order, undo_transpose
from dappled._ndarray.threaded_indexing import is_large
from dappled._ranks.consensus import collective_errstate
from dappled._ranks.map_blocks import is_distributed
from dappled._routines._distributed import row_blocks
from dappled._routines._distributed.threads import map_threads, thread_slices

# Elements that are copied together along other axes than the lines.
_ELEMENTS_PER_COPY = 1 << 14
# Quantiles that are selected; for more, sorting is faster.
_MAX_SELECTED_QUANTILES = 32
# Lines that are copied together: a cache line contains elements of several.
_LINES_PER_COPY = 16
# Parameters after the axis of a quantile.
_OPTIONS = ("out", "overwrite_input", "method", "keepdims")


@functools.cache
def _rebound_function(function: Any) -> Callable[..., Any]:
    return rebound_and_wrapped(function)


class _OrderStatistics(numpy.ndarray[Any, Any]):
    """A row without elements of its own: NumPy's code gets those that it asks to partition.

    All ranks select them.
    """

    _array: Any
    _selected: dict[int, Any]

    def __new__(cls, array: Any) -> Any:
        row = numpy.broadcast_to(numpy.zeros((), array.dtype), array.size).view(cls)
        row._array, row._selected = array, {}
        return row

    def flatten(self, order: Any = "C") -> Any:
        return self

    ravel = copy = flatten

    def partition(self, kth: Any, axis: Any = -1, kind: Any = None, order: Any = None) -> None:
        positions = numpy.unique(numpy.asarray(kth) % self.size).tolist()
        values = core.unwrap(core.order_statistics(self._array, positions))
        self._selected = dict(zip(positions, values, strict=True))

    def take(self, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise") -> Any:
        positions = numpy.asarray(indices) % self.size
        values = [self._selected[position] for position in positions.reshape(-1).tolist()]
        result = numpy.array(values, self.dtype).reshape(positions.shape)
        return result if positions.ndim else result[()]

    def __getitem__(self, key: Any) -> Any:
        key = key[0] if isinstance(key, tuple) else key
        return self.take(range(self.size)[key] if isinstance(key, slice) else key)


def _is_selectable(a: Any, axis: Any) -> bool:
    """Whether the core selects among all elements, which NumPy's code orders as one row."""
    is_row = axis is None or (a.ndim == 1 and type(axis) is int and axis in (0, -1))
    return is_row and is_native(a.dtype) and a.dtype.kind in "biuf" and a.size > 0


@implements(numpy.median)
def median(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, keepdims: Any = False
) -> Any:
    if not isinstance(a, ndarray) or not a.size or a.ndim == 0:
        return NotImplemented
    plain = out is None and not keepdims
    if core.ranks() > 1 and is_distributed(a) and is_communicable(a.dtype):
        if plain and _is_selectable(a, axis):
            return call_from_user_frame(numpy.median, _OrderStatistics(a))
        result = None
        if plain and not overwrite_input:
            result = _in_memory_order(a, axis, _median_of_rows)
        steps = _rebound_function(numpy.median)
        return steps(a, axis, out, overwrite_input, keepdims) if result is None else result
    if core.ranks() > 1 and overwrite_input:  # replicated arrays are read-only for NumPy
        return median(a, axis, out, False, keepdims)
    if not is_large(a) or not plain or a.dtype.kind not in "iuf":
        return NotImplemented
    if axis is None or a.ndim == 1:
        if not _is_selectable(a, axis):
            return NotImplemented
        return call_from_user_frame(numpy.median, _OrderStatistics(a))
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

    plain = not rare and not isinstance(q, ndarray)
    if core.ranks() > 1:
        plain = plain and not options.get("overwrite_input")
        if plain and is_distributed(a):
            if _is_selectable(a, axis) and numpy.size(q) <= _MAX_SELECTED_QUANTILES:
                return _select_quantiles(function, a, q, options)
            result = _map_distributed_lines(a, axis, compute)
            if result is not None:
                return result
        return _rebound_function(function)(a, q, axis, **options)
    if not plain or not is_large(a) or not a.size or a.dtype.kind not in "iuf":
        return NotImplemented
    if a.ndim > 1 and axis is not None:
        return _map_lines(a, axis, compute)
    if not _is_selectable(a, axis) or numpy.size(q) > _MAX_SELECTED_QUANTILES:
        return NotImplemented
    return _select_quantiles(function, a, q, options)


def _select_quantiles(function: Any, a: Any, q: Any, options: dict[str, Any]) -> Any:
    """Quantiles of all elements: NumPy's scalar, or our array."""
    result = call_from_user_frame(function, _OrderStatistics(a), q, **options)
    return core.wrap(result, True) if isinstance(result, numpy.ndarray) else result


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
    sample = max(_LINES_PER_COPY, rest[shared] * _ELEMENTS_PER_COPY // max(memory.size, 1))
    before = (slice(None),) * like.ndim

    def part(share: slice) -> None:
        for start in range(share.start, share.stop, sample):
            key = (slice(None),) * shared + (slice(start, min(start + sample, share.stop)),)
            result[before + key] = compute(numpy.array(memory[key], order="C"))

    map_threads(part, thread_slices(rest[shared]))
    return result


def _map_distributed_lines(a: Any, axis: Any, compute: Callable[[Any], Any]) -> Any:
    """The result for each line of a distributed array; None if there is no such axis.

    Each rank gets whole lines, unless there are too few.
    """
    known = type(axis) is int and -a.ndim <= axis < a.ndim and a.ndim > 1 and a.size
    if not known or a.dtype.kind not in "iuf" or not a.dtype.isnative:
        return None
    rest = a.shape[: axis % a.ndim] + a.shape[axis % a.ndim + 1 :]
    if math.prod(rest) < core.ranks() and is_native(a.dtype):
        return _select_lines(numpy.moveaxis(a, axis, -1), compute)
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


def _select_lines(lines: Any, compute: Callable[[Any], Any]) -> Any:
    """The result for each line along the last axis, from order statistics of one after another."""
    rest = lines.shape[:-1]
    rows = (_OrderStatistics(lines[index]) for index in numpy.ndindex(rest))
    stacked = numpy.stack([call_from_user_frame(compute, row) for row in rows], -1)
    return core.wrap(stacked.reshape(*stacked.shape[:-1], *rest), True)
