"""Rows that are whole, transformed and sent on: each rank gets whole columns.

A few rows at a time, so that they are still in the cache when they are put into messages.
"""

from __future__ import annotations

from typing import Any

from dappled._agreeing import signalling
from dappled._array import core
from dappled._fourier import Step, dtypes, resized, transformed
from dappled._fourier_matrix import cuts, sent
from dappled._line import called_by_user
from dappled._threads import scratch, threads

# Elements that are transformed together by one thread.
_TOGETHER = 1 << 16


def is_in_rows(array: Any) -> bool:
    """Whether each rank has whole rows of a matrix, and as many columns as ranks can be had."""
    grid = array.distribution.grid_shape
    has_rows = array.ndim == 2 and grid == (core.ranks(), 1)
    return bool(has_rows and array.shape[1] >= core.ranks())


def in_columns(array: Any, step: Step) -> Any:
    """The rows of a matrix transformed, in whole columns."""
    own, shape = array.local, resized(array.shape, step)
    rows, columns = cuts(shape[0]), cuts(shape[1])
    start, stop = columns[core.rank()]
    target = scratch((shape[0], stop - start), dtypes(step, own.dtype)[1])
    parts = [scratch((len(own), high - low), target.dtype) for low, high in columns]
    parts[core.rank()] = target[slice(*rows[core.rank()])]
    signalling(lambda: called_by_user(_fill, parts, own, step, columns))
    came = sent(parts, [(high - low, stop - start) for low, high in rows])
    for (low, high), part in zip(rows, came, strict=True):
        if part is not None:
            target[low:high] = part
    return core.from_piece(core.placed("nb", shape), target, True)


def _fill(parts: list[Any], own: Any, step: Step, columns: list[tuple[int, int]]) -> None:
    few = max(1, threads() * _TOGETHER // max(1, own.shape[1]))
    for at in range(0, len(own), few):
        made = transformed(own[at : at + few], [step])
        for part, (low, high) in zip(parts, columns, strict=True):
            part[at : at + few] = made[:, low:high]
