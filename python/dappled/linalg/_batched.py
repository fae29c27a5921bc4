"""Stacks of matrices, divided over ranks and threads."""

from __future__ import annotations

import functools
import itertools
import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy

from dappled._ndarray.core import core
from dappled._ranks.consensus import collective_try
from dappled._routines._distributed.threads import submit
from dappled.protocol import Distribution

# Below the first limit threads cost more than they save; above the second LAPACK has threads of its
# own.
_MIN_STACK_ELEMENTS, _MAX_MATRIX_ELEMENTS = 1 << 13, 1 << 14


def map_stacks_on_ranks(
    function: Callable[..., Any], arrays: list[Any], batch: tuple[int, ...]
) -> Any:
    """A function of stacks, of which every rank has whole matrices."""
    stacks = [array._broadcast_to((*batch, *array.shape[-2:])) for array in arrays]
    kinds = "b" * len(batch) + "nn"
    placed = [stack.redistribute(kinds) for stack in stacks]
    grid = placed[0].distribution.grid_shape[: len(batch)]
    result = collective_try(
        lambda: map_stacks_on_threads(function, [array.local for array in placed])
    )
    return _map_results(lambda piece: _stack_from_piece(piece, batch, grid), result)


def _stack_from_piece(piece: Any, batch: tuple[int, ...], grid: tuple[int, ...]) -> Any:
    piece = numpy.asarray(piece)
    inner = piece.shape[len(batch) :]
    kinds = "b" * len(batch) + "n" * len(inner)
    distribution = Distribution((*batch, *inner), kinds, grid_shape=(*grid, *(1 for _ in inner)))
    return core.from_piece(distribution, numpy.ascontiguousarray(piece), True)


def map_stacks_on_threads(function: Callable[..., Any], stacks: list[Any]) -> Any:
    """A function of NumPy stacks, divided along the first axis over threads."""
    length, threads = len(stacks[0]), min(core.cpu()[1], len(stacks[0]))
    if threads < 2 or not is_worth_threads(stacks[0].shape):
        return function(*stacks)
    bounds = [length * part // threads for part in range(threads + 1)]
    parts = [[stack[start:stop] for stack in stacks] for start, stop in itertools.pairwise(bounds)]
    pool = _pool(threads, os.getpid())
    running = [submit(pool, lambda part: function(*part), part) for part in parts]
    result = [one.result() for one in running]
    if not isinstance(result[0], tuple):
        return numpy.concatenate(result)
    columns = [numpy.concatenate(column) for column in zip(*result, strict=True)]
    return _like_tuple(result[0], columns)


def is_worth_threads(shape: tuple[int, ...]) -> bool:
    """Whether a stack is large enough for threads, and its matrices small enough."""
    return bool(
        len(shape) > 2
        and shape[0] > 1
        and math.prod(shape) >= _MIN_STACK_ELEMENTS
        and math.prod(shape[-2:]) <= _MAX_MATRIX_ELEMENTS
    )


@functools.cache
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    """The threads of this process; a fork has none of its parent's."""
    return ThreadPoolExecutor(threads)


def _map_results(act: Callable[[Any], Any], result: Any) -> Any:
    return _like_tuple(result, list(map(act, result))) if isinstance(result, tuple) else act(result)


def _like_tuple(result: Any, items: list[Any]) -> Any:
    """Items in a tuple of the same class."""
    kind = type(result)
    return kind._make(items) if hasattr(kind, "_make") else kind(items)
