"""The order of an array's axes in memory, which NumPy keeps where nothing else is asked for."""

from __future__ import annotations

from typing import Any


def memory_order(array: Any, ndim: int, order: Any) -> list[int]:
    """The axes of a new array like another, from the longest stride to the shortest."""
    axes = list(range(ndim))
    strides, flags = array.strides, array.flags
    if order in ("F", "f") or (order not in ("C", "c") and flags.fnc and ndim == array.ndim):
        return axes[::-1]
    if order in ("A", "a", "C", "c") or flags.c_contiguous or ndim != array.ndim:
        return axes
    return sorted(axes, key=lambda axis: -abs(strides[axis]))


def turned(made: Any, axes: list[int]) -> Any:
    """A new array whose axes are these of the one that is wanted."""
    back = sorted(range(len(axes)), key=axes.__getitem__)
    return made if back == axes == sorted(axes) else made.transpose(back)._owner()
