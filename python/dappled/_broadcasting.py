"""Views that repeat an array along new or short axes."""

from __future__ import annotations

from typing import Any

import numpy
from numpy.lib.stride_tricks import as_strided

from dappled._array import core, ndarray
from dappled._creation import asarray
from dappled._fallback import shadow
from dappled._native import native
from dappled._piecewise import in_pieces
from dappled._views import viewed


def fits(shape: tuple[int, ...], into: tuple[int, ...]) -> bool:
    """Whether a shape can be repeated to another."""
    try:
        return numpy.broadcast_shapes(shape, into) == into
    except ValueError:
        return False


def fitted(value: Any, shape: tuple[int, ...], text: str) -> Any:
    """A value without the axes of length 1 that are too many, if it fits; else an error."""
    while value.ndim > len(shape) and value.shape[0] == 1:
        value = value[0, ...]  # an array still, of whatever elements
    if not fits(value.shape, shape):
        given, wanted = (str(lengths).replace(" ", "") for lengths in (value.shape, shape))
        raise ValueError(text.format(given, wanted))
    return value


@native(numpy.broadcast_to)
def broadcast_to(array: Any, shape: Any, subok: Any = False) -> Any:
    shape = (shape,) if isinstance(shape, int) else shape
    if core.ranks() > 1 and type(array) in (list, tuple):
        array = asarray(array)  # of what NumPy repeats there would be a copy
    if not isinstance(array, ndarray) or not isinstance(shape, list | tuple):
        return NotImplemented
    shape = tuple(shape)
    if array._items:
        return viewed(numpy.broadcast_to, array, shape)
    found = array._broadcast_to(shape) if all(length >= 0 for length in shape) else None
    if found is None and in_pieces(array):
        return numpy.broadcast_to(shadow(array), shape)  # which NumPy refuses
    return NotImplemented if found is None else found


@native(numpy.broadcast_arrays)
def broadcast_arrays(*args: Any, subok: Any = False) -> Any:
    if not any(isinstance(array, ndarray) for array in args):
        return NotImplemented
    arrays = tuple(map(asarray, args))
    try:
        shape = numpy.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError:
        return NotImplemented
    return tuple(array if array.shape == shape else _repeated(array, shape) for array in arrays)


def _repeated(array: Any, shape: tuple[int, ...]) -> Any:
    """A view that may be written if the array may."""
    if (held := array._held) is None:
        view = broadcast_to(array, shape)
        view._writeable = array._writeable
        return view
    steps = numpy.broadcast_to(held, shape).strides
    return core.share(as_strided(held, shape, steps, writeable=held.flags.writeable))
