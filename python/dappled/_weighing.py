"""`choice` by weights in pieces: NumPy's steps over ours."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy

from dappled._array import is_native
from dappled._creation import asarray
from dappled._searching import searchsorted


def weighed(
    generator: Any,
    a: Any,
    size: Any = None,
    replace: Any = True,
    p: Any = None,
    axis: int = 0,
    shuffle: Any = True,
) -> Any:
    """Elements chosen by weights; NotImplemented where NumPy refuses."""
    from dappled._drawing import of_random  # which needs this

    length = a if isinstance(a, int) else numpy.shape(a)[axis] if numpy.ndim(a) else None
    if not _are_weights(p, length):
        return NotImplemented
    new = isinstance(generator, numpy.random.Generator)
    method = numpy.random.Generator.random if new else numpy.random.RandomState.random_sample
    draw = of_random(method, "dappled.random")
    weights = p.astype(float)
    if replace:
        chosen = _found(weights, draw(generator, size))
    else:
        shape = _shape(size)
        if shape is None or not 0 <= math.prod(shape) <= (p > 0).sum():
            return NotImplemented
        chosen = _different(weights, shape, lambda count: draw(generator, count))
    chosen = int(chosen) if size is None else chosen
    return chosen if isinstance(a, int) else numpy.take(asarray(a), chosen, axis=axis)


def _are_weights(p: Any, length: int | None) -> bool:
    """Whether these are weights of so many elements, as NumPy has it."""
    if p.ndim != 1 or not is_native(p.dtype) or p.dtype.kind == "c" or length != p.size:
        return False
    rounding = numpy.sqrt(numpy.finfo(p.dtype if p.dtype.kind == "f" else float).eps)
    return bool((p >= 0).all() and abs(p.sum() - 1) <= rounding)


def _shape(size: Any) -> tuple[int, ...] | None:
    given = () if size is None else size if numpy.iterable(size) else (size,)
    try:
        return tuple(map(operator.index, given))
    except TypeError:  # NumPy has words for it
        return None


def _found(weights: Any, numbers: Any) -> Any:
    """Where numbers from 0 to 1 lie among the sums of weights."""
    below = weights.cumsum()
    below /= below[-1]
    return searchsorted(below, numbers, "right")


def _different(weights: Any, shape: tuple[int, ...], draw: Callable[[int], Any]) -> Any:
    """Elements no one of which comes twice: what is found once has no weight any more."""
    size = math.prod(shape)
    found = asarray(numpy.zeros(0, numpy.int64))
    while found.size < size:
        numbers = draw(size - found.size)
        if found.size:
            weights[found] = 0
        new = _found(weights, numbers)
        _, first = numpy.unique(new, return_index=True)
        found = numpy.concatenate([found, new[numpy.sort(first)]])
    return found.reshape(shape)
