"""Draws with array parameters.

Every rank draws all numbers in order; parameters are replicated chunk by chunk.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from typing import Any

import numpy

from dappled._ndarray.core import core, is_communicable
from dappled._routines._distributed.chunks import replicated_chunks
from dappled._routines.broadcasting import broadcast_to
from dappled._routines.creation import asarray
from dappled.random._narrow_bounds import BoundedIntegers
from dappled.random._state import GeneratorState

# Functions whose array parameters are common to all numbers.
_SEQUENCE_FUNCTIONS = {"choice", "dirichlet", "multinomial", "multivariate_hypergeometric"}


class ArrayDraw:
    """A draw of which some parameters are arrays."""

    def __init__(self, draw: Any, arrays: dict[str, Any], shape: tuple[int, ...]) -> None:
        self._draw, self.shape, self.count = draw, shape, math.prod(shape)
        self._rows = {
            name: broadcast_to(array, shape).reshape(-1) for name, array in arrays.items()
        }
        self.like = draw.with_arrays(
            {name: _first_element(array) for name, array in arrays.items()}, True
        )
        self.is_small = draw.name in ("integers", "randint") and self.like.dtype.itemsize < 4
        self._next = BoundedIntegers(draw, self.like.dtype) if self.is_small else draw.with_arrays

    def chunks(self, step: int) -> Iterator[tuple[int, Any]]:
        """All numbers in order, in chunks: the index of the first, and the values."""
        rows = [replicated_chunks(row, step) for row in self._rows.values()]
        before = GeneratorState(self._draw.generator)
        try:
            for parts in zip(*rows, strict=True):
                values = dict(zip(self._rows, (part for _, part in parts), strict=True))
                yield parts[0][0], self._next(values)
        except Exception:
            before.restore()  # NumPy checks all parameters first
            raise


def draw_with_arrays(draw: Any) -> ArrayDraw | None:
    """The draw, if some parameters are arrays and it can be divided into chunks; else None."""
    given = {name: value for name, value in draw.named.items() if numpy.ndim(value)}
    if (
        not given
        or draw.name in _SEQUENCE_FUNCTIONS
        or draw.generator is None
        or "out" in draw.named
    ):
        return None
    arrays = {name: asarray(value) for name, value in given.items()}
    if not all(
        array.dtype.kind in "biuf" and is_communicable(array.dtype) for array in arrays.values()
    ):
        return None
    shape = _shape(draw, arrays)
    if shape is None or not math.prod(shape):
        return None
    result = ArrayDraw(draw, arrays, shape)
    whole = all(numpy.can_cast(array.dtype, numpy.int64, "safe") for array in arrays.values())
    if result.is_small and not whole:  # NumPy decides about other dtypes
        return None
    return None if core.blocks(shape, result.like.dtype.itemsize) is None else result


def _shape(draw: Any, arrays: dict[str, Any]) -> tuple[int, ...] | None:
    """The shape of the result; None where the requested one does not fit."""
    try:
        shape = numpy.broadcast_shapes(*(array.shape for array in arrays.values()))
        if draw.size is None:
            return shape
        given = draw.size if numpy.iterable(draw.size) else (draw.size,)
        size = tuple(map(operator.index, given))
        return size if numpy.broadcast_shapes(shape, size) == size else None
    except (TypeError, ValueError):
        return None


def _first_element(array: Any) -> Any:
    """The first element, as a NumPy array."""
    return core.unwrap(array.reshape(-1)[:1])
