"""Random numbers that have parameters of their own each: arrays, which may be in pieces.

Every rank draws all numbers in order, and gets their parameters some at a time.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from typing import Any

import numpy

from dappled._array import core, is_moved
from dappled._broadcasting import broadcast_to
from dappled._chunks import shared
from dappled._creation import asarray
from dappled._small_bounds import Bounded
from dappled._states import State

# Whose arrays are no parameters of one number.
_OF_MANY = {"choice", "dirichlet", "multinomial", "multivariate_hypergeometric"}


class Many:
    """Numbers to be drawn, of which some parameters are arrays."""

    def __init__(self, draw: Any, arrays: dict[str, Any], shape: tuple[int, ...]) -> None:
        self._draw, self.shape, self.count = draw, shape, math.prod(shape)
        self._rows = {
            name: broadcast_to(array, shape).reshape(-1) for name, array in arrays.items()
        }
        self.like = draw.with_arrays({name: _few(array) for name, array in arrays.items()}, True)
        self.is_small = draw.name in ("integers", "randint") and self.like.dtype.itemsize < 4
        self._next = Bounded(draw, self.like.dtype) if self.is_small else draw.with_arrays

    def chunks(self, step: int) -> Iterator[tuple[int, Any]]:
        """All numbers in order: the place of the first, and as many as make a chunk."""
        rows = [shared(row, step) for row in self._rows.values()]
        before = State(self._draw.generator)
        try:
            for parts in zip(*rows, strict=True):
                values = dict(zip(self._rows, (part for _, part in parts), strict=True))
                yield parts[0][0], self._next(values)
        except Exception:
            before.bring_back()  # NumPy looks at all parameters first
            raise


def many(draw: Any) -> Many | None:
    """A draw with arrays for parameters, if it can be done some at a time."""
    given = {name: value for name, value in draw.named.items() if numpy.ndim(value)}
    if not given or draw.name in _OF_MANY or draw.generator is None or "out" in draw.named:
        return None
    arrays = {name: asarray(value) for name, value in given.items()}
    if not all(array.dtype.kind in "biuf" and is_moved(array.dtype) for array in arrays.values()):
        return None
    shape = _shape(draw, arrays)
    if shape is None or not math.prod(shape):
        return None
    found = Many(draw, arrays, shape)
    whole = all(numpy.can_cast(array.dtype, numpy.int64, "safe") for array in arrays.values())
    if found.is_small and not whole:  # what becomes of other numbers NumPy knows
        return None
    return None if core.blocks(shape, found.like.dtype.itemsize) is None else found


def _shape(draw: Any, arrays: dict[str, Any]) -> tuple[int, ...] | None:
    """The shape of all; None where what is asked for does not fit."""
    try:
        shape = numpy.broadcast_shapes(*(array.shape for array in arrays.values()))
        if draw.size is None:
            return shape
        given = draw.size if numpy.iterable(draw.size) else (draw.size,)
        size = tuple(map(operator.index, given))
        return size if numpy.broadcast_shapes(shape, size) == size else None
    except (TypeError, ValueError):
        return None


def _few(array: Any) -> Any:
    """An element, in an array as NumPy takes it."""
    return core.unwrap(array.reshape(-1)[:1])
