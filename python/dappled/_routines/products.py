"""dot, inner, vdot, trace and related products of distributed arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy

from dappled._dispatch.implements import implements
from dappled._dispatch.meta import as_meta, small_meta
from dappled._interop.duck_arrays import as_dappled
from dappled._ndarray.core import core, from_numpy, is_native, ndarray, ufuncs, write_into
from dappled._ndarray.flatiter import flatiter
from dappled._ndarray.memory_order import flags_of
from dappled._ranks.map_blocks import is_distributed


def as_distributed_arrays(*values: Any) -> list[Any] | None:
    """The arguments as arrays of ours, if one is distributed and all are native; else None."""
    given = map(as_dappled, values)
    arrays = [value if isinstance(value, ndarray) else numpy.asarray(value) for value in given]
    native = all(is_native(value.dtype) for value in arrays)
    if not native or not any(map(is_distributed, arrays)):
        return None
    return [value if isinstance(value, ndarray) else from_numpy(value) for value in arrays]


def matmul(a: Any, b: Any, name: str = "matmul") -> Any:
    """`a @ b` with at least one distributed operand; NotImplemented for the fallback.

    Warnings name `matmul` or `dot`.
    """
    if not any(map(is_distributed, (a, b))) or not all(map(_is_multiplied, (a, b))):
        return NotImplemented
    one, other = (x if isinstance(x, ndarray) else from_numpy(x) for x in (a, b))
    try:
        return core.matmul(one, other, name)
    except ValueError:
        numpy.matmul(*as_meta((one, other)))  # NumPy's error, which depends on shapes alone
        raise


def _is_multiplied(value: Any) -> bool:
    """Whether the core multiplies matrices of this class and dtype."""
    arrays = (isinstance(value, ndarray) and value._held is None) or type(value) is numpy.ndarray
    return arrays and is_native(value.dtype) and value.dtype.kind in "biufc"


@implements(numpy.dot)
def dot(a: Any, b: Any, out: Any = None) -> Any:
    if out is None:
        return _dot(a, b)
    if core.ranks() == 1 or not isinstance(out, ndarray):
        return NotImplemented
    if arrays := as_distributed_arrays(a, b):
        one, other = map(small_meta, arrays)
        numpy.dot(one, other, small_meta(out))  # NumPy may raise
    return write_into(_dot(a, b), out) if flags_of(out).c_contiguous else NotImplemented


def _dot(a: Any, b: Any) -> Any:
    if rows := _long_vectors(a, b):
        return _vector_product(*rows)
    arrays = as_distributed_arrays(a, b)
    if arrays is None:
        return NotImplemented
    one, other = arrays
    if not (one.ndim and other.ndim):
        return ufuncs["multiply"](one, other)
    if one.shape[-1] != other.shape[max(other.ndim - 2, 0)]:
        return numpy.dot(*as_meta((one, other)))
    if one.ndim == other.ndim == 1:
        return _vector_product(one, other)
    columns = other if other.ndim < 3 else numpy.moveaxis(other, -2, 0)
    shape = (*one.shape[:-1], *columns.shape[1:])
    return _matrix_product(one, columns, shape)


@implements(numpy.inner)
def inner(a: Any, b: Any, /) -> Any:
    arrays = as_distributed_arrays(a, b)
    if arrays is None:
        return NotImplemented
    one, other = arrays
    if not (one.ndim and other.ndim):
        return ufuncs["multiply"](one, other)
    if one.shape[-1] != other.shape[-1]:
        return numpy.inner(*as_meta((one, other)))
    if one.ndim == other.ndim == 1:
        return _vector_product(one, other)
    shape = (*one.shape[:-1], *other.shape[:-1])
    return _matrix_product(one, numpy.moveaxis(other, -1, 0), shape)


@implements(numpy.vdot)
def vdot(a: Any, b: Any, /) -> Any:
    arrays = as_distributed_arrays(a, b)
    if arrays is None:
        return NotImplemented
    one, other = (array.reshape(-1) for array in arrays)
    if one.size != other.size:
        return numpy.vdot(*as_meta((one, other)))
    return _vector_product(ufuncs["conjugate"](one) if one.dtype.kind == "c" else one, other)


@implements(numpy.trace)
def trace(
    a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None, out: Any = None
) -> Any:
    if not is_distributed(a):
        return NotImplemented
    return ufuncs["add"].reduce(a.diagonal(offset, axis1, axis2), -1, dtype, out)


# Up to this size NumPy's product is as fast, and its result is BLAS's.
_MAX_ELEMENTS_BY_BLAS = 1 << 14


def _long_vectors(a: Any, b: Any) -> tuple[Any, Any] | None:
    """Long contiguous vectors of one dtype that BLAS would multiply; else None.

    Their products are fused with pending operations and summed.
    """
    rows = tuple(_as_vector(value) for value in (a, b))
    one, other = rows
    if (
        one is None
        or other is None
        or one.shape != other.shape
        or one.size <= _MAX_ELEMENTS_BY_BLAS
    ):
        return None
    return rows if one.dtype == other.dtype and one.dtype.char in "fd" else None


def _as_vector(value: Any) -> Any:
    """An array with the elements of a vector, in C order; else None."""
    array = value.base if type(value) is flatiter else value
    is_row = type(array) is ndarray and (array.ndim == 1 or array is not value)
    return array if is_row and array._held is None and flags_of(array).c_contiguous else None


def _vector_product(a: Any, b: Any) -> Any:
    """The sum of products in the order of all sums: the same on any number of ranks."""
    kind = numpy.result_type(a.dtype, b.dtype)
    if kind.char in "fdFD" and a._is_stored and b._is_stored:
        return numpy.dot(core.unwrap(a).reshape(-1), core.unwrap(b).reshape(-1))
    if kind.kind == "b":
        return core.reduce(ufuncs["logical_and"](a, b), "logical_or", None)
    with numpy.errstate(all="ignore"):  # NumPy ignores floating-point errors here
        wide = numpy.dtype("f4") if kind.char == "e" else kind
        product = ufuncs["multiply"](a.astype(wide, copy=False), b.astype(wide, copy=False))
        return kind.type(core.reduce(product, "add", None, wide))


def _matrix_product(a: Any, b: Any, shape: tuple[int, ...]) -> Any:
    """The product along the last axis of one and the first of the other."""
    length = a.shape[-1]
    if not length or not math.prod(shape):
        return core.full(shape, 0, numpy.result_type(a.dtype, b.dtype), "C")
    left = a if a.ndim == 2 else a.reshape(-1, length)
    right = b if b.ndim == 2 else b.reshape(length, -1)
    result = matmul(left, right, "dot")
    if result is NotImplemented:
        return NotImplemented
    return result if result.shape == shape else result.reshape(shape, copy=True)


def _vecdot(a: Any, b: Any) -> Any:
    arrays = as_distributed_arrays(a, b)
    if arrays is None or not all(array.ndim for array in arrays):
        return NotImplemented
    one, other = arrays
    if one.shape[-1] != other.shape[-1]:
        return numpy.vecdot(*as_meta((one, other)))
    kind = numpy.result_type(one.dtype, other.dtype)
    if kind.char in "e?":
        return NotImplemented
    left = ufuncs["conjugate"](one) if one.dtype.kind == "c" else one
    with numpy.errstate(all="ignore"):
        return core.reduce(ufuncs["multiply"](left, other), "add", -1, kind)


def _matvec(a: Any, b: Any) -> Any:
    fits = b.ndim and a.ndim > 1 and a.shape[-1] == b.shape[-1]
    result = matmul(a, b[..., None]) if fits else NotImplemented
    return result if result is NotImplemented else result[..., 0].copy()


def _vecmat(a: Any, b: Any) -> Any:
    if not a.ndim or b.ndim < 2 or a.shape[-1] != b.shape[-2]:
        return NotImplemented
    result = matmul(numpy.conjugate(a)[..., None, :] if a.dtype.kind == "c" else a[..., None, :], b)
    return result if result is NotImplemented else result[..., 0, :].copy()


# Generalised ufuncs; two of them are new in NumPy 2.2.
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
