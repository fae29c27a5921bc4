"""QR, singular values and least squares of a tall matrix in pieces.

Each rank factors its rows; the small triangles are gathered and factored once more (TSQR: Demmel,
Grigori, Hoemmen and Langou, 2012). What is left to do is done with one small triangle by one rank.
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy

from dappled._array import core
from dappled._panels import from_rank
from dappled.protocol import Distribution


def is_tall(shape: tuple[int, ...]) -> bool:
    """Whether each rank has at least as many rows as there are columns: the triangles of all ranks
    are no more than the matrix.
    """
    return bool(len(shape) == 2 and 0 < shape[1] * core.ranks() <= shape[0])


class Factors:
    """A rank's rows of Q, R, and where the rows lie; the signs are those of NumPy's."""

    def __init__(self, matrix: Any, kind: Any) -> None:
        placed = matrix.redistribute("bn")
        self.lies = placed.distribution
        self.rows = numpy.asarray(placed.local, kind)
        q, r = numpy.linalg.qr(self.rows)
        parts = [pickle.loads(sent) for sent in core.gather("QR", pickle.dumps(r))]
        first = sum(len(part) for part in parts[: core.rank()])
        joint, triangle = from_rank(0, lambda: _again(numpy.concatenate(parts)))
        q = q @ joint[first : first + len(r)]
        signs = from_rank(0, lambda: _signs(q[: len(triangle)], triangle))
        self.q, self.r = q * signs, triangle * signs.conj()[:, None]

    def placed(self, rows: Any) -> Any:
        """Our array from a rank's rows of it."""
        shape = (self.lies.shape[0], *rows.shape[1:])
        grid = (core.ranks(), *(1 for _ in rows.shape[1:]))
        lies = Distribution(shape, "b" + "n" * (rows.ndim - 1), grid_shape=grid)
        return core.from_piece(lies, numpy.ascontiguousarray(rows), True)


def _again(triangles: Any) -> tuple[Any, Any]:
    return tuple(numpy.linalg.qr(triangles))  # type: ignore[return-value]


def _signs(top: Any, triangle: Any) -> Any:
    """What makes of a Q the one of Householder's method, as LAPACK has it: its signs follow from
    the first rows of Q (Ballard and others, 2014, "Reconstructing Householder vectors").
    """
    diagonal = numpy.diagonal(triangle)
    positive = numpy.where(
        diagonal == 0, 1, diagonal / numpy.where(diagonal == 0, 1, abs(diagonal))
    )
    left = top * positive  # of which the triangle would have a positive diagonal
    signs = numpy.ones(len(diagonal))
    for at in range(len(diagonal)):
        signs[at] = -1.0 if left[at, at].real >= 0 else 1.0
        left[at, at] -= signs[at]
        left[at + 1 :, at] /= left[at, at]
        left[at + 1 :, at + 1 :] -= left[at + 1 :, at, None] * left[at, at + 1 :]
    return positive * signs


@numpy.errstate(all="ignore")  # as LAPACK says nothing
def qr(matrix: Any, kind: Any, result: Any) -> tuple[Any, Any]:
    """Q, in pieces, and R."""
    factors = Factors(matrix, kind)
    q = factors.placed(factors.q.astype(result, copy=False))
    return q, core.wrap(numpy.triu(factors.r).astype(result))


@numpy.errstate(all="ignore")  # as LAPACK says nothing
def svd(matrix: Any, kind: Any, vectors: bool) -> tuple[Any, Any, Any]:
    """U, in pieces, singular values, and V; without vectors, only the middle one."""
    factors = Factors(matrix, kind)
    triangle = factors.r
    if not vectors:
        return None, from_rank(0, lambda: numpy.linalg.svd(triangle, compute_uv=False)), None
    u, values, v = from_rank(0, lambda: tuple(numpy.linalg.svd(triangle)))
    return factors.placed(factors.q @ u), values, v


@numpy.errstate(all="ignore")  # as LAPACK says nothing
def lstsq(matrix: Any, sides: Any, kind: Any, limit: float) -> tuple[Any, Any, Any, Any]:
    """The solution, the sums of squares of what is left, the rank, and the singular values."""
    factors = Factors(matrix, kind)
    own = numpy.asarray(sides.redistribute("bn").local, kind)
    products = sum(_all(factors.q.conj().T @ own))
    found, _, rank, values = from_rank(
        0, lambda: numpy.linalg.lstsq(factors.r, products, rcond=limit)
    )
    left = own - factors.rows @ found
    return found, sum(_all((left.conj() * left).real.sum(axis=0))), rank, values


def _all(mine: Any) -> list[Any]:
    return [pickle.loads(sent) for sent in core.gather("least squares", pickle.dumps(mine))]
