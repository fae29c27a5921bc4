"""The Rust core's array as the rest of the package sees it."""

from __future__ import annotations

from typing import Any

import numpy

from dappled import _core
from dappled._compat.numpy_private import clip_ufunc
from dappled._dispatch.numpy_facts import NATIVE_CODES
from dappled._ndarray.memory_order import memory_order, undo_transpose

core: Any = _core
ndarray: Any = core.ndarray


def needs_gather(array: Any) -> bool:
    """Whether NumPy can see all elements only in a gathered copy."""
    return not array._whole


def is_communicable(dtype: numpy.dtype[Any]) -> bool:
    """Whether elements can be sent to another rank: object references cannot."""
    return dtype.itemsize > 0 and not dtype.hasobject and dtype.kind != "T"


def with_zeroed_padding(values: Any) -> Any:
    """Values with zeroed padding bytes.

    Long doubles and structures have padding. Ranks compare the bytes of the arguments of an
    operation.
    """
    if not _has_padding(values.dtype):
        return values
    if values.dtype.names is None:
        raw = values.copy(order="C").reshape(-1).view("u1").reshape(-1, numpy.dtype("g").itemsize)
        raw[:, slice(10, None) if values.dtype.isnative else slice(-10)] = 0
        return raw.reshape(-1).view(values.dtype).reshape(values.shape)
    cleared = numpy.zeros(values.shape, values.dtype)
    for name in values.dtype.names:
        cleared[name] = with_zeroed_padding(values[name])
    return cleared


def _has_padding(dtype: Any) -> bool:
    """Whether elements contain padding bytes."""
    if dtype.subdtype is not None:
        return _has_padding(dtype.subdtype[0])
    if dtype.names is None:
        return dtype.char in "gG" and numpy.finfo("g").nmant == 63
    fields = [dtype.fields[name][0] for name in dtype.names]
    return sum(field.itemsize for field in fields) < dtype.itemsize or any(
        map(_has_padding, fields)
    )


def from_numpy(values: Any, fresh: bool = False) -> Any:
    """A NumPy array as ours, with the same order of axes in memory."""
    if core.ranks() == 1 or not is_communicable(values.dtype):
        return core.wrap(values, fresh)
    axes = memory_order(values, values.ndim, "K")
    return undo_transpose(core.wrap(values.transpose(axes), fresh), axes)


def is_native(dtype: numpy.dtype[Any]) -> bool:
    """Whether the core has kernels for a dtype."""
    return dtype.isnative and dtype.str[1:] in NATIVE_CODES


def is_creatable(dtype: numpy.dtype[Any]) -> bool:
    """Whether the core creates arrays of a dtype.

    Opaque dtypes only where there are several ranks.
    """
    return is_native(dtype) or (core.ranks() > 1 and is_communicable(dtype))


def empty(shape: tuple[int, ...], dtype: Any, order: str = "C") -> Any:
    """An uninitialised array; the core fills it with zero bytes."""
    result = core.full(shape, 0, dtype, order)
    if result is None and is_creatable(numpy.dtype(dtype)):
        backwards = order in ("F", "f")
        result = core.zero_items(shape[::-1] if backwards else shape, numpy.dtype(dtype))
        result = result.T._owner() if backwards else result
    return core.wrap(numpy.empty(shape, dtype, order)) if result is None else result  # type: ignore[call-overload]


def full(shape: tuple[int, ...], value: Any, dtype: Any, order: str) -> Any:
    """An array filled with one value (zero if it is None); NotImplemented if the core cannot."""
    result = core.full(shape, 0 if value is None else value, dtype, order)
    if result is None and is_creatable(dtype):
        result = empty(shape, dtype, order)
        if value is not None:
            result[...] = _element(value, result.dtype)
    return NotImplemented if result is None else result


def _element(value: Any, dtype: Any) -> Any:
    """A value cast to a dtype without the checks of an assignment, as `numpy.full` casts it."""
    element = numpy.empty((), dtype)
    numpy.copyto(element, value, casting="unsafe")
    return element


def write_into(result: Any, out: Any, casts: bool = False) -> Any:
    """A result written into `out`; NotImplemented where NumPy must decide.

    The shapes must be equal, and the dtypes unless `casts`.
    """
    if out is None or result is NotImplemented:
        return result
    known = isinstance(out, ndarray) and isinstance(result, ndarray) and out._writeable
    if not known or out.shape != result.shape or (out.dtype != result.dtype and not casts):
        return NotImplemented
    out[...] = result
    return out


def where(condition: Any, chosen: Any, other: Any) -> Any:
    """Elements of one array or another by a condition; NotImplemented if the core cannot."""
    result = core.where_(condition, chosen, other)
    if result is None or isinstance(result, ndarray):
        return NotImplemented if result is None else result
    return core.full((), result, result.dtype, "C")  # an operation gives a scalar, but NumPy's not


def _ufuncs() -> dict[str, Any]:
    result = {name: value for name, value in vars(numpy).items() if isinstance(value, numpy.ufunc)}
    result["clip"] = clip_ufunc()  # `numpy.clip` is a function
    # NumPy has some ufuncs under two names: one object of ours for both.
    ours = {id(value): core.ufunc(value) for value in result.values()}
    return {name: ours[id(value)] for name, value in result.items()}


ufuncs = _ufuncs()
