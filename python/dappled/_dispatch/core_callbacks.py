"""Functions that the Rust core calls by name, for operations without kernels."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable
from typing import Any

import numpy

from dappled._compat.numpy_private import reduction_method
from dappled._dispatch.array_function import call_with_overrides
from dappled._dispatch.callsite import call_from_user_frame
from dappled._dispatch.convert import NumPyCall
from dappled._dispatch.errstate import are_warnings_observable, report_floating_point_error
from dappled._dispatch.implements import implements
from dappled._dispatch.meta import as_meta, small_meta
from dappled._dispatch.rebind import rebound, rebound_and_wrapped
from dappled._dispatch.temporaries import may_run_code_before_use
from dappled._interop.duck_arrays import (
    all_as_dappled,
    as_dappled,
    defers_to,
    is_called_by_library,
    is_called_by_masked_array,
    only_converts,
    overrides_functions,
    overrides_operators,
    overrides_ufuncs,
)
from dappled._ndarray import indexing, opaque_dtypes, threaded_indexing
from dappled._ndarray.core import core, full, ndarray, ufuncs, with_zeroed_padding
from dappled._ndarray.index_keys import raise_like_numpy
from dappled._ndarray.memory_order import flags_of
from dappled._ndarray.views import view_as_dtype
from dappled._ranks.map_blocks import is_distributed, map_blocks
from dappled._routines import math
from dappled._routines.ufunc.call import UFUNCS, array_ufunc, call, call_numpy_ufunc

# Names that the core imports from other modules.
__all__ = [
    "UFUNCS",
    "are_warnings_observable",
    "array_ufunc",
    "call",
    "call_with_overrides",
    "is_called_by_library",
    "is_called_by_masked_array",
    "may_run_code_before_use",
    "overrides_functions",
    "report_floating_point_error",
    "with_zeroed_padding",
]

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "equal": operator.eq,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "less": operator.lt,
    "less_equal": operator.le,
    "not_equal": operator.ne,
}
# Operators that NumPy's arrays defer to objects that define them.
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "divide": operator.truediv,
    "divmod": divmod,
    "floor_divide": operator.floordiv,
    "left_shift": operator.lshift,
    "matmul": operator.matmul,
    "multiply": operator.mul,
    "power": operator.pow,
    "remainder": operator.mod,
    "right_shift": operator.rshift,
    "subtract": operator.sub,
    **_COMPARISONS,
}


def ufunc(name: str, args: tuple[Any, ...]) -> Any:
    """An operator, by the NumPy ufunc of that name."""
    if name in _OPERATORS and any(map(overrides_operators, args)):
        if isinstance(args[0], ndarray) and defers_to(args[-1]):
            return NotImplemented
        if any(map(overrides_ufuncs, args)):
            return call_numpy_ufunc(getattr(numpy, name), "__call__", args, {})
        return _operator_of_numpy(name, args)
    output = tuple(as_dappled(value, only_converts) for value in args)
    if any(map(operator.is_not, output, args)):
        return ufuncs[name](*output)
    compare = _COMPARISONS.get(name)
    if compare is None:
        return call_numpy_ufunc(getattr(numpy, name), "__call__", args, {})
    # NumPy's arrays compare structures, and incomparable values, which its ufuncs do not.
    if core.ranks() > 1 and any(map(is_distributed, args)):
        result = map_blocks(compare, args, {}, order="K")
        if result is not NotImplemented:
            return result
    return _operator_of_numpy(name, args)


def _operator_of_numpy(name: str, args: tuple[Any, ...]) -> Any:
    numpy_call = NumPyCall(name)
    over = [numpy_call.to_numpy(value) for value in args]
    return numpy_call.from_numpy(call_from_user_frame(_OPERATORS[name], *over))


def argsort_items(items: Any, dtype: Any, length: int) -> Any:
    """The indices that sort each line of `length` items of a dtype, which are bytes here."""
    lines = items.view(dtype).reshape(-1, max(length, 1))
    return numpy.argsort(lines, axis=1, kind="stable").reshape(-1)


def search_items(ordered: Any, values: Any, dtype: Any) -> Any:
    """For each value the number of sorted items below it, and of those not above it."""
    where, asked = ordered.view(dtype), values.view(dtype)
    sides = [numpy.searchsorted(where, asked, side) for side in ("left", "right")]
    return numpy.stack(sides, axis=1).reshape(-1)


def set_dtype(array: Any, dtype: Any) -> None:
    """`array.dtype = …`: the same memory with another dtype."""
    try:
        kind = numpy.dtype(dtype)
    except TypeError:
        raise TypeError("invalid data-type for array") from None
    array._become(view_as_dtype(array, kind))


def in_place(name: str, array: Any, other: Any) -> Any:
    """`array op= other`, by NumPy's ufunc, which raises where shapes or dtypes do not fit.

    `other` is None for a ufunc with one argument.
    """
    args = (array,) if other is None and name in _UNARY else (array, other)
    if name == "matmul" and not overrides_operators(other):
        _check_product(array, other)
    return call_numpy_ufunc(getattr(numpy, name), "__call__", args, {"out": array})


def _check_product(array: Any, other: Any) -> None:
    """Raises for `array @= other` with a vector, which NumPy would broadcast."""
    if array.ndim and numpy.ndim(other) == 1:
        call_from_user_frame(operator.imatmul, small_meta(array), numpy.zeros(1))


# Ufuncs of one argument that NumPy uses for some powers.
_UNARY = ("reciprocal", "sqrt", "square")


def getitem(array: Any, key: Any) -> Any:
    """The elements that a non-basic key selects, or elements of an array that NumPy holds."""
    held = array._held
    # The most common case
    if held is not None and (type(key) in (int, str) or _is_scalar_key(array, key)):
        result = held[key]
        return core.share(result) if type(result) is numpy.ndarray else result
    if (output := all_as_dappled(key)) is not key:
        return array[output]
    if array._items and (result := opaque_dtypes.getitem(array, key)) is not NotImplemented:
        return result
    ours = threaded_indexing if core.ranks() == 1 else indexing
    is_field = type(key) is str and array.dtype.names  # a field may have no bytes
    if not is_field and (result := ours.getitem(array, key)) is not NotImplemented:
        return result
    numpy_call = NumPyCall("ndarray.__getitem__", writeable=True)
    return numpy_call.from_numpy(numpy_call.to_numpy(array)[numpy_call.to_numpy(key)])


# Values that are one element, or an error.
_SCALARS = (bool, bytes, float, int, str, type(None))


# Types that NumPy converts to an element, or rejects, wherever it is assigned.
_CONVERTED = (bytes, complex, object, str)


def _cast(value: Any, array: Any, key: Any) -> Any:
    """A value as an element; an error in the key is raised first."""
    try:
        return call_from_user_frame(_element, value, array.dtype)
    except Exception as error:
        wrong = error
    raise_like_numpy(array, key)
    raise wrong


def _is_converted(value: Any) -> bool:
    """Whether an object converts itself to a number by a method that may do anything."""
    kind = type(value)
    several = ("__len__", "__array__", "__array_interface__", "__array_struct__", "__buffer__")
    return any(hasattr(kind, name) for name in ("__float__", "__int__", "__complex__")) and not (
        isinstance(value, numpy.generic) or any(hasattr(value, name) for name in several)
    )


def _element(value: Any, dtype: Any) -> Any:
    result = numpy.zeros((), dtype)
    result[...] = value
    return result[()]


def fill(array: Any, value: Any) -> None:
    """Assigns one value to all elements; NumPy converts it or raises."""
    result = numpy.zeros((), array.dtype)
    one = value
    if isinstance(value, ndarray):
        one = core.unwrap(value) if value.size == 1 else small_meta(value, 2)
    call_from_user_frame(result.fill, one)
    array[...] = result[()]


def setitem(array: Any, key: Any, value: Any) -> None:
    """Assigns through a non-basic key, or a value that may not fit."""
    if (
        type(key) is int
        and type(value) in _SCALARS
        and array._held is not None
        and array._writeable
    ):
        array._held[key] = value
        return
    if array._items and opaque_dtypes.setitem(array, key, value) is not NotImplemented:
        return
    if array.dtype == object and not isinstance(value, ndarray) and _is_scalar_key(array, key):
        array._held[key] = value  # the object itself
        return
    keyed, result = all_as_dappled(key), as_dappled(value, only_converts)
    if keyed is not key or result is not value:
        array[keyed] = result
        return
    if isinstance(value, ndarray) and value._items and value.dtype != array.dtype:
        cast = opaque_dtypes.astype(value, array.dtype)
        if cast is not NotImplemented:
            array[key] = cast
            return
    if is_distributed(array) and (type(value) in _CONVERTED or _is_converted(value)):
        array[key] = _cast(value, array, key)
        return
    ours = threaded_indexing if core.ranks() == 1 else indexing
    if ours.setitem(array, key, value) is not NotImplemented:
        return
    numpy_call = NumPyCall("ndarray.__setitem__")
    memory = numpy_call.to_numpy(array, written=True)
    call_from_user_frame(
        operator.setitem, memory, numpy_call.to_numpy(key), numpy_call.to_numpy(value)
    )
    numpy_call.write_back()


def _is_scalar_key(array: Any, key: Any) -> bool:
    """Whether a key selects one element by integers."""
    keys = key if isinstance(key, tuple) else (key,)
    are_integers = (isinstance(one, int | numpy.integer) and type(one) is not bool for one in keys)
    return len(keys) == array.ndim and all(are_integers)


def method(
    array: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
) -> Any:
    """A method of NumPy's array."""
    if array._items or name == "astype":
        selected = opaque_dtypes.method(array, name, args, kwargs or {})
        if selected is not NotImplemented:
            return selected
    numpy_call = NumPyCall(f"ndarray.{name}", writeable=True)
    (theirs, *over), named = numpy_call.convert_arguments((array, *args), kwargs or {}, {"out"})
    result = call_from_user_frame(getattr(theirs, name), *over, **named)
    numpy_call.write_back()
    return numpy_call.from_numpy(result)


def reduction(array: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
    """A method that NumPy implements as a Python function."""
    return _reduction(name)(array, *args, **(kwargs or {}))


def search_method(
    array: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None
) -> Any:
    """A method that is the function of the same name."""
    return getattr(math, name)(array, *args, **(kwargs or {}))


@functools.cache
def _reduction(name: str) -> Callable[..., Any]:
    return (rebound_and_wrapped if name == "mean" else rebound)(reduction_method(name))


def clip(array: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
    """The method `clip`, with all that NumPy allows."""
    return _clip(array, *args, **(kwargs or {}))


_clip = implements(inspect.getattr_static(numpy.ndarray, "clip"), "dappled.ndarray")(math.clip)


def attribute(array: Any, name: str) -> Any:
    """An attribute of NumPy's array."""
    if array._items and (result := opaque_dtypes.attribute(array, name)) is not NotImplemented:
        return result
    numpy_call = NumPyCall(f"ndarray.{name}", writeable=True)
    return numpy_call.from_numpy(getattr(numpy_call.to_numpy(array), name))


def set_attribute(array: Any, name: str, value: Any) -> None:
    """`a.real = …` or `a.imag = …`, with NumPy's casts."""
    if array._held is not None:
        numpy_call = NumPyCall(f"ndarray.{name}")
        setattr(numpy_call.to_numpy(array, written=True), name, numpy_call.to_numpy(value))
    elif name == "imag" and array.dtype.kind != "c":
        raise TypeError("array does not have imaginary part to set")
    else:
        taken = value if isinstance(value, ndarray) else numpy.asarray(value)
        getattr(array, name)[...] = taken


def zero_imaginary_part(array: Any) -> Any:
    """`a.imag` of a real array: read-only zeros in its memory order."""
    if core.ranks() > 1:
        zeros = numpy.zeros_like(array, order="A")
    else:
        zeros = full(array.shape, None, array.dtype, "F" if flags_of(array).fnc else "C")
    zeros._writeable = False
    return zeros


def item(array: Any, args: tuple[Any, ...]) -> Any:
    """`a.item(…)`, or NumPy's error."""
    pieces = array._items or is_distributed(array)
    if pieces and (result := opaque_dtypes.item(array, args)) is not NotImplemented:
        return result
    if is_distributed(array) and not args:
        return as_meta(array).item()  # NumPy's error
    return NumPyCall("ndarray.item").to_numpy(array).item(*args)
