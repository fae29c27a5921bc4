"""Metadata arrays: NumPy arrays that have a shape and a dtype but no data.

NumPy computes result shapes, dtypes, strides and errors from metadata alone, so these arrays take
the place of distributed arrays in calls that need no values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
from numpy.lib.stride_tricks import as_strided

from dappled import _core


def meta(
    shape: Sequence[int],
    dtype: Any,
    *,
    strides: Sequence[int] | None = None,
    writeable: bool = False,
) -> Any:
    """An array of this shape and dtype that owns one element.

    Without `strides`, every index refers to that element, which is zero. With `strides`, the array
    refers to memory that it does not own: no element may be read or written.
    """
    steps = (0,) * len(shape) if strides is None else strides
    return as_strided(numpy.zeros(1, dtype), shape, steps, writeable=writeable)


def as_meta(value: Any, writeable: bool = False) -> Any:
    """Arguments of a call, with each array of ours replaced by its metadata array.

    Lists, tuples and dicts are searched. An array without axes becomes its value, because some
    functions need it and every rank has it. With `writeable`, NumPy's arrays are replaced too: the
    call may write into them.
    """
    ours = isinstance(value, _core.ndarray)
    if ours or (writeable and isinstance(value, numpy.ndarray)):
        if value.ndim:
            return meta(value.shape, value.dtype, writeable=writeable)
        element = _core.unwrap(value) if ours else value
        return numpy.array(element) if ours and writeable else element
    if type(value) in (list, tuple):
        return type(value)(as_meta(item, writeable) for item in value)
    if type(value) is dict:
        return {key: as_meta(item, writeable) for key, item in value.items()}
    return value


def small_meta(array: Any, length: int = 1) -> Any:
    """Zeros of an array's dtype with `length` elements along each of its axes.

    NumPy may compute with them: the call shows whether it accepts the dtypes.
    """
    return numpy.zeros((length,) * array.ndim, array.dtype)
