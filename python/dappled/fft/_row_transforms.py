"""Row transforms of a matrix, pipelined with its transposition.

A few rows at a time, so that they are in cache when they are copied into messages.
"""

from __future__ import annotations

from typing import Any

from dappled._dispatch.callsite import call_from_user_frame
from dappled._ndarray.core import core
from dappled._ranks.consensus import collective_errstate
from dappled._routines._distributed.threads import scratch, thread_count
from dappled.fft._four_step import all_to_all, block_bounds
from dappled.fft._local import Step, step_dtypes, transform, transformed_shape

# Elements that one thread transforms together.
_ELEMENTS_PER_THREAD = 1 << 16


def has_local_rows(array: Any) -> bool:
    """Whether each rank has whole rows of a matrix with at least as many columns as ranks."""
    grid = array.distribution.grid_shape
    has_rows = array.ndim == 2 and grid == (core.ranks(), 1)
    return bool(has_rows and array.shape[1] >= core.ranks())


def transform_rows_to_columns(array: Any, step: Step) -> Any:
    """The rows of a matrix transformed, distributed by whole columns."""
    own, shape = array.local, transformed_shape(array.shape, step)
    rows, columns = block_bounds(shape[0]), block_bounds(shape[1])
    start, stop = columns[core.rank()]
    target = scratch((shape[0], stop - start), step_dtypes(step, own.dtype)[1])
    parts = [scratch((len(own), high - low), target.dtype) for low, high in columns]
    parts[core.rank()] = target[slice(*rows[core.rank()])]
    collective_errstate(lambda: call_from_user_frame(_fill_messages, parts, own, step, columns))
    received = all_to_all(parts, [(high - low, stop - start) for low, high in rows])
    for (low, high), part in zip(rows, received, strict=True):
        if part is not None:
            target[low:high] = part
    return core.from_piece(core.placed("nb", shape), target, True)


def _fill_messages(parts: list[Any], own: Any, step: Step, columns: list[tuple[int, int]]) -> None:
    sample = max(1, thread_count() * _ELEMENTS_PER_THREAD // max(1, own.shape[1]))
    for at in range(0, len(own), sample):
        result = transform(own[at : at + sample], [step])
        for part, (low, high) in zip(parts, columns, strict=True):
            part[at : at + sample] = result[:, low:high]
