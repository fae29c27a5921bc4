"""Fourier transforms of arrays in pieces, in pencils.

Along an axis of which each rank has whole lines, a rank transforms its piece, and nothing is sent.
Then the array is moved so that other axes are whole. The result stays as it lies then: whoever goes
there and back moves the array twice, and not four times.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

from dappled._agreeing import signalling
from dappled._array import core
from dappled._fourier import Step, resized, transformed
from dappled._fourier_line import by_lines
from dappled._fourier_rows import in_columns, is_in_rows
from dappled._line import called_by_user
from dappled._order import memory_order, turned
from dappled.protocol import Distribution


def spread(array: Any, steps: list[Step]) -> Any:
    """The transform of an array in pieces, its axes as they lie in memory."""
    axes = memory_order(array, array.ndim, "K")
    array = array.transpose(axes)
    for phase in _phases([step._replace(axis=axes.index(step.axis)) for step in steps]):
        array = _in_any_order(array, phase)
    return turned(array, axes)


def _phases(steps: list[Step]) -> Iterator[list[Step]]:
    """Steps that may be done in any order: complex ones along different axes."""
    groups = itertools.groupby(steps, lambda step: step.what)
    for phase in (list(group) for _, group in groups):
        axes = [step.axis for step in phase]
        yield from [phase] if len(set(axes)) == len(axes) else ([step] for step in phase)


def _in_any_order(array: Any, steps: list[Step]) -> Any:
    todo = steps
    while todo:
        array = _in_blocks(array)
        whole = [axis for axis, ranks in enumerate(array.distribution.grid_shape) if ranks == 1]
        now = [step for step in todo if step.axis in whole]
        if now:
            todo = [step for step in todo if step not in now]
            array = (
                in_columns(array, now[0]) if todo and is_in_rows(array) else _on_pieces(array, now)
            )
            continue
        kinds = _pencils(array.shape, [step.axis for step in todo])
        if kinds is None:
            array = by_lines(array, todo[-1])
            todo = todo[:-1]
        else:
            array = array.redistribute(kinds)
    return array


def _in_blocks(array: Any) -> Any:
    """The array, if it lies in blocks of equal size; else a copy that does."""
    try:
        lies = array.distribution
    except ValueError:  # a part of an array
        return array.redistribute("b" * array.ndim)
    return array if _blocks(lies, array.shape) == lies else array.redistribute("b" * array.ndim)


def _blocks(lies: Any, shape: tuple[int, ...]) -> Any:
    """The same ranks on the same axes of a shape, in blocks of equal size."""
    kinds = "".join("n" if kind == "n" else "b" for kind in lies.dist)
    return Distribution(shape, kinds, grid_shape=lies.grid_shape)


def _on_pieces(array: Any, steps: list[Step]) -> Any:
    """Transforms along axes that are whole."""
    shape, lies = array.shape, array.distribution
    for step in steps:
        shape = resized(shape, step)
    made = signalling(lambda: called_by_user(transformed, array.local, steps))
    return core.from_piece(_blocks(lies, shape), _in_order(made), True)


def _in_order(piece: Any) -> Any:
    return piece if piece.flags.c_contiguous else piece.copy(order="C")


def _pencils(shape: tuple[int, ...], axes: list[int]) -> str | None:
    """The letters of a distribution in which as many of the axes as can be are whole, and every
    rank has something; None if no axis can be.
    """
    for count in range(len(axes)):
        cut = set(range(len(shape))) - set(axes[count:])
        if math.prod(shape[axis] for axis in cut) >= core.ranks():
            return "".join("b" if axis in cut else "n" for axis in range(len(shape)))
    return None
