"""`apply_along_axis`: a function of the user's over rows, on the pieces where it can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from dappled._array import core, is_moved, ndarray
from dappled._comm import local
from dappled._folding import along
from dappled._line import called_by_user
from dappled._native import native
from dappled._piecewise import in_pieces, uses_pieces
from dappled._rebind import apart

_by_steps = apart(numpy.apply_along_axis)


@native(numpy.apply_along_axis)
def apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    if core.ranks() > 1 and _has_rows(arr, axis) and not any(map(uses_pieces, (func1d, *args))):
        found = _on_pieces(lambda row: func1d(row, *args, **kwargs), axis % arr.ndim, arr)
        if found is not NotImplemented:
            return found
    return called_by_user(_by_steps, func1d, axis, arr, *args, **kwargs)


def _has_rows(arr: Any, axis: Any) -> bool:
    """Whether an array in pieces has rows so short that each is whole where it is looked at."""
    if not in_pieces(arr) or type(axis) is not int or not -arr.ndim <= axis < arr.ndim:
        return False
    if arr.ndim == 1 or 0 in arr.shape:
        return False
    return core.blocks((arr.shape[axis],), arr.itemsize) is None


def _on_pieces(act: Callable[[Any], Any], axis: int, arr: Any) -> Any:
    """Each rank's rows by themselves; NotImplemented if the function needs all ranks."""
    row = arr[tuple(slice(None) if at == axis else 0 for at in range(arr.ndim))]
    first = numpy.asarray(act(row.copy()))
    if first.ndim > 1 or not is_moved(first.dtype):
        return NotImplemented

    def compute(part: Any) -> Any:
        others = (*part.shape[:axis], *first.shape, *part.shape[axis + 1 :])
        if 0 in others:
            return numpy.empty(others, first.dtype)
        with local():
            return numpy.apply_along_axis(lambda row: _row(act, row, first), axis, part)

    try:
        return along(arr, [axis], compute, first.ndim == 1)
    except RuntimeError as error:
        if "inside dappled.local()" in str(error):
            return NotImplemented
        raise


def _row(act: Callable[[Any], Any], row: Any, first: Any) -> Any:
    """What the function gives for a row of ours, as NumPy's: in the dtype of the first, as NumPy
    has it.
    """
    found = act(core.wrap(row))
    theirs = core.unwrap(found) if isinstance(found, ndarray) else numpy.asarray(found)
    return theirs.astype(first.dtype)
