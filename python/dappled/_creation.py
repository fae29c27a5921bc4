"""Creating arrays: from shapes, from other arrays, from anything that NumPy reads."""

from __future__ import annotations

import operator
from typing import Any

import numpy

from dappled._array import core, ndarray, ufuncs
from dappled._array import empty as empty_array
from dappled._array import full as full_array
from dappled._crossing import Crossing
from dappled._native import native
from dappled._views import viewed

NATIVE_KINDS = "biufc"  # dtypes that the core fills itself
_LIKE = ("K", "k", "A", "a", "C", "c", "F", "f")
_ORDERS = {"C": "C", "c": "C", "F": "F", "f": "F", None: "C"}


@native(numpy.array)
def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: Any = True,
    order: Any = "K",
    subok: Any = False,
    ndmin: int = 0,
) -> Any:
    if not isinstance(object, ndarray):
        return NotImplemented
    if ndmin > object.ndim:
        made = array(object, dtype, copy=copy, order=order)
        return made.reshape((1,) * (ndmin - made.ndim) + made.shape)
    same = dtype is None or numpy.dtype(dtype) == object.dtype
    if copy is True:
        return object.astype(object.dtype if same else dtype, order=order or "K")
    if same and _is_ordered(object, order):
        return object
    if copy is False:  # which NumPy refuses
        return viewed(numpy.array, object, dtype, copy=False, order=order)
    return object.astype(dtype or object.dtype, order=order)


@native(numpy.asarray)
def asarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None
) -> Any:
    if not isinstance(a, ndarray) or device:
        return NotImplemented
    return array(a, dtype, copy=copy, order=order or "K")


@native(numpy.asanyarray)
def asanyarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None
) -> Any:
    if not isinstance(a, ndarray) or device:
        return NotImplemented
    return asarray(a, dtype, order, copy=copy)


@native(numpy.ascontiguousarray)
def ascontiguousarray(a: Any, dtype: Any = None) -> Any:
    return _in_order(a, dtype, "C")


@native(numpy.asfortranarray)
def asfortranarray(a: Any, dtype: Any = None) -> Any:
    return _in_order(a, dtype, "F")


@native(numpy.empty)
def empty(shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None) -> Any:
    kind = numpy.dtype(dtype)
    sizes = _sizes(shape)
    if sizes is None or order not in _ORDERS or device or kind.kind not in NATIVE_KINDS:
        return NotImplemented
    return empty_array(sizes, kind, _ORDERS[order])


@native(numpy.zeros)
def zeros(shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None) -> Any:
    return _filled(shape, 0, numpy.dtype(dtype), order, device)


@native(numpy.ones)
def ones(shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None) -> Any:
    return _filled(shape, 1, numpy.dtype(dtype), order, device)


@native(numpy.full)
def full(
    shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", *, device: Any = None
) -> Any:
    if not isinstance(fill_value, bool | int | float | complex | numpy.number | numpy.bool):
        return NotImplemented
    kind = numpy.dtype(dtype) if dtype is not None else numpy.asarray(fill_value).dtype
    return _filled(shape, fill_value, kind, order, device)


@native(numpy.empty_like)
def empty_like(
    prototype: Any,
    /,
    dtype: Any = None,
    order: Any = "K",
    subok: Any = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    if not isinstance(prototype, ndarray) or device:
        return NotImplemented
    kind = prototype.dtype if dtype is None else numpy.dtype(dtype)
    sizes = prototype.shape if shape is None else _sizes(shape)
    if sizes is None or kind.kind not in NATIVE_KINDS or order not in _LIKE:
        return NotImplemented
    axes = _memory_order(prototype, len(sizes), order)
    if axes in (sorted(axes), sorted(axes, reverse=True)):
        return empty_array(sizes, kind, "C" if axes == sorted(axes) else "F")
    made = empty_array(tuple(sizes[axis] for axis in axes), kind, "C")
    return made.transpose(sorted(range(len(axes)), key=axes.__getitem__))._owner()


@native(numpy.eye)
def eye(
    N: Any, M: Any = None, k: Any = 0, dtype: Any = float, order: Any = "C", *, device: Any = None
) -> Any:
    kind = numpy.dtype(dtype)
    sizes = _sizes((N, N if M is None else M))
    if sizes is None or device or order not in _ORDERS or kind.kind not in NATIVE_KINDS:
        return NotImplemented
    rows, columns = (core.wrap(numpy.arange(size)) for size in sizes)
    # NumPy takes any `k` that Python takes as an index.
    diagonal = ufuncs["equal"](columns, rows[:, None] + operator.index(k))
    return diagonal.astype(kind, order=_ORDERS[order])


@native(numpy.identity)
def identity(n: Any, dtype: Any = None) -> Any:
    return eye(n, dtype=dtype)


@native(numpy.fromfunction)
def fromfunction(function: Any, shape: Any, *, dtype: Any = float, **kwargs: Any) -> Any:
    if "like" in kwargs:
        return NotImplemented
    crossing = Crossing("dappled.fromfunction")
    return function(*crossing.back(numpy.indices(shape, dtype=dtype)), **kwargs)


def _filled(shape: Any, value: Any, dtype: Any, order: Any, device: Any) -> Any:
    sizes = _sizes(shape)
    if sizes is None or order not in _ORDERS or device or dtype.kind not in NATIVE_KINDS:
        return NotImplemented
    return full_array(sizes, value, dtype, _ORDERS[order])


def _sizes(shape: Any) -> tuple[int, ...] | None:
    """A shape as plain numbers, if it is a good one."""
    if hasattr(shape, "__index__"):
        shape = (shape,)
    try:
        sizes = tuple(map(operator.index, shape))
    except TypeError:
        return None
    return sizes if all(0 <= size < 2**48 for size in sizes) else None


def _is_ordered(array: Any, order: str | None) -> bool:
    if order in (None, "K", "A", "k", "a"):
        return True
    return bool(array.flags["C" if order in ("C", "c") else "F"])


def _in_order(array: Any, dtype: Any, order: str) -> Any:
    if not isinstance(array, ndarray):
        return NotImplemented
    made = asarray(array, dtype, order)
    return made if array.ndim else made.reshape(1)


def _memory_order(array: Any, ndim: int, order: Any) -> list[int]:
    """The axes of a new array like another, from the longest stride to the shortest."""
    axes = list(range(ndim))
    strides, flags = array.strides, array.flags
    if order in ("F", "f") or (order not in ("C", "c") and flags.fnc and ndim == array.ndim):
        return axes[::-1]
    if order in ("A", "a", "C", "c") or flags.c_contiguous or ndim != array.ndim:
        return axes
    return sorted(axes, key=lambda axis: -abs(strides[axis]))
