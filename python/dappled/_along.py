"""Functions over the rows of an array in pieces: the user's, and those that NumPy's are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from dappled._array import core, few, into, is_moved, is_native, ndarray, wrapped
from dappled._comm import local
from dappled._folding import along, axes_of
from dappled._line import called_by_user
from dappled._native import native
from dappled._order import flags_of, laid
from dappled._piecewise import in_pieces, uses_pieces
from dappled._rebind import apart
from dappled._side_effects import watched
from dappled._taking import write_flat

_by_steps = apart(numpy.apply_along_axis)
_put_by_steps = apart(numpy.put_along_axis)
_median_of_all = apart(numpy.nanmedian)


@native(numpy.apply_along_axis)
def apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    if core.ranks() > 1 and _has_rows(arr, axis) and not any(map(uses_pieces, (func1d, *args))):
        check = watched(func1d, "apply_along_axis", (*args, *kwargs.values()))
        found = _on_pieces(lambda row: func1d(row, *args, **kwargs), axis % arr.ndim, arr, check)
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


def _on_pieces(act: Callable[[Any], Any], axis: int, arr: Any, check: Callable[[], None]) -> Any:
    """Each rank's rows by themselves; NotImplemented if the function needs all ranks.

    `check` raises if the function depends on what it was called for before.
    """
    row = arr[tuple(slice(None) if at == axis else 0 for at in range(arr.ndim))]
    first = numpy.asarray(act(row.copy()))
    check()
    if not is_moved(first.dtype):
        return NotImplemented

    def compute(part: Any) -> Any:
        others = (*part.shape[:axis], *[first.size] * bool(first.ndim), *part.shape[axis + 1 :])
        if 0 in others:
            return numpy.empty(others, first.dtype)
        with local():
            made = numpy.apply_along_axis(lambda row: _row(act, row, first), axis, part)
        check()
        return made

    try:
        found = along(arr, [axis], compute, first.ndim > 0)
    except RuntimeError as error:
        if "inside dappled.local()" in str(error):
            return NotImplemented
        raise
    if first.ndim > 1:
        found = found.reshape((*arr.shape[:axis], *first.shape, *arr.shape[axis + 1 :]), copy=True)
    own = range(axis, axis + first.ndim)  # the axes of one result, which lie together in memory
    return laid(found, [*(at for at in range(found.ndim) if at not in own), *own])


def _row(act: Callable[[Any], Any], row: Any, first: Any) -> Any:
    """What the function gives for a row of ours, as NumPy's: in the dtype of the first, as NumPy
    has it; what has several axes, as one.
    """
    found = act(wrapped(row))
    theirs = core.unwrap(found) if isinstance(found, ndarray) else numpy.asarray(found)
    made = numpy.empty_like(first)
    made[...] = theirs.astype(first.dtype)  # which may have another shape, or not fit
    return made.reshape([-1] * bool(first.ndim))


@native(numpy.nanmedian)
def nanmedian(
    a: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    keepdims: Any = numpy._NoValue,
) -> Any:
    keeps = keepdims is True
    if not in_pieces(a) or not is_native(a.dtype) or not a.size:
        return NotImplemented
    if axis is None or a.ndim == 1:
        found = called_by_user(_median_of_all, a, axis, out, keepdims=keeps)
        is_new = type(found) is numpy.ndarray and found is not out
        return wrapped(found) if is_new else found
    axes = axes_of(a, axis)
    if not axes or len(axes) == a.ndim:
        return NotImplemented

    def compute(part: Any) -> Any:
        return numpy.nanmedian(part, tuple(axes), keepdims=keeps)

    if isinstance(out, ndarray):
        called_by_user(numpy.nanmedian, few(a), axis, few(out), keepdims=keeps)  # may refuse
    return into(along(a, axes, compute, keeps), out, casts=True)


@native(numpy.put_along_axis)
def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> Any:
    ours = isinstance(arr, ndarray) and arr._held is None
    if core.ranks() == 1 or (axis is None and not ours):
        return NotImplemented
    if axis is not None or indices.ndim != 1 or indices.dtype.kind not in "iu":
        return called_by_user(_put_by_steps, arr, indices, values, axis)
    if not (arr._writeable and flags_of(arr).c_contiguous):  # NumPy writes into the memory alone
        raise ValueError("assignment destination is read-only")
    return write_flat(arr, indices, values)
