"""dot, inner, vdot, trace and their like of arrays in pieces."""

from __future__ import annotations

import math
from typing import Any

import numpy

from dappled._array import core, few, into, is_native, ndarray, ufuncs, wrapped
from dappled._fallback import shadow
from dappled._flat import flatiter
from dappled._foreign import as_ours
from dappled._matmul import matmul
from dappled._native import native
from dappled._order import flags_of
from dappled._piecewise import in_pieces


def ours(*values: Any) -> list[Any] | None:
    """The arguments as arrays of ours, if one is in pieces and all are native."""
    given = map(as_ours, values)
    arrays = [value if isinstance(value, ndarray) else numpy.asarray(value) for value in given]
    native = all(is_native(value.dtype) for value in arrays)
    if not native or not any(map(in_pieces, arrays)):
        return None
    return [value if isinstance(value, ndarray) else wrapped(value) for value in arrays]


@native(numpy.dot)
def dot(a: Any, b: Any, out: Any = None) -> Any:
    if out is None:
        return _dot(a, b)
    if core.ranks() == 1 or not isinstance(out, ndarray):
        return NotImplemented
    if arrays := ours(a, b):
        one, other = map(few, arrays)
        numpy.dot(one, other, few(out))  # which NumPy may refuse
    return into(_dot(a, b), out) if flags_of(out).c_contiguous else NotImplemented


def _dot(a: Any, b: Any) -> Any:
    if rows := _long_rows(a, b):
        return _of_vectors(*rows)
    arrays = ours(a, b)
    if arrays is None:
        return NotImplemented
    one, other = arrays
    if not (one.ndim and other.ndim):
        return ufuncs["multiply"](one, other)
    if one.shape[-1] != other.shape[max(other.ndim - 2, 0)]:
        return numpy.dot(*shadow((one, other)))
    if one.ndim == other.ndim == 1:
        return _of_vectors(one, other)
    columns = other if other.ndim < 3 else numpy.moveaxis(other, -2, 0)
    shape = (*one.shape[:-1], *columns.shape[1:])
    return _of_matrices(one, columns, shape)


@native(numpy.inner)
def inner(a: Any, b: Any, /) -> Any:
    arrays = ours(a, b)
    if arrays is None:
        return NotImplemented
    one, other = arrays
    if not (one.ndim and other.ndim):
        return ufuncs["multiply"](one, other)
    if one.shape[-1] != other.shape[-1]:
        return numpy.inner(*shadow((one, other)))
    if one.ndim == other.ndim == 1:
        return _of_vectors(one, other)
    shape = (*one.shape[:-1], *other.shape[:-1])
    return _of_matrices(one, numpy.moveaxis(other, -1, 0), shape)


@native(numpy.vdot)
def vdot(a: Any, b: Any, /) -> Any:
    arrays = ours(a, b)
    if arrays is None:
        return NotImplemented
    one, other = (array.reshape(-1) for array in arrays)
    if one.size != other.size:
        return numpy.vdot(*shadow((one, other)))
    return _of_vectors(ufuncs["conjugate"](one) if one.dtype.kind == "c" else one, other)


@native(numpy.trace)
def trace(
    a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None, out: Any = None
) -> Any:
    if not in_pieces(a):
        return NotImplemented
    return ufuncs["add"].reduce(a.diagonal(offset, axis1, axis2), -1, dtype, out)


# Up to so many elements NumPy's product of vectors is as fast, and its bits are its own.
_FEW = 1 << 14


def _long_rows(a: Any, b: Any) -> tuple[Any, Any] | None:
    """Long vectors of one dtype that BLAS would multiply, or arrays whose elements are those.

    Their products are summed as they are computed, with what is pending for them.
    """
    rows = tuple(_elements(value) for value in (a, b))
    one, other = rows
    if one is None or other is None or one.shape != other.shape or one.size <= _FEW:
        return None
    return rows if one.dtype == other.dtype and one.dtype.char in "fd" else None


def _elements(value: Any) -> Any:
    """An array with the elements of a vector, in C order."""
    array = value.base if type(value) is flatiter else value
    is_row = type(array) is ndarray and (array.ndim == 1 or array is not value)
    return array if is_row and array._held is None and flags_of(array).c_contiguous else None


def _of_vectors(a: Any, b: Any) -> Any:
    """The sum of products, in the order of all sums: the same on any number of ranks."""
    kind = numpy.result_type(a.dtype, b.dtype)
    if kind.char in "fdFD" and a._is_stored and b._is_stored:
        return numpy.dot(core.unwrap(a).reshape(-1), core.unwrap(b).reshape(-1))
    if kind.kind == "b":
        return core.reduce(ufuncs["logical_and"](a, b), "logical_or", None)
    with numpy.errstate(all="ignore"):  # as NumPy's, it says nothing
        wide = numpy.dtype("f4") if kind.char == "e" else kind
        product = ufuncs["multiply"](a.astype(wide, copy=False), b.astype(wide, copy=False))
        return kind.type(core.reduce(product, "add", None, wide))


def _of_matrices(a: Any, b: Any, shape: tuple[int, ...]) -> Any:
    """The last axis of one with the first of the other."""
    length = a.shape[-1]
    if not length or not math.prod(shape):
        return core.full(shape, 0, numpy.result_type(a.dtype, b.dtype), "C")
    left = a if a.ndim == 2 else a.reshape(-1, length)
    right = b if b.ndim == 2 else b.reshape(length, -1)
    made = matmul(left, right, numpy.dot)
    if made is NotImplemented:
        return NotImplemented
    return made if made.shape == shape else made.reshape(shape, copy=True)


def _vecdot(a: Any, b: Any) -> Any:
    arrays = ours(a, b)
    if arrays is None or not all(array.ndim for array in arrays):
        return NotImplemented
    one, other = arrays
    if one.shape[-1] != other.shape[-1]:
        return numpy.vecdot(*shadow((one, other)))
    kind = numpy.result_type(one.dtype, other.dtype)
    if kind.char in "e?":
        return NotImplemented
    left = ufuncs["conjugate"](one) if one.dtype.kind == "c" else one
    with numpy.errstate(all="ignore"):
        return core.reduce(ufuncs["multiply"](left, other), "add", -1, kind)


def _matvec(a: Any, b: Any) -> Any:
    fits = b.ndim and a.ndim > 1 and a.shape[-1] == b.shape[-1]
    made = matmul(a, b[..., None]) if fits else NotImplemented
    return made if made is NotImplemented else made[..., 0].copy()


def _vecmat(a: Any, b: Any) -> Any:
    if not a.ndim or b.ndim < 2 or a.shape[-1] != b.shape[-2]:
        return NotImplemented
    made = matmul(numpy.conjugate(a)[..., None, :] if a.dtype.kind == "c" else a[..., None, :], b)
    return made if made is NotImplemented else made[..., 0, :].copy()


# NumPy's ufuncs of vectors and matrices, where they are here: two of them are new in NumPy 2.2.
GENERALISED = {
    getattr(numpy, name): function
    for name, function in {
        "matmul": matmul,
        "matvec": _matvec,
        "vecdot": _vecdot,
        "vecmat": _vecmat,
    }.items()
    if hasattr(numpy, name)
}
