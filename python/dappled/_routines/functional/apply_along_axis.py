"""apply_along_axis, put_along_axis and nanmedian of distributed arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from dappled._compat.numpy_private import NO_VALUE
from dappled._dispatch.callsite import call_from_user_frame
from dappled._dispatch.implements import implements
from dappled._dispatch.meta import small_meta
from dappled._dispatch.rebind import rebound_separately
from dappled._ndarray.core import core, from_numpy, is_communicable, is_native, ndarray, write_into
from dappled._ndarray.memory_order import flags_of, with_memory_order
from dappled._ranks.comm import local
from dappled._ranks.map_blocks import is_distributed, references_distributed_array
from dappled._routines.functional.side_effects import check_side_effects
from dappled._routines.indexing import write_flat
from dappled._routines.ufunc.reduce import map_along_axes, normalise_axes

_numpy_apply_along_axis = rebound_separately(numpy.apply_along_axis)
_numpy_put_along_axis = rebound_separately(numpy.put_along_axis)
_numpy_nanmedian = rebound_separately(numpy.nanmedian)


@implements(numpy.apply_along_axis)
def apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    if (
        core.ranks() > 1
        and _has_local_rows(arr, axis)
        and not any(map(references_distributed_array, (func1d, *args)))
    ):
        check = check_side_effects(func1d, "apply_along_axis", (*args, *kwargs.values()))
        result = _apply_to_local_rows(
            lambda row: func1d(row, *args, **kwargs), axis % arr.ndim, arr, check
        )
        if result is not NotImplemented:
            return result
    return call_from_user_frame(_numpy_apply_along_axis, func1d, axis, arr, *args, **kwargs)


def _has_local_rows(arr: Any, axis: Any) -> bool:
    """Whether a distributed array has rows that are short enough to be local."""
    if not is_distributed(arr) or type(axis) is not int or not -arr.ndim <= axis < arr.ndim:
        return False
    if arr.ndim == 1 or 0 in arr.shape:
        return False
    return core.blocks((arr.shape[axis],), arr.itemsize) is None


def _apply_to_local_rows(
    act: Callable[[Any], Any], axis: int, arr: Any, check: Callable[[], None]
) -> Any:
    """Calls the function for this rank's rows; NotImplemented if it is collective.

    `check` raises if the function depends on earlier calls.
    """
    row = arr[tuple(slice(None) if at == axis else 0 for at in range(arr.ndim))]
    first = numpy.asarray(act(row.copy()))
    check()
    if not is_communicable(first.dtype):
        return NotImplemented

    def compute(part: Any) -> Any:
        others = (*part.shape[:axis], *[first.size] * bool(first.ndim), *part.shape[axis + 1 :])
        if 0 in others:
            return numpy.empty(others, first.dtype)
        with local():
            output = numpy.apply_along_axis(lambda row: _apply_to_row(act, row, first), axis, part)
        check()
        return output

    try:
        result = map_along_axes(arr, [axis], compute, first.ndim > 0)
    except core.LocalContextError:
        return NotImplemented
    if first.ndim > 1:
        result = result.reshape(
            (*arr.shape[:axis], *first.shape, *arr.shape[axis + 1 :]), copy=True
        )
    own = range(axis, axis + first.ndim)  # the axes of one result are adjacent in memory
    return with_memory_order(result, [*(at for at in range(result.ndim) if at not in own), *own])


def _apply_to_row(act: Callable[[Any], Any], row: Any, first: Any) -> Any:
    """The function's result for one row, in the dtype of the first result, flattened."""
    result = act(from_numpy(row))
    theirs = core.unwrap(result) if isinstance(result, ndarray) else numpy.asarray(result)
    output = numpy.empty_like(first)
    output[...] = theirs.astype(first.dtype)  # may have another shape, and raise
    return output.reshape([-1] * bool(first.ndim))


@implements(numpy.nanmedian)
def nanmedian(
    a: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    keepdims: Any = NO_VALUE,
) -> Any:
    keeps = keepdims is True
    if not is_distributed(a) or not is_native(a.dtype) or not a.size:
        return NotImplemented
    if axis is None or a.ndim == 1:
        result = call_from_user_frame(_numpy_nanmedian, a, axis, out, keepdims=keeps)
        is_new = type(result) is numpy.ndarray and result is not out
        return from_numpy(result) if is_new else result
    axes = normalise_axes(a, axis)
    if not axes or len(axes) == a.ndim:
        return NotImplemented

    def compute(part: Any) -> Any:
        return numpy.nanmedian(part, tuple(axes), keepdims=keeps)

    if isinstance(out, ndarray):
        call_from_user_frame(
            numpy.nanmedian, small_meta(a), axis, small_meta(out), keepdims=keeps
        )  # NumPy may raise
    return write_into(map_along_axes(a, axes, compute, keeps), out, casts=True)


@implements(numpy.put_along_axis)
def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> Any:
    ours = isinstance(arr, ndarray) and arr._held is None
    if core.ranks() == 1 or (axis is None and not ours):
        return NotImplemented
    if axis is not None or indices.ndim != 1 or indices.dtype.kind not in "iu":
        return call_from_user_frame(_numpy_put_along_axis, arr, indices, values, axis)
    # NumPy writes into memory, which must be writeable
    if not (arr._writeable and flags_of(arr).c_contiguous):
        raise ValueError("assignment destination is read-only")
    return write_flat(arr, indices, values)
