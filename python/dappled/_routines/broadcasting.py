"""Broadcast views."""

from __future__ import annotations

from typing import Any

import numpy
from numpy.lib.stride_tricks import as_strided

from dappled._dispatch.implements import implements
from dappled._dispatch.meta import as_meta
from dappled._ndarray.core import core, ndarray
from dappled._ndarray.views import view_like_numpy
from dappled._ranks.map_blocks import is_distributed
from dappled._routines.creation import asarray


def fits(shape: tuple[int, ...], into: tuple[int, ...]) -> bool:
    """Whether a shape broadcasts to another."""
    try:
        return numpy.broadcast_shapes(shape, into) == into
    except ValueError:
        return False


def broadcastable(value: Any, shape: tuple[int, ...], text: str) -> Any:
    """A value without superfluous axes of length 1, if it broadcasts; else ValueError."""
    while value.ndim > len(shape) and value.shape[0] == 1:
        value = value[0, ...]  # still an array, whatever the dtype
    if not fits(value.shape, shape):
        given, wanted = (str(lengths).replace(" ", "") for lengths in (value.shape, shape))
        raise ValueError(text.format(given, wanted))
    return value


@implements(numpy.broadcast_to)
def broadcast_to(array: Any, shape: Any, subok: Any = False) -> Any:
    shape = (shape,) if isinstance(shape, int) else shape
    if core.ranks() > 1 and type(array) in (list, tuple):
        array = asarray(array)  # NumPy's broadcast would be copied
    if not isinstance(array, ndarray) or not isinstance(shape, list | tuple):
        return NotImplemented
    shape = tuple(shape)
    if array._items:
        return view_like_numpy(numpy.broadcast_to, array, shape)
    result = array._broadcast_to(shape) if all(length >= 0 for length in shape) else None
    if result is None and is_distributed(array):
        return numpy.broadcast_to(as_meta(array), shape)  # NumPy's error
    return NotImplemented if result is None else result


@implements(numpy.broadcast_arrays)
def broadcast_arrays(*args: Any, subok: Any = False) -> Any:
    if not any(isinstance(array, ndarray) for array in args):
        return NotImplemented
    arrays = tuple(map(asarray, args))
    try:
        shape = numpy.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError:
        return NotImplemented
    return tuple(
        array if array.shape == shape else _broadcast_view(array, shape) for array in arrays
    )


def _broadcast_view(array: Any, shape: tuple[int, ...]) -> Any:
    """A broadcast view that is writeable if the array is."""
    if (held := array._held) is None:
        view = broadcast_to(array, shape)
        view._writeable = array._writeable
        return view
    steps = numpy.broadcast_to(held, shape).strides
    return core.share(as_strided(held, shape, steps, writeable=held.flags.writeable))
