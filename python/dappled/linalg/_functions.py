"""The functions of `numpy.linalg`: NumPy's LAPACK does the local work.

A distributed matrix is factored by the core. Of a distributed stack each rank has whole matrices,
and stacks of small matrices are divided over threads, too. Other cases gather, with a warning.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy

from dappled._dispatch.implements import implements
from dappled._dispatch.meta import as_meta
from dappled._dispatch.numpy_facts import GATHERED
from dappled._ndarray.core import core, empty, ndarray, ufuncs
from dappled._ranks.map_blocks import is_distributed
from dappled._routines.products import as_distributed_arrays
from dappled.linalg._batched import is_worth_threads, map_stacks_on_ranks, map_stacks_on_threads

_LAPACK_DTYPES = "?bhilqBHILQfdFD"


def _result_dtype(array: Any) -> Any:
    """The dtype of results: double precision, unless the matrix has single precision."""
    if array.dtype.kind == "c":
        return array.dtype
    return array.dtype if array.dtype.char == "f" else numpy.dtype("f8")


def _apply(
    theirs: Callable[..., Any],
    given: tuple[Any, ...],
    kwargs: dict[str, Any],
    one: Callable[..., Any] | None = None,
    square: bool = True,
) -> Any:
    """A function of matrices, or of stacks; `one` computes a distributed matrix."""
    if not any(map(is_distributed, given)):
        return _apply_on_threads(theirs, given, kwargs)
    arrays = as_distributed_arrays(*given)
    if arrays is None or not all(array.size for array in arrays):
        return NotImplemented
    if _has_wrong_shape(arrays, square):
        theirs(*as_meta(tuple(arrays)), **kwargs)  # NumPy's error, which needs no values
        return NotImplemented
    batch = numpy.broadcast_shapes(*(array.shape[:-2] for array in arrays))
    if not batch:
        return NotImplemented if one is None else one(*arrays)
    if one is not None and math.prod(batch) < core.ranks():
        result = _apply_one_by_one(one, arrays, batch)
        if result is not NotImplemented:
            return result
    return map_stacks_on_ranks(lambda *parts: theirs(*parts, **kwargs), arrays, batch)


def _has_wrong_shape(arrays: list[Any], square: bool) -> bool:
    first = arrays[0]
    if any(array.dtype.char not in _LAPACK_DTYPES or array.ndim < 2 for array in arrays):
        return True
    if square and first.shape[-1] != first.shape[-2]:
        return True
    return any(array.shape[-2] != first.shape[-2] for array in arrays)


def _apply_on_threads(
    theirs: Callable[..., Any], given: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    known = all(isinstance(value, ndarray) or type(value) is numpy.ndarray for value in given)
    if not known or len(given) != 1 or not is_worth_threads(given[0].shape):
        return NotImplemented
    values = [core.unwrap(value) if isinstance(value, ndarray) else value for value in given]
    result = map_stacks_on_threads(lambda *parts: theirs(*parts, **kwargs), values)
    if not isinstance(result, tuple):
        return core.wrap(result, True)
    return type(result)(*(core.wrap(part, True) for part in result))


def _apply_one_by_one(one: Callable[..., Any], arrays: list[Any], batch: tuple[int, ...]) -> Any:
    """Few matrices, each of them distributed."""
    stacks = [array._broadcast_to((*batch, *array.shape[-2:])) for array in arrays]
    output = None
    for at in itertools.product(*map(range, batch)):
        result = one(*(stack[at] for stack in stacks))
        if not isinstance(result, ndarray):
            return NotImplemented
        output = empty((*batch, *result.shape), result.dtype) if output is None else output
        output[at] = result
    return output


@implements(numpy.linalg.cholesky, "dappled.linalg")
def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    def one(matrix: Any) -> Any:
        transposed = ufuncs["conjugate"](matrix).T if upper else matrix
        result = core.cholesky(transposed)
        return ufuncs["conjugate"](result).T.copy() if upper else result

    return _apply(numpy.linalg.cholesky, (a,), {"upper": upper} if upper else {}, one)


@implements(numpy.linalg.solve, "dappled.linalg")
def solve(a: Any, b: Any) -> Any:
    vector = isinstance(b, ndarray | numpy.ndarray) and b.ndim == 1
    if vector and any(map(is_distributed, (a, b))):
        result = _apply(numpy.linalg.solve, (a, b[:, None]), {}, core.solve)
        return result if result is NotImplemented else result[..., 0].copy()
    return _apply(numpy.linalg.solve, (a, b), {}, core.solve)


@implements(numpy.linalg.inv, "dappled.linalg")
def inv(a: Any) -> Any:
    return _apply(numpy.linalg.inv, (a,), {}, core.inv)


@implements(numpy.linalg.slogdet, "dappled.linalg")
def slogdet(a: Any) -> Any:
    def one(matrix: Any) -> Any:
        result, (sign, logarithm) = _result_dtype(matrix), core.slogdet(matrix)
        real = numpy.dtype(result.char.lower())
        named = type(numpy.linalg.slogdet(numpy.eye(1)))
        return named(result.type(sign), real.type(logarithm))

    return _apply(numpy.linalg.slogdet, (a,), {}, one)


@implements(numpy.linalg.det, "dappled.linalg")
def det(a: Any) -> Any:
    def one(matrix: Any) -> Any:
        sign, logarithm = core.slogdet(matrix)
        with numpy.errstate(all="ignore"):
            return _result_dtype(matrix).type(sign * numpy.exp(logarithm))

    return _apply(numpy.linalg.det, (a,), {}, one)


@implements(numpy.linalg.qr, "dappled.linalg")
def qr(a: Any, mode: Any = "reduced") -> Any:
    def one(matrix: Any) -> Any:
        if not _is_tall(matrix.shape):
            return NotImplemented
        q, r = core.qr(matrix)
        return r if mode == "r" else type(numpy.linalg.qr(numpy.eye(1)))(q, r)

    if mode not in ("reduced", "r"):
        return NotImplemented
    return _apply(numpy.linalg.qr, (a,), {"mode": mode}, one, square=False)


@implements(numpy.linalg.svd, "dappled.linalg")
def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    def one(matrix: Any) -> Any:
        if (full_matrices and compute_uv) or not _is_tall_or_wide(matrix.shape):
            return NotImplemented
        tall = matrix if _is_tall(matrix.shape) else matrix.T
        if not compute_uv:
            return core.singular_values(tall)
        u, values, vh = core.svd(tall)
        named = type(numpy.linalg.svd(numpy.eye(1)))
        return named(u, values, vh) if tall is matrix else named(vh.T.copy(), values, u.T.copy())

    if hermitian:
        return NotImplemented
    kwargs = {"full_matrices": full_matrices, "compute_uv": compute_uv}
    return _apply(numpy.linalg.svd, (a,), kwargs, one, square=False)


@implements(numpy.linalg.svdvals, "dappled.linalg")
def svdvals(x: Any, /) -> Any:
    return svd(x, compute_uv=False)


@implements(numpy.linalg.pinv, "dappled.linalg")
def pinv(a: Any, rcond: Any = None, hermitian: Any = False, **kwargs: Any) -> Any:
    def one(matrix: Any) -> Any:
        result = (
            svd(matrix, full_matrices=False) if _is_tall_or_wide(matrix.shape) else NotImplemented
        )
        if result is NotImplemented or numpy.ndim(limit):
            return NotImplemented
        u, values, v = result
        known = core.unwrap(values.redistribute("n"))
        large = known > limit * known.max()
        inverse = numpy.divide(1, known, where=large, out=numpy.zeros_like(known))
        transposed = ufuncs["conjugate"](v).T * inverse
        return transposed @ ufuncs["conjugate"](u).T

    said = kwargs.get("rtol", rcond)
    limit = 1e-15 if rcond is None and "rtol" not in kwargs else said
    if hermitian or limit is None or (rcond is not None and kwargs):
        return NotImplemented
    return _apply(numpy.linalg.pinv, (a,), {"rcond": limit}, one, square=False)


def _is_tall(shape: tuple[int, ...]) -> bool:
    """Whether each rank has at least as many rows as there are columns."""
    return bool(len(shape) == 2 and 0 < shape[1] * core.ranks() <= shape[0])


def _is_tall_or_wide(shape: tuple[int, ...]) -> bool:
    return _is_tall(shape) or _is_tall(shape[::-1])


@implements(numpy.linalg.eigh, "dappled.linalg")
def eigh(a: Any, UPLO: Any = "L") -> Any:
    return _apply(numpy.linalg.eigh, (a,), {"UPLO": UPLO})


@implements(numpy.linalg.eigvalsh, "dappled.linalg")
def eigvalsh(a: Any, UPLO: Any = "L") -> Any:
    return _apply(numpy.linalg.eigvalsh, (a,), {"UPLO": UPLO})


@implements(numpy.linalg.lstsq, "dappled.linalg")
def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    if not any(map(is_distributed, (a, b))) or (arrays := as_distributed_arrays(a, b)) is None:
        return NotImplemented
    matrix, sides = arrays
    if matrix.ndim != 2 or sides.ndim not in (1, 2) or len(sides) != len(matrix):
        return numpy.linalg.lstsq(as_meta(matrix), as_meta(sides), rcond)  # NumPy's error
    wrong = any(array.dtype.char not in _LAPACK_DTYPES for array in arrays) or not sides.size
    if wrong or not _is_tall(matrix.shape):
        return NotImplemented
    limit = numpy.finfo(float).eps * max(matrix.shape) if rcond is None else rcond
    columns = sides[:, None] if sides.ndim == 1 else sides
    solution, residuals, rank, values = core.lstsq(matrix, columns, limit)
    has_residuals = rank == matrix.shape[1] < matrix.shape[0]
    residuals = residuals if has_residuals else residuals[:0].copy()
    solution = solution[:, 0].copy() if sides.ndim == 1 else solution
    return solution, residuals, numpy.int32(rank), values


FUNCTIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        cholesky,
        det,
        eigh,
        eigvalsh,
        inv,
        lstsq,
        pinv,
        qr,
        slogdet,
        solve,
        svd,
        svdvals,
    )
}

# These gather one matrix: for a complete basis, or eigenvalues.
for _gathering in (eigh, eigvalsh, svd):
    _gathering.__dict__["__execution__"] = GATHERED
