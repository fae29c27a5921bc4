"""The core's arrays, as the rest of the package knows them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy

from dappled import _core
from dappled._order import memory_order, turned
from dappled._tables import NATIVE_CODES

core: Any = _core
ndarray: Any = core.ndarray


def is_gathered(array: Any) -> bool:
    """Whether NumPy can see all values of an array only in a copy that was put together."""
    return not array._whole


def is_moved(dtype: numpy.dtype[Any]) -> bool:
    """Whether elements mean the same in the memory of another rank; objects do not."""
    return dtype.itemsize > 0 and not dtype.hasobject and dtype.kind != "T"


def canonical(values: Any) -> Any:
    """Values without what lies in bytes that mean nothing, as long doubles and structures have
    them: what is given to an operation is compared between ranks.
    """
    if not _has_gaps(values.dtype):
        return values
    if values.dtype.names is None:
        raw = values.copy(order="C").reshape(-1).view("u1").reshape(-1, numpy.dtype("g").itemsize)
        raw[:, slice(10, None) if values.dtype.isnative else slice(-10)] = 0
        return raw.reshape(-1).view(values.dtype).reshape(values.shape)
    cleared = numpy.zeros(values.shape, values.dtype)
    for name in values.dtype.names:
        cleared[name] = canonical(values[name])
    return cleared


def _has_gaps(dtype: Any) -> bool:
    """Whether elements have bytes that mean nothing."""
    if dtype.subdtype is not None:
        return _has_gaps(dtype.subdtype[0])
    if dtype.names is None:
        return dtype.char in "gG" and numpy.finfo("g").nmant == 63
    fields = [dtype.fields[name][0] for name in dtype.names]
    return sum(field.itemsize for field in fields) < dtype.itemsize or any(map(_has_gaps, fields))


def wrapped(values: Any, fresh: bool = False) -> Any:
    """An array of NumPy's as ours: where that is a copy its axes lie in memory as they did."""
    if core.ranks() == 1 or not is_moved(values.dtype):
        return core.wrap(values, fresh)
    axes = memory_order(values, values.ndim, "K")
    return turned(core.wrap(values.transpose(axes), fresh), axes)


def is_native(dtype: numpy.dtype[Any]) -> bool:
    """Whether the core computes with a dtype."""
    return dtype.isnative and dtype.str[1:] in NATIVE_CODES


def is_made(dtype: numpy.dtype[Any]) -> bool:
    """Whether the core makes arrays of a dtype: of items only where they may be in pieces."""
    return is_native(dtype) or (core.ranks() > 1 and is_moved(dtype))


def empty(shape: tuple[int, ...], dtype: Any, order: str = "C") -> Any:
    """An array to be written; where the core makes it, all bytes are 0."""
    made = core.full(shape, 0, dtype, order)
    if made is None and is_made(numpy.dtype(dtype)):
        backwards = order in ("F", "f")
        made = core.zero_items(shape[::-1] if backwards else shape, numpy.dtype(dtype))
        made = made.T._owner() if backwards else made
    return core.wrap(numpy.empty(shape, dtype, order)) if made is None else made  # type: ignore[call-overload]


def full(shape: tuple[int, ...], value: Any, dtype: Any, order: str) -> Any:
    """An array with one value everywhere, or None for zeros; NotImplemented if the core cannot."""
    made = core.full(shape, 0 if value is None else value, dtype, order)
    if made is None and is_made(dtype):
        made = empty(shape, dtype, order)
        if value is not None:
            made[...] = _element(value, made.dtype)
    return NotImplemented if made is None else made


def _element(value: Any, dtype: Any) -> Any:
    """A value as NumPy fills arrays with it: cast, and not as it is assigned."""
    element = numpy.empty((), dtype)
    numpy.copyto(element, value, casting="unsafe")
    return element


def into(made: Any, out: Any, casts: bool = False) -> Any:
    """What was made, written into an array that is just so, but for the dtype if it is cast;
    NotImplemented for others, of which NumPy knows what may be.
    """
    if out is None or made is NotImplemented:
        return made
    known = isinstance(out, ndarray) and isinstance(made, ndarray) and out._writeable
    if not known or out.shape != made.shape or (out.dtype != made.dtype and not casts):
        return NotImplemented
    out[...] = made
    return out


def few(array: Any, length: int = 1) -> Any:
    """An array of NumPy's with as many axes and the same dtype, of which NumPy can be asked what it
    thinks of dtypes.
    """
    return numpy.zeros((length,) * array.ndim, array.dtype)


def where(condition: Any, chosen: Any, other: Any) -> Any:
    """Element by element from one or the other; NotImplemented if the core cannot."""
    made = core.where_(condition, chosen, other)
    if made is None or isinstance(made, ndarray):
        return NotImplemented if made is None else made
    return core.full((), made, made.dtype, "C")  # an operation gives a scalar, but NumPy's not


def _ufuncs() -> dict[str, Any]:
    found = {name: value for name, value in vars(numpy).items() if isinstance(value, numpy.ufunc)}
    found["clip"] = import_module("numpy._core.umath").clip  # behind the function of that name
    # Under two names NumPy has one ufunc, and so have we.
    ours = {id(value): core.ufunc(value) for value in found.values()}
    return {name: ours[id(value)] for name, value in found.items()}


ufuncs = _ufuncs()
