"""The functions of `numpy.linalg`: NumPy's LAPACK does the local work.

Of arrays in pieces each rank has matrices of a stack, or columns or rows of one matrix. Stacks of
small matrices are shared among threads, too. What is not done here is gathered, and said to be.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy

from dappled import _cholesky, _lu, _tall
from dappled._array import core, empty, ndarray, ufuncs
from dappled._batches import is_worth, on_ranks, on_threads
from dappled._creation import eye
from dappled._fallback import shadow
from dappled._native import native
from dappled._piecewise import in_pieces
from dappled._products import ours
from dappled._tables import GATHERED

_DTYPES = "?bhilqBHILQfdFD"


def kinds(*arrays: Any) -> tuple[Any, Any]:
    """The dtype that LAPACK computes with, and that of the result."""
    narrow = all(array.dtype.char in "fF" for array in arrays)
    if any(array.dtype.kind == "c" for array in arrays):
        return numpy.dtype("c16"), numpy.dtype("c8" if narrow else "c16")
    return numpy.dtype("f8"), numpy.dtype("f4" if narrow else "f8")


def _done(
    theirs: Callable[..., Any],
    given: tuple[Any, ...],
    kwargs: dict[str, Any],
    one: Callable[..., Any] | None = None,
    square: bool = True,
) -> Any:
    """A function of matrices, or of stacks of them; `one` does it for matrices in pieces."""
    if not any(map(in_pieces, given)):
        return _on_threads(theirs, given, kwargs)
    arrays = ours(*given)
    if arrays is None or not all(array.size for array in arrays):
        return NotImplemented
    if _is_wrong(arrays, square):
        theirs(*shadow(tuple(arrays)), **kwargs)  # NumPy's error: its words need no values
        return NotImplemented
    batch = numpy.broadcast_shapes(*(array.shape[:-2] for array in arrays))
    if not batch:
        return NotImplemented if one is None else one(*arrays)
    if one is not None and math.prod(batch) < core.ranks():
        made = _one_by_one(one, arrays, batch)
        if made is not NotImplemented:
            return made
    return on_ranks(lambda *parts: theirs(*parts, **kwargs), arrays, batch)


def _is_wrong(arrays: list[Any], square: bool) -> bool:
    first = arrays[0]
    if any(array.dtype.char not in _DTYPES or array.ndim < 2 for array in arrays):
        return True
    if square and first.shape[-1] != first.shape[-2]:
        return True
    return any(array.shape[-2] != first.shape[-2] for array in arrays)


def _on_threads(theirs: Callable[..., Any], given: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    known = all(isinstance(value, ndarray) or type(value) is numpy.ndarray for value in given)
    if not known or len(given) != 1 or not is_worth(given[0].shape):
        return NotImplemented
    values = [core.unwrap(value) if isinstance(value, ndarray) else value for value in given]
    found = on_threads(lambda *parts: theirs(*parts, **kwargs), values)
    if not isinstance(found, tuple):
        return core.wrap(found, True)
    return type(found)(*(core.wrap(part, True) for part in found))


def _one_by_one(one: Callable[..., Any], arrays: list[Any], batch: tuple[int, ...]) -> Any:
    """Few matrices, in pieces each."""
    stacks = [array._broadcast_to((*batch, *array.shape[-2:])) for array in arrays]
    made = None
    for at in itertools.product(*map(range, batch)):
        found = one(*(stack[at] for stack in stacks))
        if not isinstance(found, ndarray):
            return NotImplemented
        made = empty((*batch, *found.shape), found.dtype) if made is None else made
        made[at] = found
    return made


@native(numpy.linalg.cholesky, "dappled.linalg")
def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    def one(matrix: Any) -> Any:
        turned = ufuncs["conjugate"](matrix).T if upper else matrix
        made = _cholesky.lower(turned, *kinds(matrix))
        return ufuncs["conjugate"](made).T.copy() if upper else made

    return _done(numpy.linalg.cholesky, (a,), {"upper": upper} if upper else {}, one)


@native(numpy.linalg.solve, "dappled.linalg")
def solve(a: Any, b: Any) -> Any:
    vector = isinstance(b, ndarray | numpy.ndarray) and b.ndim == 1
    if vector and any(map(in_pieces, (a, b))):
        made = _done(numpy.linalg.solve, (a, b[:, None]), {}, _solved)
        return made if made is NotImplemented else made[..., 0].copy()
    return _done(numpy.linalg.solve, (a, b), {}, _solved)


def _solved(a: Any, b: Any) -> Any:
    return _lu.solve(a, b, *kinds(a, b))


@native(numpy.linalg.inv, "dappled.linalg")
def inv(a: Any) -> Any:
    def one(matrix: Any) -> Any:
        kind, result = kinds(matrix)
        return _lu.solve(matrix, eye(len(matrix), dtype=kind), kind, result)

    return _done(numpy.linalg.inv, (a,), {}, one)


@native(numpy.linalg.slogdet, "dappled.linalg")
def slogdet(a: Any) -> Any:
    def one(matrix: Any) -> Any:
        kind, result = kinds(matrix)
        sign, logarithm = _lu.sign_and_logarithm(matrix, kind)
        real = numpy.dtype(result.char.lower())
        named = type(numpy.linalg.slogdet(numpy.eye(1)))
        return named(result.type(sign), real.type(logarithm))

    return _done(numpy.linalg.slogdet, (a,), {}, one)


@native(numpy.linalg.det, "dappled.linalg")
def det(a: Any) -> Any:
    def one(matrix: Any) -> Any:
        kind, result = kinds(matrix)
        sign, logarithm = _lu.sign_and_logarithm(matrix, kind)
        with numpy.errstate(all="ignore"):
            return result.type(sign * numpy.exp(logarithm))

    return _done(numpy.linalg.det, (a,), {}, one)


@native(numpy.linalg.qr, "dappled.linalg")
def qr(a: Any, mode: Any = "reduced") -> Any:
    def one(matrix: Any) -> Any:
        if not _tall.is_tall(matrix.shape):
            return NotImplemented
        q, r = _tall.qr(matrix, *kinds(matrix))
        return r if mode == "r" else type(numpy.linalg.qr(numpy.eye(1)))(q, r)

    if mode not in ("reduced", "r"):
        return NotImplemented
    return _done(numpy.linalg.qr, (a,), {"mode": mode}, one, square=False)


@native(numpy.linalg.svd, "dappled.linalg")
def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    def one(matrix: Any) -> Any:
        if (full_matrices and compute_uv) or not _is_long(matrix.shape):
            return NotImplemented
        tall = _tall.is_tall(matrix.shape)
        kind, result = kinds(matrix)
        u, values, v = _tall.svd(matrix if tall else matrix.T, kind, compute_uv)
        values = core.wrap(values.astype(result.char.lower()))
        if not compute_uv:
            return values
        v = core.wrap(v.astype(result))
        u, v = (u, v) if tall else (v.T.copy(), u.T.copy())
        named = type(numpy.linalg.svd(numpy.eye(1)))
        return named(u.astype(result, copy=False), values, v.astype(result, copy=False))

    if hermitian:
        return NotImplemented
    kwargs = {"full_matrices": full_matrices, "compute_uv": compute_uv}
    return _done(numpy.linalg.svd, (a,), kwargs, one, square=False)


@native(numpy.linalg.svdvals, "dappled.linalg")
def svdvals(x: Any, /) -> Any:
    return svd(x, compute_uv=False)


@native(numpy.linalg.pinv, "dappled.linalg")
def pinv(a: Any, rcond: Any = None, hermitian: Any = False, **kwargs: Any) -> Any:
    def one(matrix: Any) -> Any:
        found = svd(matrix, full_matrices=False) if _is_long(matrix.shape) else NotImplemented
        if found is NotImplemented or numpy.ndim(limit):
            return NotImplemented
        u, values, v = found
        known = core.unwrap(values.redistribute("n"))
        large = known > limit * known.max()
        inverse = numpy.divide(1, known, where=large, out=numpy.zeros_like(known))
        turned = ufuncs["conjugate"](v).T * inverse
        return turned @ ufuncs["conjugate"](u).T

    said = kwargs.get("rtol", rcond)
    limit = 1e-15 if rcond is None and "rtol" not in kwargs else said
    if hermitian or limit is None or (rcond is not None and kwargs):
        return NotImplemented
    return _done(numpy.linalg.pinv, (a,), {"rcond": limit}, one, square=False)


def _is_long(shape: tuple[int, ...]) -> bool:
    return _tall.is_tall(shape) or _tall.is_tall(shape[::-1])


@native(numpy.linalg.eigh, "dappled.linalg")
def eigh(a: Any, UPLO: Any = "L") -> Any:
    return _done(numpy.linalg.eigh, (a,), {"UPLO": UPLO})


@native(numpy.linalg.eigvalsh, "dappled.linalg")
def eigvalsh(a: Any, UPLO: Any = "L") -> Any:
    return _done(numpy.linalg.eigvalsh, (a,), {"UPLO": UPLO})


@native(numpy.linalg.lstsq, "dappled.linalg")
def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    if not any(map(in_pieces, (a, b))) or (arrays := ours(a, b)) is None:
        return NotImplemented
    matrix, sides = arrays
    if matrix.ndim != 2 or sides.ndim not in (1, 2) or len(sides) != len(matrix):
        return numpy.linalg.lstsq(shadow(matrix), shadow(sides), rcond)  # which NumPy refuses
    wrong = any(array.dtype.char not in _DTYPES for array in arrays) or not sides.size
    if wrong or not _tall.is_tall(matrix.shape):
        return NotImplemented
    kind, result = kinds(matrix, sides)
    limit = numpy.finfo(kind).eps * max(matrix.shape) if rcond is None else rcond
    columns = sides[:, None] if sides.ndim == 1 else sides
    found, left, rank, values = _tall.lstsq(matrix, columns, kind, limit)
    real = result.char.lower()
    left = left if rank == matrix.shape[1] < matrix.shape[0] else left[:0]
    found = found[:, 0] if sides.ndim == 1 else found
    made = (core.wrap(found.astype(result)), core.wrap(left.astype(real)))
    return (*made, rank, core.wrap(values.astype(real)))


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

# Of one matrix these gather it: all of an orthogonal basis, or eigenvalues.
for _gathering in (eigh, eigvalsh, svd):
    _gathering.__dict__["__way__"] = GATHERED
