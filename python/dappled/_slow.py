"""What the core hands to NumPy: operators, keys and dtypes that are not native."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy

from dappled import _choosing, _indexing, _items, _large
from dappled._array import canonical, core, few, full, ndarray, ufuncs
from dappled._array_function import asked
from dappled._crossing import Crossing
from dappled._expressions import is_far_operand
from dappled._fallback import shadow
from dappled._foreign import (
    all_ours,
    as_ours,
    has_say,
    is_asked,
    is_for_library,
    is_for_masked,
    is_left_to,
    is_only_made,
    takes_part,
)
from dappled._keys import refused
from dappled._line import called_by_user
from dappled._native import native
from dappled._order import flags_of
from dappled._piecewise import applied, in_pieces
from dappled._rebind import rebound, rewrapped
from dappled._signals import report, warnings_matter
from dappled._ufuncs import OURS, array_ufunc, call, called
from dappled._views import seen_as

__all__ = ["OURS", "array_ufunc", "asked", "attribute", "call", "canonical", "fill", "getitem"]
__all__ += [
    "in_place",
    "is_asked",
    "is_far_operand",
    "is_for_library",
    "is_for_masked",
    "item",
    "method",
]
__all__ += ["no_imaginary_part", "report", "set_attribute", "set_dtype", "setitem", "ufunc"]
__all__ += ["warnings_matter"]


_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "equal": operator.eq,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "less": operator.lt,
    "less_equal": operator.le,
    "not_equal": operator.ne,
}
# What NumPy's arrays leave to an object that has operators of its own.
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
    """An operator, by NumPy's ufunc of that name."""
    if name in _OPERATORS and any(map(takes_part, args)):
        if isinstance(args[0], ndarray) and is_left_to(args[-1]):
            return NotImplemented
        if any(map(has_say, args)):
            return called(getattr(numpy, name), "__call__", args, {})
        return _by_numpys_arrays(name, args)
    made = tuple(as_ours(value, is_only_made) for value in args)
    if any(map(operator.is_not, made, args)):
        return ufuncs[name](*made)
    compare = _COMPARISONS.get(name)
    if compare is None:
        return called(getattr(numpy, name), "__call__", args, {})
    # NumPy's arrays compare more than its ufuncs: structures, and what is never equal.
    if core.ranks() > 1 and any(map(in_pieces, args)):
        found = applied(compare, args, {}, order="K")
        if found is not NotImplemented:
            return found
    return _by_numpys_arrays(name, args)


def _by_numpys_arrays(name: str, args: tuple[Any, ...]) -> Any:
    crossing = Crossing(name)
    over = [crossing.over(value) for value in args]
    return crossing.back(called_by_user(_OPERATORS[name], *over))


def set_dtype(array: Any, dtype: Any) -> None:
    """`array.dtype = …`: the same memory, seen otherwise from now on."""
    try:
        kind = numpy.dtype(dtype)
    except TypeError:
        raise TypeError("invalid data-type for array") from None
    array._become(seen_as(array, kind))


def in_place(name: str, array: Any, other: Any) -> Any:
    """`array op= other`, by NumPy's ufunc: where shapes or dtypes do not fit, it says so.

    Of a ufunc with one argument `other` is None.
    """
    args = (array,) if other is None and name in _POWERS else (array, other)
    if name == "matmul" and not takes_part(other):
        _check_product(array, other)
    return called(getattr(numpy, name), "__call__", args, {"out": array})


def _check_product(array: Any, other: Any) -> None:
    """`array @= other` is refused where the product has fewer axes: NumPy would repeat it."""
    if array.ndim and numpy.ndim(other) == 1:
        called_by_user(operator.imatmul, few(array), numpy.zeros(1))


# What NumPy's arrays do in place of some powers.
_POWERS = ("reciprocal", "sqrt", "square")


def getitem(array: Any, key: Any) -> Any:
    """What a key selects that is not basic, or of an array that NumPy holds."""
    held = array._held
    if held is not None and (type(key) in (int, str) or _is_one(array, key)):  # the commonest
        found = held[key]
        return core.share(found) if type(found) is numpy.ndarray else found
    if (made := all_ours(key)) is not key:
        return array[made]
    if array._items and (found := _items.getitem(array, key)) is not NotImplemented:
        return found
    ours = _large if core.ranks() == 1 else _indexing
    is_field = type(key) is str and array.dtype.names  # which may have no bytes
    if not is_field and (found := ours.getitem(array, key)) is not NotImplemented:
        return found
    crossing = Crossing("ndarray.__getitem__", writeable=True)
    return crossing.back(crossing.over(array)[crossing.over(key)])


# Values that are one element, or an error.
_ONE = (bool, bytes, float, int, str, type(None))


# Those of which NumPy makes a number, or refuses to, wherever it is to be written.
_CAST = (bytes, complex, object, str)


def _cast(value: Any, array: Any, key: Any) -> Any:
    """A value as an element; what is wrong with the key is told first."""
    try:
        return called_by_user(_element, value, array.dtype)
    except Exception as error:
        wrong = error
    refused(array, key)
    raise wrong


def _is_converted(value: Any) -> bool:
    """Whether an object is a single number by a method of its own, which may do anything."""
    kind = type(value)
    several = ("__len__", "__array__", "__array_interface__", "__array_struct__", "__buffer__")
    return any(hasattr(kind, name) for name in ("__float__", "__int__", "__complex__")) and not (
        isinstance(value, numpy.generic) or any(hasattr(value, name) for name in several)
    )


def _element(value: Any, dtype: Any) -> Any:
    made = numpy.zeros((), dtype)
    made[...] = value
    return made[()]


def fill(array: Any, value: Any) -> None:
    """Writes one value everywhere, which NumPy converts, or refuses if it is not a single one."""
    made = numpy.zeros((), array.dtype)
    one = value
    if isinstance(value, ndarray):
        one = core.unwrap(value) if value.size == 1 else few(value, 2)
    called_by_user(made.fill, one)
    array[...] = made[()]


def setitem(array: Any, key: Any, value: Any) -> None:
    """Writes through a key that is not basic, or a value that may not fit."""
    if type(key) is int and type(value) in _ONE and array._held is not None and array._writeable:
        array._held[key] = value
        return
    if array._items and _items.setitem(array, key, value) is not NotImplemented:
        return
    if array.dtype == object and not isinstance(value, ndarray) and _is_one(array, key):
        array._held[key] = value  # itself, whatever is in it
        return
    keyed, made = all_ours(key), as_ours(value, is_only_made)
    if keyed is not key or made is not value:
        array[keyed] = made
        return
    if isinstance(value, ndarray) and value._items and value.dtype != array.dtype:
        cast = _items.astype(value, array.dtype)
        if cast is not NotImplemented:
            array[key] = cast
            return
    if in_pieces(array) and (type(value) in _CAST or _is_converted(value)):
        array[key] = _cast(value, array, key)
        return
    ours = _large if core.ranks() == 1 else _indexing
    if ours.setitem(array, key, value) is not NotImplemented:
        return
    crossing = Crossing("ndarray.__setitem__")
    memory = crossing.over(array, written=True)
    called_by_user(operator.setitem, memory, crossing.over(key), crossing.over(value))
    crossing.write_back()


def _is_one(array: Any, key: Any) -> bool:
    """Whether a key names one element by ints."""
    keys = key if isinstance(key, tuple) else (key,)
    numbers = (isinstance(one, int | numpy.integer) and type(one) is not bool for one in keys)
    return len(keys) == array.ndim and all(numbers)


def method(
    array: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
) -> Any:
    """A method of NumPy's array."""
    if array._items or name == "astype":
        found = _items.method(array, name, args, kwargs or {})
        if found is not NotImplemented:
            return found
    crossing = Crossing(f"ndarray.{name}", writeable=True)
    (theirs, *over), named = crossing.all_over((array, *args), kwargs or {}, {"out"})
    result = called_by_user(getattr(theirs, name), *over, **named)
    crossing.write_back()
    return crossing.back(result)


def reduction(array: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
    """A method that is a function of NumPy's, written in Python."""
    return _reduction(name)(array, *args, **(kwargs or {}))


def searched(array: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
    """A method that is the function of the same name, as NumPy's has the same parameters."""
    return getattr(_choosing, name)(array, *args, **(kwargs or {}))


@functools.cache
def _reduction(name: str) -> Callable[..., Any]:
    theirs = import_module("numpy._core._methods")
    private = {"max": "_amax", "min": "_amin"}.get(name, f"_{name}")
    return (rewrapped if name == "mean" else rebound)(getattr(theirs, private))


def clip(array: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
    """The method `clip`, with all that NumPy allows."""
    return _clip(array, *args, **(kwargs or {}))


_clip = native(inspect.getattr_static(numpy.ndarray, "clip"), "dappled.ndarray")(_choosing.clip)


def attribute(array: Any, name: str) -> Any:
    """An attribute of NumPy's array."""
    if array._items and (found := _items.attribute(array, name)) is not NotImplemented:
        return found
    crossing = Crossing(f"ndarray.{name}", writeable=True)
    return crossing.back(getattr(crossing.over(array), name))


def set_attribute(array: Any, name: str, value: Any) -> None:
    """`a.real = …` or `a.imag = …`: NumPy makes an array of a number, which is then cast."""
    if array._held is not None:
        crossing = Crossing(f"ndarray.{name}")
        setattr(crossing.over(array, written=True), name, crossing.over(value))
    elif name == "imag" and array.dtype.kind != "c":
        raise TypeError("array does not have imaginary part to set")
    else:
        taken = value if isinstance(value, ndarray) else numpy.asarray(value)
        getattr(array, name)[...] = taken


def no_imaginary_part(array: Any) -> Any:
    """`a.imag` of real numbers: zeros in their order, which may not be written."""
    if core.ranks() > 1:
        zeros = numpy.zeros_like(array, order="A")
    else:
        zeros = full(array.shape, None, array.dtype, "F" if flags_of(array).fnc else "C")
    zeros._writeable = False
    return zeros


def item(array: Any, args: tuple[Any, ...]) -> Any:
    """`item` by an index, or NumPy's error."""
    pieces = array._items or in_pieces(array)
    if pieces and (found := _items.item(array, args)) is not NotImplemented:
        return found
    if in_pieces(array) and not args:
        return shadow(array).item()  # which NumPy refuses
    return Crossing("ndarray.item").over(array).item(*args)
