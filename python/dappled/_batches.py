"""Functions of matrices for stacks of them: each rank, and each thread, has some of the stack."""

from __future__ import annotations

import functools
import itertools
import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy

from dappled._agreeing import agreed
from dappled._array import core
from dappled._threads import submit
from dappled.protocol import Distribution

# Below so many elements of a stack threads cost more than they save; and above so many of a matrix
# LAPACK has threads of its own.
_SMALL, _LARGE = 1 << 13, 1 << 14


def on_ranks(function: Callable[..., Any], arrays: list[Any], batch: tuple[int, ...]) -> Any:
    """A function of stacks of which every rank has some matrices whole."""
    stacks = [array._broadcast_to((*batch, *array.shape[-2:])) for array in arrays]
    kinds = "b" * len(batch) + "nn"
    placed = [stack.redistribute(kinds) for stack in stacks]
    grid = placed[0].distribution.grid_shape[: len(batch)]
    found = agreed(lambda: on_threads(function, [array.local for array in placed]))
    return _each(lambda piece: _joined(piece, batch, grid), found)


def _joined(piece: Any, batch: tuple[int, ...], grid: tuple[int, ...]) -> Any:
    piece = numpy.asarray(piece)
    inner = piece.shape[len(batch) :]
    kinds = "b" * len(batch) + "n" * len(inner)
    lies = Distribution((*batch, *inner), kinds, grid_shape=(*grid, *(1 for _ in inner)))
    return core.from_piece(lies, numpy.ascontiguousarray(piece), True)


def on_threads(function: Callable[..., Any], stacks: list[Any]) -> Any:
    """The same with NumPy's arrays of one stack shape, cut along the first axis for all threads."""
    length, threads = len(stacks[0]), min(core.cpu()[1], len(stacks[0]))
    if threads < 2 or not is_worth(stacks[0].shape):
        return function(*stacks)
    bounds = [length * part // threads for part in range(threads + 1)]
    parts = [[stack[start:stop] for stack in stacks] for start, stop in itertools.pairwise(bounds)]
    pool = _pool(threads, os.getpid())
    running = [submit(pool, lambda part: function(*part), part) for part in parts]
    made = [one.result() for one in running]
    if not isinstance(made[0], tuple):
        return numpy.concatenate(made)
    columns = [numpy.concatenate(column) for column in zip(*made, strict=True)]
    return _like(made[0], columns)


def is_worth(shape: tuple[int, ...]) -> bool:
    """Whether a stack of matrices is large enough for threads, and its matrices small enough."""
    return bool(
        len(shape) > 2
        and shape[0] > 1
        and math.prod(shape) >= _SMALL
        and math.prod(shape[-2:]) <= _LARGE
    )


@functools.cache
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    """Threads of this process: those of its parent are not here."""
    return ThreadPoolExecutor(threads)


def _each(act: Callable[[Any], Any], found: Any) -> Any:
    return _like(found, list(map(act, found))) if isinstance(found, tuple) else act(found)


def _like(found: Any, items: list[Any]) -> Any:
    """Items in a tuple of the same class."""
    kind = type(found)
    return kind._make(items) if hasattr(kind, "_make") else kind(items)
