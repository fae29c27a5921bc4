"""choice(p=) with distributed weights, by NumPy's steps."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy

from dappled._ndarray.core import is_native
from dappled._routines.creation import asarray
from dappled._routines.searching import searchsorted


def weighted_choice(
    generator: Any,
    a: Any,
    size: Any = None,
    replace: Any = True,
    p: Any = None,
    axis: int = 0,
    shuffle: Any = True,
) -> Any:
    """Elements chosen by probability; NotImplemented where NumPy raises."""
    from dappled.random._stream import adapt_random_function

    length = a if isinstance(a, int) else numpy.shape(a)[axis] if numpy.ndim(a) else None
    if not _are_probabilities(p, length):
        return NotImplemented
    new = isinstance(generator, numpy.random.Generator)
    method = numpy.random.Generator.random if new else numpy.random.RandomState.random_sample
    draw = adapt_random_function(method, "dappled.random")
    weights = p.astype(float)
    if replace:
        chosen = _search_weights(weights, draw(generator, size))
    else:
        shape = _shape(size)
        if shape is None or not 0 <= math.prod(shape) <= (p > 0).sum():
            return NotImplemented
        chosen = _choose_without_replacement(weights, shape, lambda count: draw(generator, count))
    chosen = int(chosen) if size is None else chosen
    return chosen if isinstance(a, int) else numpy.take(asarray(a), chosen, axis=axis)


def _are_probabilities(p: Any, length: int | None) -> bool:
    """Whether `p` contains valid probabilities of `length` elements, by NumPy's rule."""
    if p.ndim != 1 or not is_native(p.dtype) or p.dtype.kind == "c" or length != p.size:
        return False
    rounding = numpy.sqrt(numpy.finfo(p.dtype if p.dtype.kind == "f" else float).eps)
    return bool((p >= 0).all() and abs(p.sum() - 1) <= rounding)


def _shape(size: Any) -> tuple[int, ...] | None:
    given = () if size is None else size if numpy.iterable(size) else (size,)
    try:
        return tuple(map(operator.index, given))
    except TypeError:  # NumPy raises the error
        return None


def _search_weights(weights: Any, uniforms: Any) -> Any:
    """The positions of uniform numbers in the cumulative probabilities."""
    below = weights.cumsum()
    below /= below[-1]
    return searchsorted(below, uniforms, "right")


def _choose_without_replacement(
    weights: Any, shape: tuple[int, ...], draw: Callable[[int], Any]
) -> Any:
    """Distinct elements: a chosen element gets probability zero."""
    size = math.prod(shape)
    result = asarray(numpy.zeros(0, numpy.int64))
    while result.size < size:
        uniforms = draw(size - result.size)
        if result.size:
            weights[result] = 0
        new = _search_weights(weights, uniforms)
        _, first = numpy.unique(new, return_index=True)
        result = numpy.concatenate([result, new[numpy.sort(first)]])
    return result.reshape(shape)
