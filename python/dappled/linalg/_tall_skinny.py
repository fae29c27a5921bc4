"""QR, SVD and least squares of tall, narrow matrices (TSQR).

Each rank factors its rows; the small triangles are gathered and factored once more (Demmel,
Grigori, Hoemmen and Langou, 2012). Rank 0 does the rest with one small triangle.
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy

from dappled._ndarray.core import core
from dappled._ranks.broadcast import broadcast_from
from dappled.protocol import Distribution


def is_tall(shape: tuple[int, ...]) -> bool:
    """Whether each rank has at least as many rows as there are columns."""
    return bool(len(shape) == 2 and 0 < shape[1] * core.ranks() <= shape[0])


class TallQR:
    """A rank's rows of Q, R, and the distribution of rows, with NumPy's signs."""

    def __init__(self, matrix: Any, kind: Any) -> None:
        placed = matrix.redistribute("bn")
        self.distribution = placed.distribution
        self.rows = numpy.asarray(placed.local, kind)
        q, r = numpy.linalg.qr(self.rows)
        parts = [pickle.loads(sent) for sent in core.gather("QR", pickle.dumps(r))]
        first = sum(len(part) for part in parts[: core.rank()])
        joint, triangle = broadcast_from(0, lambda: _qr_of_triangles(numpy.concatenate(parts)))
        q = q @ joint[first : first + len(r)]
        signs = broadcast_from(0, lambda: _householder_signs(q[: len(triangle)], triangle))
        self.q, self.r = q * signs, triangle * signs.conj()[:, None]

    def from_local_rows(self, rows: Any) -> Any:
        """Our array from a rank's rows."""
        shape = (self.distribution.shape[0], *rows.shape[1:])
        grid = (core.ranks(), *(1 for _ in rows.shape[1:]))
        distribution = Distribution(shape, "b" + "n" * (rows.ndim - 1), grid_shape=grid)
        return core.from_piece(distribution, numpy.ascontiguousarray(rows), True)


def _qr_of_triangles(triangles: Any) -> tuple[Any, Any]:
    return tuple(numpy.linalg.qr(triangles))  # type: ignore[return-value]


def _householder_signs(top: Any, triangle: Any) -> Any:
    """The signs that make Q that of LAPACK's Householder QR.

    They follow from the first rows of Q (Ballard and others, 2014, "Reconstructing Householder
    vectors").
    """
    diagonal = numpy.diagonal(triangle)
    positive = numpy.where(
        diagonal == 0, 1, diagonal / numpy.where(diagonal == 0, 1, abs(diagonal))
    )
    left = top * positive  # the triangle would have a positive diagonal
    signs = numpy.ones(len(diagonal))
    for at in range(len(diagonal)):
        signs[at] = -1.0 if left[at, at].real >= 0 else 1.0
        left[at, at] -= signs[at]
        left[at + 1 :, at] /= left[at, at]
        left[at + 1 :, at + 1 :] -= left[at + 1 :, at, None] * left[at, at + 1 :]
    return positive * signs


@numpy.errstate(all="ignore")  # LAPACK ignores floating-point errors
def qr(matrix: Any, kind: Any, result: Any) -> tuple[Any, Any]:
    """Q, distributed, and R."""
    factors = TallQR(matrix, kind)
    q = factors.from_local_rows(factors.q.astype(result, copy=False))
    return q, core.wrap(numpy.triu(factors.r).astype(result))


@numpy.errstate(all="ignore")  # as LAPACK says nothing
def svd(matrix: Any, kind: Any, vectors: bool) -> tuple[Any, Any, Any]:
    """U, distributed, singular values, and V; without vectors, only the values."""
    factors = TallQR(matrix, kind)
    triangle = factors.r
    if not vectors:
        return None, broadcast_from(0, lambda: numpy.linalg.svd(triangle, compute_uv=False)), None
    u, values, v = broadcast_from(0, lambda: tuple(numpy.linalg.svd(triangle)))
    return factors.from_local_rows(factors.q @ u), values, v


@numpy.errstate(all="ignore")  # as LAPACK says nothing
def lstsq(matrix: Any, rhs: Any, kind: Any, limit: float) -> tuple[Any, Any, Any, Any]:
    """The solution, the residuals, the rank, and the singular values."""
    factors = TallQR(matrix, kind)
    own = numpy.asarray(rhs.redistribute("bn").local, kind)
    products = sum(_allgather(factors.q.conj().T @ own))
    result, _, rank, values = broadcast_from(
        0, lambda: numpy.linalg.lstsq(factors.r, products, rcond=limit)
    )
    left = own - factors.rows @ result
    return result, sum(_allgather((left.conj() * left).real.sum(axis=0))), rank, values


def _allgather(mine: Any) -> list[Any]:
    return [pickle.loads(sent) for sent in core.gather("least squares", pickle.dumps(mine))]
