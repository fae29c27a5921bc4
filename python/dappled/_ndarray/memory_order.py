"""The order of an array's axes in memory, which NumPy's functions preserve."""

from __future__ import annotations

from typing import Any

import numpy

from dappled import _core
from dappled._dispatch.meta import meta


def strides_of(array: Any) -> tuple[int, ...]:
    """NumPy's strides of an array, also of a view of a distributed one.

    `array.strides` describes a gathered copy there.
    """
    return array._strides if isinstance(array, _core.ndarray) else array.strides


def flags_of(array: Any) -> Any:
    """NumPy's flags of an array, also of a view of a distributed one."""
    return array._flags if isinstance(array, _core.ndarray) else array.flags


def memory_order(array: Any, ndim: int, order: Any) -> list[int]:
    """The axes of a new array like another, from the longest stride to the shortest."""
    axes = list(range(ndim))
    flags = flags_of(array)
    alike = order in ("A", "a") or (order not in ("C", "c") and ndim == array.ndim)
    if order in ("F", "f") or (alike and flags.fnc):
        return axes[::-1]
    if order in ("A", "a", "C", "c") or flags.c_contiguous or ndim != array.ndim:
        return axes
    return axes_by_stride(array)


def undo_transpose(result: Any, axes: list[int]) -> Any:
    """Undoes `transpose(axes)` of a new array, keeping its memory order."""
    back = sorted(range(len(axes)), key=axes.__getitem__)
    if back == axes == sorted(axes):
        return result
    view = result.transpose(back)
    return view._owner() if view._held is None else view  # NumPy owns the arrays that it holds


def elementwise_order(arrays: list[Any], shape: tuple[int, ...]) -> list[int]:
    """The memory order of an element-wise result of several arrays.

    `numpy.nditer` determines it from strides alone.
    """
    axes = list(range(len(shape)))
    if 0 in shape or all(flags_of(array).c_contiguous for array in arrays):
        return axes
    sample = [_stride_meta(array) for array in arrays]
    result = numpy.nditer([*sample, None]).operands[-1]
    return sorted(axes, key=lambda axis: -result.strides[axis])


def concatenation_order(arrays: list[Any]) -> list[int]:
    """The memory order of a concatenation.

    Each axis precedes those that have shorter strides in every array; axes of one element do not
    count.
    """
    axes: list[int] = []
    for axis in range(arrays[0].ndim):
        position = len(axes)
        for at in reversed(range(len(axes))):
            both = [one for one in arrays if one.shape[axis] != 1 and one.shape[axes[at]] != 1]
            strides = map(strides_of, both)
            farther = [abs(steps[axis]) > abs(steps[axes[at]]) for steps in strides]
            if farther and not all(farther):
                break
            position = at if farther else position
        axes.insert(position, axis)
    return axes


def axes_by_stride(array: Any, first: int = 0) -> list[int]:
    """The axes from `first` on, from the longest stride to the shortest."""
    strides = strides_of(array)
    return sorted(range(first, array.ndim), key=lambda axis: -abs(strides[axis]))


def with_memory_order(result: Any, axes: list[int]) -> Any:
    """An array that owns its memory and has this order of axes: a copy if needed."""
    if result.base is None and axes_by_stride(result) == axes:
        return result
    return undo_transpose(result.transpose(axes).copy(), axes)


def sample_in_memory_order(array: Any) -> Any:
    """Two zeros along each axis, with the memory order of an array."""
    lengths, axes = [min(length, 2) for length in array.shape], axes_by_stride(array)
    strides = strides_of(array)
    there = [lengths[axis] if strides[axis] else 1 for axis in axes]
    back = sorted(range(array.ndim), key=axes.__getitem__)
    return numpy.broadcast_to(numpy.zeros(there, array.dtype).transpose(back), lengths)


def _stride_meta(array: Any) -> Any:
    """A metadata array of two elements along each axis, with the strides of an array."""
    lengths = zip(strides_of(array), array.shape, strict=True)
    strides = [stride if length > 1 else 0 for stride, length in lengths]
    return meta((2,) * array.ndim, "u1", strides=strides, writeable=True)


def transpose_to(array: Any, axes: list[int]) -> Any:
    """An array broadcast to as many axes as `axes`, and transposed."""
    if axes == sorted(axes):
        return array
    return array.reshape((1,) * (len(axes) - array.ndim) + array.shape).transpose(axes)
