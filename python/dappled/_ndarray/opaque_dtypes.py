"""Dtypes without kernels: dates, strings, structures, long doubles.

The core moves their bytes. NumPy computes views on metadata arrays (`views`) and values on local
pieces (`map_blocks`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy

from dappled._dispatch.callsite import call_from_user_frame
from dappled._dispatch.implements import implements
from dappled._ndarray.core import core, ndarray
from dappled._ndarray.core import empty as empty_array
from dappled._ndarray.memory_order import (
    elementwise_order,
    flags_of,
    memory_order,
    strides_of,
    undo_transpose,
)
from dappled._ndarray.views import getfield, view_like_numpy
from dappled._ranks.map_blocks import is_distributed, map_blocks
from dappled._routines.broadcasting import broadcastable


def getitem(array: Any, key: Any) -> Any:
    """A view or an element; NotImplemented if the key is not basic."""
    if (result := _basic_view(array, key)) is NotImplemented or not _is_element(key, result):
        return result
    # A NumPy structure scalar is a view: a write to it would change the copy.
    value = core.unwrap(result).copy()
    value.flags.writeable = False
    return value[()]


def setitem(array: Any, key: Any, value: Any) -> Any:
    """Assigns through a basic key; NotImplemented for the fallback."""
    if (target := _basic_view(array, key)) is NotImplemented:
        return NotImplemented
    return write(target, value, _is_element(key, target))


def write(target: Any, value: Any, is_element: bool = False) -> Any:
    """Assigns a value to all of an array, with NumPy's casts."""
    if not target._items:  # a field with a native dtype
        target[...] = value
        return None
    if is_element and isinstance(value, ndarray) and value.ndim:
        # Usually an error
        numpy.zeros((), target.dtype)[()] = numpy.zeros(value.shape, value.dtype)
    if not isinstance(value, ndarray):
        value = call_from_user_frame(_as_dtype, value, target.dtype, is_element)
    elif value.dtype != target.dtype:
        value = astype(value, target.dtype)
    if value is NotImplemented or (isinstance(value, ndarray) and value._held is not None):
        return NotImplemented
    text = "could not broadcast input array from shape {} into shape {}"
    value = broadcastable(value, target.shape, text)
    if _has_gaps_between_fields(target.dtype):
        for name in target.dtype.names:
            target[name][...] = value[name]
    else:
        core.write_items(target, value)
    return None


def _has_gaps_between_fields(dtype: Any) -> bool:
    """Whether other fields may lie between the fields, which must not be overwritten."""
    names = dtype.names or ()
    return bool(names) and sum(dtype[name].itemsize for name in names) < dtype.itemsize


def _as_dtype(value: Any, dtype: Any, is_element: bool) -> Any:
    """A Python or NumPy value in a dtype."""
    if not is_element:
        return numpy.asarray(value, dtype)
    result = numpy.empty((), dtype)
    result[()] = value
    return result


def _basic_view(array: Any, key: Any) -> Any:
    """The view that a basic key selects."""
    keys = key if isinstance(key, tuple) else (key,)
    if isinstance(key, str) or (type(key) is list and key and all(type(k) is str for k in key)):
        return view_like_numpy(operator.getitem, array, key)
    if not all(map(_is_basic, keys)):
        return NotImplemented
    # With an ellipsis NumPy returns a view even of one element.
    return view_like_numpy(operator.getitem, array, keys if ... in keys else (*keys, ...))


def _is_basic(key: Any) -> bool:
    if key is None or key is ... or isinstance(key, slice):
        return True
    other = isinstance(key, bool | numpy.bool | ndarray | numpy.ndarray)
    return hasattr(key, "__index__") and not other


def _is_element(key: Any, result: Any) -> bool:
    keys = key if isinstance(key, tuple) else (key,)
    return result.ndim == 0 and not any(k is ... or isinstance(k, str | list) for k in keys)


# Units that NumPy derives from the values when it parses strings.
_GENERIC_UNITS = (numpy.dtype("M8"), numpy.dtype("m8"))


def astype(array: Any, dtype: Any, order: str = "K", **options: Any) -> Any:
    """A cast copy, computed on local pieces; NotImplemented for the fallback."""
    options.pop("subok", None)
    to = numpy.dtype(dtype)
    if not options.get("copy", True) and to == array.dtype and order in ("K", "k"):
        return array
    if array._items and to == array.dtype:
        return copy(array, order)
    if not is_distributed(array) or (array.dtype.kind in "SU" and to in _GENERIC_UNITS):
        return NotImplemented
    options["copy"] = True
    axes = memory_order(array, array.ndim, order)

    def cast(part: Any) -> Any:
        return call_from_user_frame(part.astype, dtype, **options)

    result = map_blocks(cast, (array.transpose(axes),), {})
    return result if result is NotImplemented else undo_transpose(result, axes)


@implements(numpy.ndarray.byteswap, "dappled.ndarray")
def byteswap(self: Any, inplace: Any = False) -> Any:
    if not is_distributed(self) or (inplace and not self._writeable):
        return NotImplemented
    axes = memory_order(self, self.ndim, "A")
    result = map_blocks(numpy.ndarray.byteswap, (self.transpose(axes),), {})
    if result is NotImplemented:
        return result
    swapped = undo_transpose(result, axes)
    if not inplace:
        return swapped
    self[...] = swapped
    return self


@implements(numpy.ndarray.setfield, "dappled.ndarray")
def setfield(self: Any, val: Any, /, dtype: Any, offset: Any = 0) -> Any:
    if not is_distributed(self) or not self._writeable:
        return NotImplemented
    getfield(self, dtype, offset)[...] = val
    return None


MEMBERS = {"byteswap": byteswap, "setfield": setfield}


def copy(array: Any, order: str = "C") -> Any:
    """A copy in the memory order that NumPy's letter denotes."""
    axes = memory_order(array, array.ndim, order)
    return undo_transpose(core.copy_items(array.transpose(axes)), axes)


def reshape(array: Any, *shape: Any, order: str = "C", copy: bool | None = None) -> Any:
    """A view where strides allow it, else a view of a copy."""
    if not copy:
        try:
            return view_like_numpy(numpy.ndarray.reshape, array, *shape, order=order, copy=False)
        except ValueError as error:
            if copy is False or "avoid creating a copy" not in str(error):
                raise
    columns = order in ("F", "f") or (order in ("A", "a") and flags_of(array).fnc)
    result = _METHODS["copy"](array, "F" if columns else "C")
    return view_like_numpy(numpy.ndarray.reshape, result, *shape, order=order, copy=False)


def _ravel_axes(array: Any, order: str) -> list[int]:
    """The axes in the order in which NumPy visits them."""
    axes = memory_order(array, array.ndim, order)
    if order in ("K", "k") and 0 in strides_of(array):
        return elementwise_order([array], array.shape)
    return axes


def ravel(array: Any, order: str = "C") -> Any:
    rows = array.transpose(_ravel_axes(array, order))
    return rows.reshape(-1) if flags_of(rows).c_contiguous else flatten(array, order)


def flatten(array: Any, order: str = "C") -> Any:
    return copy(array.transpose(_ravel_axes(array, order))).reshape(-1)


def _view(name: str) -> Callable[..., Any]:
    return lambda array, *args: view_like_numpy(getattr(numpy.ndarray, name), array, *args)


_METHODS: dict[str, Callable[..., Any]] = {
    "astype": astype,
    "copy": copy,
    "flatten": flatten,
    "ravel": ravel,
    "reshape": reshape,
    **{name: _view(name) for name in ("diagonal", "squeeze", "swapaxes", "transpose")},
}


def method(array: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A method of NumPy's array; NotImplemented for the fallback."""
    return _METHODS[name](array, *args, **kwargs) if name in _METHODS else NotImplemented


def attribute(array: Any, name: str) -> Any:
    """`T`, `real` and `imag`."""
    if name == "T" or array.dtype.kind == "c":
        return view_like_numpy(operator.attrgetter(name), array)
    if name == "real":
        return array
    result = _zeros(array.shape, array.dtype)
    result._writeable = False
    return result


def _zeros(shape: tuple[int, ...], dtype: Any) -> Any:
    """Zeros; in one process NumPy's, whose memory is initialised."""
    return empty_array(shape, dtype) if core.ranks() > 1 else core.wrap(numpy.zeros(shape, dtype))


def item(array: Any, args: tuple[Any, ...]) -> Any:
    """One element as a Python object; NotImplemented where NumPy raises."""
    key = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
    if len(key) == 1 and array.ndim != 1 and -array.size <= operator.index(key[0]) < array.size:
        key = numpy.unravel_index(key[0] % array.size, array.shape)
    if not key and array.size == 1:
        key = (0,) * array.ndim
    return array[tuple(map(int, key))].item() if len(key) == array.ndim else NotImplemented
