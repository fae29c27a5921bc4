"""Transforms of distributed arrays by pencil decomposition.

Along axes that are local, a rank transforms its piece without communication; then the array is
redistributed so that other axes are local. The result keeps that distribution: a forward and an
inverse transform redistribute twice, not four times.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

from dappled._dispatch.callsite import call_from_user_frame
from dappled._ndarray.core import core
from dappled._ndarray.memory_order import memory_order, undo_transpose
from dappled._ranks.consensus import collective_errstate
from dappled.fft._local import Step, transform, transformed_shape
from dappled.fft._one_dimensional import transform_lines
from dappled.fft._row_transforms import has_local_rows, transform_rows_to_columns
from dappled.protocol import Distribution


def transform_distributed(array: Any, steps: list[Step]) -> Any:
    """The transform of a distributed array, in its memory order."""
    axes = memory_order(array, array.ndim, "K")
    array = array.transpose(axes)
    for phase in _phases([step._replace(axis=axes.index(step.axis)) for step in steps]):
        array = _transform_phase(array, phase)
    return undo_transpose(array, axes)


def _phases(steps: list[Step]) -> Iterator[list[Step]]:
    """Groups of steps that commute: complex ones along different axes."""
    groups = itertools.groupby(steps, lambda step: step.what)
    for phase in (list(group) for _, group in groups):
        axes = [step.axis for step in phase]
        yield from [phase] if len(set(axes)) == len(axes) else ([step] for step in phase)


def _transform_phase(array: Any, steps: list[Step]) -> Any:
    todo = steps
    while todo:
        array = _as_equal_blocks(array)
        whole = [axis for axis, ranks in enumerate(array.distribution.grid_shape) if ranks == 1]
        now = [step for step in todo if step.axis in whole]
        if now:
            todo = [step for step in todo if step not in now]
            array = (
                transform_rows_to_columns(array, now[0])
                if todo and has_local_rows(array)
                else _transform_local(array, now)
            )
            continue
        kinds = _pencil_letters(array.shape, [step.axis for step in todo])
        if kinds is None:
            array = transform_lines(array, todo[-1])
            todo = todo[:-1]
        else:
            array = array.redistribute(kinds)
    return array


def _as_equal_blocks(array: Any) -> Any:
    """The array in blocks of equal size."""
    try:
        distribution = array.distribution
    except ValueError:  # a view, which has no distribution of its own
        return array.redistribute("b" * array.ndim)
    return (
        array
        if _block_distribution(distribution, array.shape) == distribution
        else array.redistribute("b" * array.ndim)
    )


def _block_distribution(distribution: Any, shape: tuple[int, ...]) -> Any:
    """The distribution of a shape on a distribution's grid, in blocks of equal size."""
    kinds = "".join("n" if kind == "n" else "b" for kind in distribution.dist)
    return Distribution(shape, kinds, grid_shape=distribution.grid_shape)


def _transform_local(array: Any, steps: list[Step]) -> Any:
    """Transforms along local axes."""
    shape, distribution = array.shape, array.distribution
    for step in steps:
        shape = transformed_shape(shape, step)
    result = collective_errstate(lambda: call_from_user_frame(transform, array.local, steps))
    return core.from_piece(_block_distribution(distribution, shape), _as_c_order(result), True)


def _as_c_order(piece: Any) -> Any:
    return piece if piece.flags.c_contiguous else piece.copy(order="C")


def _pencil_letters(shape: tuple[int, ...], axes: list[int]) -> str | None:
    """The letters of a distribution in which as many axes as possible are local; None if none can
    be.
    """
    for count in range(len(axes)):
        cut = set(range(len(shape))) - set(axes[count:])
        if math.prod(shape[axis] for axis in cut) >= core.ranks():
            return "".join("b" if axis in cut else "n" for axis in range(len(shape)))
    return None
