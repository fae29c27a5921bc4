"""Creating arrays: from shapes, from other arrays, from anything that NumPy reads."""

from __future__ import annotations

import math
import operator
from importlib import import_module
from typing import Any

import numpy

from dappled._array import core, is_made, ndarray, ufuncs
from dappled._array import empty as empty_array
from dappled._array import full as full_array
from dappled._crossing import Crossing, Proxy
from dappled._foreign import as_ours
from dappled._native import native
from dappled._order import flags_of, memory_order
from dappled._piecewise import in_pieces
from dappled._views import viewed

NATIVE_KINDS = "biufc"  # dtypes that the core fills itself
_ORDER_LIKE = ("K", "k", "A", "a", "C", "c", "F", "f")
_LOST = {"b": "SUV", "i": "fcSUV", "u": "fcSUV", "f": "cSUV", "c": "SUV"}
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
    object = as_ours(object)
    if not isinstance(object, ndarray):
        if core.ranks() == 1 and type(object) is list and _are_ours(object) and order == "K":
            rows = numpy.array([core.unwrap(row) for row in object], dtype, ndmin=ndmin)
            return core.wrap(rows, True)
        made = _stacked(object, dtype)
        if made is None and not subok and _is_turned(order):
            made = array(object, dtype, copy=copy)
        return NotImplemented if made is None else array(made, copy=None, order=order, ndmin=ndmin)
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


def _are_ours(rows: list[Any]) -> bool:
    """Whether a list is one of arrays, and they are native, whose elements are as they are."""
    return bool(rows) and all(type(row) is ndarray and row._held is None for row in rows)


def _is_turned(order: Any) -> bool:
    """Whether columns are to lie in a row: each rank takes its part of NumPy's in rows, and turns
    it.
    """
    return core.ranks() > 1 and order in ("F", "f")


def _stacked(sequence: Any, dtype: Any) -> Any:
    """A list of arrays, or of such lists, of which one is in pieces: as a new array. So is what
    goes along the elements of one.
    """
    base: Any = getattr(sequence, "base", None) if isinstance(sequence, Proxy) else None
    if in_pieces(base):
        row = base.copy().reshape(-1)
        return row if dtype is None else row.astype(dtype)
    if core.ranks() == 1 or type(sequence) not in (list, tuple) or not _has_pieces(sequence):
        return None
    arrays = [array(item) if type(item) in (list, tuple) else item for item in sequence]
    if len({numpy.shape(item) if isinstance(item, ndarray) else None for item in arrays}) > 1:
        return None
    kind = numpy.result_type(*arrays) if dtype is None else numpy.dtype(dtype)
    if not isinstance(arrays[0], ndarray) or not is_made(kind):
        return None
    made = empty_array((len(arrays), *arrays[0].shape), kind)
    for place, item in enumerate(arrays):
        made[place] = item
    return made


def _has_pieces(value: Any) -> bool:
    if type(value) in (list, tuple):
        return any(map(_has_pieces, value))
    return in_pieces(value)


@native(numpy.asarray)
def asarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None
) -> Any:
    if _is_away(device) or (copy is False and type(a) in (list, tuple)):
        return NotImplemented
    a = as_ours(a)
    if not isinstance(a, ndarray):
        made = _stacked(a, dtype)
        if made is None and copy is not False and _is_turned(order):
            made = asarray(a, dtype)
        return NotImplemented if made is None else array(made, copy=None, order=order or "K")
    return array(a, dtype, copy=copy, order=order or "K")


@native(numpy.asanyarray)
def asanyarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None
) -> Any:
    a = as_ours(a)
    if not isinstance(a, ndarray) or _is_away(device):
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
    if sizes is None or order not in _ORDERS or _is_away(device) or not is_made(kind):
        return NotImplemented
    return empty_array(sizes, kind, _ORDERS[order])


@native(numpy.zeros)
def zeros(shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None) -> Any:
    return _filled(shape, None, numpy.dtype(dtype), order, device)


@native(numpy.ones)
def ones(shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None) -> Any:
    return _filled(shape, 1, numpy.dtype(dtype), order, device)


@native(numpy.full)
def full(
    shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", *, device: Any = None
) -> Any:
    if not isinstance(fill_value, bool | int | float | complex | str | bytes | numpy.generic):
        return NotImplemented
    kind = numpy.dtype(dtype) if dtype is not None else numpy.asarray(fill_value).dtype
    # What is lost in the dtype NumPy refuses, or warns of.
    if numpy.min_scalar_type(fill_value).kind in _LOST.get(kind.kind, ""):
        return NotImplemented
    if isinstance(fill_value, int) and kind.kind in "biu":
        bounds = numpy.iinfo(kind if kind.kind != "b" else numpy.int64)
        if not bounds.min <= fill_value <= bounds.max:
            return NotImplemented
    if kind.kind in "fc":
        fill_value = numpy.full((), fill_value, kind)[()]  # with its warning, if it is too large
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
    plain = type(prototype) in (numpy.ndarray, list, tuple) or numpy.isscalar(prototype)
    if core.ranks() > 1 and plain:
        prototype = asarray(prototype)  # NumPy's would hold something else on every rank
    if not isinstance(prototype, ndarray) or _is_away(device):
        return NotImplemented
    kind = prototype.dtype if dtype is None else numpy.dtype(dtype)
    sizes, order = prototype.shape if shape is None else _sizes(shape), order or "K"
    if sizes is None or not is_made(kind) or order not in _ORDER_LIKE:
        return NotImplemented
    axes = memory_order(prototype, len(sizes), order)
    if axes == sorted(axes) and sizes == prototype.shape:
        return _like(empty_array(sizes, kind, "C"), prototype)
    if axes in (sorted(axes), sorted(axes, reverse=True)):
        return empty_array(sizes, kind, "C" if axes == sorted(axes) else "F")
    made = empty_array(tuple(sizes[axis] for axis in axes), kind, "C")
    return made.transpose(sorted(range(len(axes)), key=axes.__getitem__))._owner()


def _like(made: Any, prototype: Any) -> Any:
    """A new array of the shape of another, where that one lies if it is in pieces."""
    if core.ranks() == 1 or prototype._held is not None or prototype._whole:
        return made
    try:
        wanted = prototype.distribution
    except ValueError:  # a part of an array, which lies as what it was cut from
        return made
    return made if made.distribution == wanted else made.redistribute(wanted)


# Up to so many elements NumPy writes zeros and ones as fast.
_SHORT = 1 << 20


@native(numpy.eye)
def eye(
    N: Any, M: Any = None, k: Any = 0, dtype: Any = float, order: Any = "C", *, device: Any = None
) -> Any:
    kind = numpy.dtype(dtype)
    sizes = _sizes((N, N if M is None else M))
    if sizes is None or _is_away(device) or order not in _ORDERS or kind.kind not in NATIVE_KINDS:
        return NotImplemented
    if core.ranks() == 1 and math.prod(sizes) <= _SHORT:
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
    if core.ranks() > 1:
        return function(*import_module("dappled").indices(shape, dtype=dtype), **kwargs)
    crossing = Crossing("dappled.fromfunction")
    return function(*crossing.back(numpy.indices(shape, dtype=dtype)), **kwargs)


@native(numpy.arange)
def arange(*args: Any, dtype: Any = None, device: Any = None) -> Any:
    """Each rank makes its own part, by NumPy's rule: the first, and so many steps more."""
    if core.ranks() == 1 or not 1 <= len(args) <= 3 or _is_away(device) or not _are_numbers(args):
        return NotImplemented
    start, stop, step = (0, *args, 1) if len(args) == 1 else (*args, 1)[:3]
    if not step:
        return NotImplemented
    theirs: Any = numpy.arange
    kind = theirs(start * 0, stop * 0, step, dtype).dtype
    start, stop, step = map(_plain, (start, stop, step))
    length = max(0, math.ceil((stop - start) / step))
    blocks = core.blocks((length,), kind.itemsize)
    if blocks is None or kind.kind not in "iufc" or kind.char in "gG":
        return NotImplemented
    # Those that there are: the dtype need not have others.
    values = numpy.array([start + step * place if place < length else 0 for place in (0, 1)], kind)
    own = blocks.local_shape(core.rank())[0]
    first = blocks.global_index(core.rank(), (0,))[0] if own else 0
    return core.from_piece(blocks, _steps(values, numpy.arange(first, first + own)), True)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, numpy.generic) else value


def _are_numbers(args: tuple[Any, ...]) -> bool:
    kinds = (int, float, numpy.integer, numpy.floating)
    return all(isinstance(value, kinds) and math.isfinite(value) for value in args)


def _steps(values: Any, places: Any) -> Any:
    """Steps from the first of two values to the next and on, at these places."""
    kind = values.dtype
    if kind.kind == "c":
        made = numpy.empty(len(places), kind)
        made.real, made.imag = _steps(values.real, places), _steps(values.imag, places)
        return made
    wide = values.astype("f4") if kind.char == "e" else values
    with numpy.errstate(all="ignore"):
        return (wide[0] + places.astype(wide.dtype) * (wide[1] - wide[0])).astype(kind)


def _filled(shape: Any, value: Any, dtype: Any, order: Any, device: Any) -> Any:
    sizes = _sizes(shape)
    if sizes is None or order not in _ORDERS or _is_away(device) or not is_made(dtype):
        return NotImplemented
    return full_array(sizes, value, dtype, _ORDERS[order])


def _is_away(device: Any) -> bool:
    """Whether a device is one that NumPy has an error for."""
    return device not in (None, "cpu")


_MOST_AXES = 64  # of an array of NumPy's, which has words for more


def _sizes(shape: Any) -> tuple[int, ...] | None:
    """A shape as plain numbers, if it is a good one."""
    if isinstance(shape, bool):
        return None
    if hasattr(shape, "__index__"):
        shape = (shape,)
    try:
        sizes = tuple(map(operator.index, shape))
    except TypeError:
        return None
    if len(sizes) > _MOST_AXES or any(isinstance(size, bool) for size in shape):
        return None
    fits = all(0 <= size < 2**48 for size in sizes) and math.prod(sizes) < 2**48
    return sizes if fits else None


def _is_ordered(array: Any, order: str | None) -> bool:
    if order in (None, "K", "A", "k", "a"):
        return True
    return bool(flags_of(array)["C" if order in ("C", "c") else "F"])


def _in_order(array: Any, dtype: Any, order: str) -> Any:
    array = as_ours(array)
    if not isinstance(array, ndarray) and not _is_turned(order):
        return NotImplemented
    made = asarray(array, dtype, order)
    return made if made.ndim else made.reshape(1)
