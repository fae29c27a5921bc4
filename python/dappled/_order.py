"""The order of an array's axes in memory, which NumPy keeps where nothing else is asked for."""

from __future__ import annotations

from typing import Any

import numpy

from dappled import _core


def strides_of(array: Any) -> tuple[int, ...]:
    """NumPy's strides of an array, also of a part of a distributed one.

    `array.strides` describes the memory of a gathered copy there.
    """
    return array._strides if isinstance(array, _core.ndarray) else array.strides


def flags_of(array: Any) -> Any:
    """NumPy's flags of an array, as `strides_of` has its strides."""
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
    return by_stride(array)


def turned(made: Any, axes: list[int]) -> Any:
    """A new array whose axes are these of the one that is wanted."""
    back = sorted(range(len(axes)), key=axes.__getitem__)
    if back == axes == sorted(axes):
        return made
    view = made.transpose(back)
    return view._owner() if view._held is None else view  # what NumPy holds stays its own


def common_order(arrays: list[Any], shape: tuple[int, ...]) -> list[int]:
    """The axes of what NumPy computes of several arrays, element by element: its iterator knows,
    and looks at strides alone.
    """
    axes = list(range(len(shape)))
    if 0 in shape or all(flags_of(array).c_contiguous for array in arrays):
        return axes
    few = [_few(array) for array in arrays]
    made = numpy.nditer([*few, None]).operands[-1]
    return sorted(axes, key=lambda axis: -made.strides[axis])


def joined_order(arrays: list[Any]) -> list[int]:
    """The axes of what NumPy joins of arrays: each is put before those that all arrays have nearer
    in memory; axes of one element say nothing.
    """
    axes: list[int] = []
    for axis in range(arrays[0].ndim):
        place = len(axes)
        for at in reversed(range(len(axes))):
            both = [one for one in arrays if one.shape[axis] != 1 and one.shape[axes[at]] != 1]
            strides = map(strides_of, both)
            farther = [abs(steps[axis]) > abs(steps[axes[at]]) for steps in strides]
            if farther and not all(farther):
                break
            place = at if farther else place
        axes.insert(place, axis)
    return axes


def by_stride(array: Any, first: int = 0) -> list[int]:
    """The axes from one on, from the longest stride to the shortest."""
    strides = strides_of(array)
    return sorted(range(first, array.ndim), key=lambda axis: -abs(strides[axis]))


def laid(made: Any, axes: list[int]) -> Any:
    """An array of its own whose axes lie in memory in this order: a copy, if it is not."""
    if made.base is None and by_stride(made) == axes:
        return made
    return turned(made.transpose(axes).copy(), axes)


def lying_as(array: Any) -> Any:
    """Two elements along each axis, in memory as those of an array."""
    lengths, axes = [min(length, 2) for length in array.shape], by_stride(array)
    strides = strides_of(array)
    there = [lengths[axis] if strides[axis] else 1 for axis in axes]
    back = sorted(range(array.ndim), key=axes.__getitem__)
    return numpy.broadcast_to(numpy.zeros(there, array.dtype).transpose(back), lengths)


def _few(array: Any) -> Any:
    """Two elements along each axis, with the strides of an array; they are not there."""
    lengths = zip(strides_of(array), array.shape, strict=True)
    strides = [stride if length > 1 else 0 for stride, length in lengths]
    return numpy.lib.stride_tricks.as_strided(numpy.zeros(1, "u1"), (2,) * array.ndim, strides)


def in_order(array: Any, axes: list[int]) -> Any:
    """An array with its axes in another order, with all that it is repeated along."""
    if axes == sorted(axes):
        return array
    return array.reshape((1,) * (len(axes) - array.ndim) + array.shape).transpose(axes)
