"""Array creation: from shapes, from arrays, from anything that NumPy converts."""

from __future__ import annotations

import math
import operator
from importlib import import_module
from typing import Any

import numpy

from dappled._dispatch.convert import NumPyCall, Proxy
from dappled._dispatch.implements import implements
from dappled._interop.duck_arrays import as_dappled
from dappled._ndarray.core import core, is_creatable, ndarray, ufuncs
from dappled._ndarray.core import empty as empty_array
from dappled._ndarray.core import full as full_array
from dappled._ndarray.memory_order import flags_of, memory_order
from dappled._ndarray.views import view_like_numpy
from dappled._ranks.map_blocks import is_distributed

NATIVE_KINDS = "biufc"  # kinds of dtype that the core fills itself
_LIKE_ORDERS = ("K", "k", "A", "a", "C", "c", "F", "f")
_LOSSY_KINDS = {"b": "SUV", "i": "fcSUV", "u": "fcSUV", "f": "cSUV", "c": "SUV"}
_ORDERS = {"C": "C", "c": "C", "F": "F", "f": "F", None: "C"}


@implements(numpy.array)
def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: Any = True,
    order: Any = "K",
    subok: Any = False,
    ndmin: int = 0,
) -> Any:
    object = as_dappled(object)
    if not isinstance(object, ndarray):
        if (
            core.ranks() == 1
            and type(object) is list
            and _are_native_arrays(object)
            and order == "K"
        ):
            rows = numpy.array([core.unwrap(row) for row in object], dtype, ndmin=ndmin)
            return core.wrap(rows, True)
        result = _stack(object, dtype)
        if result is None and not subok and _is_fortran_requested(order):
            result = array(object, dtype, copy=copy)
        return (
            NotImplemented if result is None else array(result, copy=None, order=order, ndmin=ndmin)
        )
    if ndmin > object.ndim:
        result = array(object, dtype, copy=copy, order=order)
        return result.reshape((1,) * (ndmin - result.ndim) + result.shape)
    same = dtype is None or numpy.dtype(dtype) == object.dtype
    if copy is True:
        return object.astype(object.dtype if same else dtype, order=order or "K")
    if same and _has_order(object, order):
        return object
    if copy is False:  # NumPy raises
        return view_like_numpy(numpy.array, object, dtype, copy=False, order=order)
    return object.astype(dtype or object.dtype, order=order)


def _are_native_arrays(rows: list[Any]) -> bool:
    """Whether a list contains native arrays only."""
    return bool(rows) and all(type(row) is ndarray and row._held is None for row in rows)


def _is_fortran_requested(order: Any) -> bool:
    """Whether Fortran order is requested on several ranks."""
    return core.ranks() > 1 and order in ("F", "f")


def _stack(sequence: Any, dtype: Any) -> Any:
    """A new array from nested sequences that contain a distributed array; else None."""
    base: Any = getattr(sequence, "base", None) if isinstance(sequence, Proxy) else None
    if is_distributed(base):
        row = base.copy().reshape(-1)
        return row if dtype is None else row.astype(dtype)
    if (
        core.ranks() == 1
        or type(sequence) not in (list, tuple)
        or not _contains_distributed(sequence)
    ):
        return None
    arrays = [array(item) if type(item) in (list, tuple) else item for item in sequence]
    if len({numpy.shape(item) if isinstance(item, ndarray) else None for item in arrays}) > 1:
        return None
    kind = numpy.result_type(*arrays) if dtype is None else numpy.dtype(dtype)
    if not isinstance(arrays[0], ndarray) or not is_creatable(kind):
        return None
    result = empty_array((len(arrays), *arrays[0].shape), kind)
    for position, item in enumerate(arrays):
        result[position] = item
    return result


def _contains_distributed(value: Any) -> bool:
    if type(value) in (list, tuple):
        return any(map(_contains_distributed, value))
    return is_distributed(value)


@implements(numpy.asarray)
def asarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None
) -> Any:
    if _is_other_device(device) or (copy is False and type(a) in (list, tuple)):
        return NotImplemented
    a = as_dappled(a)
    if not isinstance(a, ndarray):
        result = _stack(a, dtype)
        if result is None and copy is not False and _is_fortran_requested(order):
            result = asarray(a, dtype)
        return NotImplemented if result is None else array(result, copy=None, order=order or "K")
    return array(a, dtype, copy=copy, order=order or "K")


@implements(numpy.asanyarray)
def asanyarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None
) -> Any:
    a = as_dappled(a)
    if not isinstance(a, ndarray) or _is_other_device(device):
        return NotImplemented
    return asarray(a, dtype, order, copy=copy)


@implements(numpy.ascontiguousarray)
def ascontiguousarray(a: Any, dtype: Any = None) -> Any:
    return _as_ordered(a, dtype, "C")


@implements(numpy.asfortranarray)
def asfortranarray(a: Any, dtype: Any = None) -> Any:
    return _as_ordered(a, dtype, "F")


@implements(numpy.empty)
def empty(shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None) -> Any:
    kind = numpy.dtype(dtype)
    sizes = _normalise_shape(shape)
    if sizes is None or order not in _ORDERS or _is_other_device(device) or not is_creatable(kind):
        return NotImplemented
    return empty_array(sizes, kind, _ORDERS[order])


@implements(numpy.zeros)
def zeros(shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None) -> Any:
    return _filled(shape, None, numpy.dtype(dtype), order, device)


@implements(numpy.ones)
def ones(shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None) -> Any:
    return _filled(shape, 1, numpy.dtype(dtype), order, device)


@implements(numpy.full)
def full(
    shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", *, device: Any = None
) -> Any:
    if not isinstance(fill_value, bool | int | float | complex | str | bytes | numpy.generic):
        return NotImplemented
    kind = numpy.dtype(dtype) if dtype is not None else numpy.asarray(fill_value).dtype
    # NumPy raises or warns about a loss of information.
    if numpy.min_scalar_type(fill_value).kind in _LOSSY_KINDS.get(kind.kind, ""):
        return NotImplemented
    if isinstance(fill_value, int) and kind.kind in "biu":
        bounds = numpy.iinfo(kind if kind.kind != "b" else numpy.int64)
        if not bounds.min <= fill_value <= bounds.max:
            return NotImplemented
    if kind.kind in "fc":
        fill_value = numpy.full((), fill_value, kind)[()]  # NumPy warns about overflow
    return _filled(shape, fill_value, kind, order, device)


@implements(numpy.empty_like)
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
    plain = type(prototype) in (numpy.ndarray, list, tuple) or numpy.isscalar(prototype)
    if core.ranks() > 1 and plain:
        prototype = asarray(prototype)  # NumPy's uninitialised values would differ between ranks
    if not isinstance(prototype, ndarray) or _is_other_device(device):
        return NotImplemented
    kind = prototype.dtype if dtype is None else numpy.dtype(dtype)
    sizes, order = prototype.shape if shape is None else _normalise_shape(shape), order or "K"
    if sizes is None or not is_creatable(kind) or order not in _LIKE_ORDERS:
        return NotImplemented
    axes = memory_order(prototype, len(sizes), order)
    if axes == sorted(axes) and sizes == prototype.shape:
        return _with_distribution_of(empty_array(sizes, kind, "C"), prototype)
    if axes in (sorted(axes), sorted(axes, reverse=True)):
        return empty_array(sizes, kind, "C" if axes == sorted(axes) else "F")
    result = empty_array(tuple(sizes[axis] for axis in axes), kind, "C")
    return result.transpose(sorted(range(len(axes)), key=axes.__getitem__))._owner()


def _with_distribution_of(result: Any, prototype: Any) -> Any:
    """A new array with the distribution of another of its shape."""
    if core.ranks() == 1 or prototype._held is not None or prototype._whole:
        return result
    try:
        wanted = prototype.distribution
    except ValueError:  # a view, which has no distribution of its own
        return result
    return result if result.distribution == wanted else result.redistribute(wanted)


# Up to this size NumPy is as fast.
_MAX_EYE_BY_NUMPY = 1 << 20


@implements(numpy.eye)
def eye(
    N: Any, M: Any = None, k: Any = 0, dtype: Any = float, order: Any = "C", *, device: Any = None
) -> Any:
    kind = numpy.dtype(dtype)
    sizes = _normalise_shape((N, N if M is None else M))
    if (
        sizes is None
        or _is_other_device(device)
        or order not in _ORDERS
        or kind.kind not in NATIVE_KINDS
    ):
        return NotImplemented
    if core.ranks() == 1 and math.prod(sizes) <= _MAX_EYE_BY_NUMPY:
        return NotImplemented
    rows, columns = (core.wrap(numpy.arange(size)) for size in sizes)
    # NumPy accepts any index for `k`.
    diagonal = ufuncs["equal"](columns, rows[:, None] + operator.index(k))
    return diagonal.astype(kind, order=_ORDERS[order])


@implements(numpy.identity)
def identity(n: Any, dtype: Any = None) -> Any:
    return eye(n, dtype=dtype)


@implements(numpy.fromfunction)
def fromfunction(function: Any, shape: Any, *, dtype: Any = float, **kwargs: Any) -> Any:
    if "like" in kwargs:
        return NotImplemented
    if core.ranks() > 1:
        return function(*import_module("dappled").indices(shape, dtype=dtype), **kwargs)
    numpy_call = NumPyCall("dappled.fromfunction")
    return function(*numpy_call.from_numpy(numpy.indices(shape, dtype=dtype)), **kwargs)


@implements(numpy.arange)
def arange(*args: Any, dtype: Any = None, device: Any = None) -> Any:
    """Each rank computes its piece by NumPy's formula: first + index * step."""
    if (
        core.ranks() == 1
        or not 1 <= len(args) <= 3
        or _is_other_device(device)
        or not _are_finite_numbers(args)
    ):
        return NotImplemented
    start, stop, step = (0, *args, 1) if len(args) == 1 else (*args, 1)[:3]
    if not step:
        return NotImplemented
    theirs: Any = numpy.arange
    kind = theirs(start * 0, stop * 0, step, dtype).dtype
    start, stop, step = map(_as_python_scalar, (start, stop, step))
    length = max(0, math.ceil((stop - start) / step))
    blocks = core.blocks((length,), kind.itemsize)
    if blocks is None or kind.kind not in "iufc" or kind.char in "gG":
        return NotImplemented
    # Only existing elements: the dtype may not represent others.
    values = numpy.array(
        [start + step * position if position < length else 0 for position in (0, 1)], kind
    )
    own = blocks.local_shape(core.rank())[0]
    first = blocks.global_index(core.rank(), (0,))[0] if own else 0
    return core.from_piece(
        blocks, _arithmetic_sequence(values, numpy.arange(first, first + own)), True
    )


def _as_python_scalar(value: Any) -> Any:
    return value.item() if isinstance(value, numpy.generic) else value


def _are_finite_numbers(args: tuple[Any, ...]) -> bool:
    kinds = (int, float, numpy.integer, numpy.floating)
    return all(isinstance(value, kinds) and math.isfinite(value) for value in args)


def _arithmetic_sequence(values: Any, positions: Any) -> Any:
    """The arithmetic sequence through two values, at these positions."""
    kind = values.dtype
    if kind.kind == "c":
        result = numpy.empty(len(positions), kind)
        result.real, result.imag = (
            _arithmetic_sequence(values.real, positions),
            _arithmetic_sequence(values.imag, positions),
        )
        return result
    wide = values.astype("f4") if kind.char == "e" else values
    with numpy.errstate(all="ignore"):
        return (wide[0] + positions.astype(wide.dtype) * (wide[1] - wide[0])).astype(kind)


def _filled(shape: Any, value: Any, dtype: Any, order: Any, device: Any) -> Any:
    sizes = _normalise_shape(shape)
    if sizes is None or order not in _ORDERS or _is_other_device(device) or not is_creatable(dtype):
        return NotImplemented
    return full_array(sizes, value, dtype, _ORDERS[order])


def _is_other_device(device: Any) -> bool:
    """Whether a device is not the CPU, for which NumPy raises."""
    return device not in (None, "cpu")


_MAX_AXES = 64  # NumPy's limit, above which it raises


def _normalise_shape(shape: Any) -> tuple[int, ...] | None:
    """A shape as a tuple of integers; None if it is invalid."""
    if isinstance(shape, bool):
        return None
    if hasattr(shape, "__index__"):
        shape = (shape,)
    try:
        sizes = tuple(map(operator.index, shape))
    except TypeError:
        return None
    if len(sizes) > _MAX_AXES or any(isinstance(size, bool) for size in shape):
        return None
    fits = all(0 <= size < 2**48 for size in sizes) and math.prod(sizes) < 2**48
    return sizes if fits else None


def _has_order(array: Any, order: str | None) -> bool:
    if order in (None, "K", "A", "k", "a"):
        return True
    return bool(flags_of(array)["C" if order in ("C", "c") else "F"])


def _as_ordered(array: Any, dtype: Any, order: str) -> Any:
    array = as_dappled(array)
    if not isinstance(array, ndarray) and not _is_fortran_requested(order):
        return NotImplemented
    result = asarray(array, dtype, order)
    return result if result.ndim else result.reshape(1)
