"""Gaussian elimination with partial pivoting of a matrix in pieces.

A panel is factored by the rank that has it: it has whole columns, so all candidates for a pivot.
The others get the panel and the order of its rows, and do the same to the columns that they have,
of the matrix and of the right-hand sides. So the factor L is never kept.
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy

from dappled._array import core
from dappled._panels import Columns, settled

# Columns that are eliminated one by one.
_FEW = 8


class Eliminated:
    """A matrix made upper triangular, and what became of the right-hand sides."""

    def __init__(self, matrix: Any, kind: Any, sides: Any = None) -> None:
        self.own = Columns(matrix, kind)
        self.sides = sides
        self.swaps = 0
        with numpy.errstate(all="ignore"):
            for block, start, stop in self.own.blocks():
                self._eliminate(block, start, stop)

    def _eliminate(self, block: int, start: int, stop: int) -> None:
        own = self.own
        order, panel = own.shared(block, lambda: _factored(own.own(block)[start:]))
        self.swaps += _swaps(order)
        if own.is_own(block):
            own.own(block)[start:] = panel
        width = stop - start
        corner = numpy.tril(panel[:width], -1) + numpy.eye(width)
        for columns in [own.after(block), *([] if self.sides is None else [self.sides])]:
            if columns.shape[1]:
                below = columns[start:][order]
                columns[start:stop] = top = numpy.linalg.solve(corner, below[:width])
                columns[stop:] = below[width:] - panel[width:] @ top

    def diagonal(self) -> Any:
        """That of the triangle, on every rank."""
        mine = [(b, numpy.diagonal(self.own.own(b)[i:j])) for b, i, j in self.own.owned()]
        found: dict[int, Any] = {}
        for sent in _gathered(mine):
            found.update(sent)
        return numpy.concatenate([found[block] for block in sorted(found)])

    def solved(self) -> Any:
        """The right-hand sides divided by the triangle, from the last panel to the first."""
        own, sides = self.own, self.sides
        with numpy.errstate(all="ignore"):
            for block, start, stop in reversed(list(own.blocks())):
                panel = own.shared(block, lambda at=block, last=stop: own.own(at)[:last])  # type: ignore[misc]
                if sides.shape[1]:
                    corner = numpy.triu(panel[start:])
                    sides[start:stop] = found = numpy.linalg.solve(corner, sides[start:stop])
                    sides[:start] -= panel[:start] @ found
        return sides


def solve(matrix: Any, sides: Any, kind: Any, result: Any) -> Any:
    """`linalg.solve` of a matrix and a matrix of right-hand sides."""
    placed = sides.redistribute("nb")
    columns = numpy.array(placed.local, kind, order="C")
    eliminated = Eliminated(matrix, kind, columns)
    if (eliminated.diagonal() == 0).any():
        raise numpy.linalg.LinAlgError("Singular matrix")
    made = eliminated.solved().astype(result, copy=False)
    return settled(core.from_piece(placed.distribution, made, True))


def sign_and_logarithm(matrix: Any, kind: Any) -> tuple[Any, Any]:
    """Of the determinant."""
    eliminated = Eliminated(matrix, kind)
    diagonal = eliminated.diagonal()
    if (diagonal == 0).any():
        return diagonal.dtype.type(0), diagonal.real.dtype.type(-numpy.inf)
    sizes = numpy.abs(diagonal)
    return numpy.prod(diagonal / sizes) * (-1) ** eliminated.swaps, numpy.log(sizes).sum()


def _factored(panel: Any) -> tuple[Any, Any]:
    """The order of the rows, and L below U in one matrix."""
    panel = panel.copy()
    order = numpy.arange(len(panel))
    _in_place(panel, order)
    return order, panel


def _in_place(panel: Any, order: Any) -> None:
    """Eliminates the left half, then the right one, so that most of it is products of matrices."""
    width = panel.shape[1]
    if width <= _FEW:
        return _one_by_one(panel, order)
    half = width // 2
    left, right = panel[:, :half], panel[:, half:]
    moved = numpy.arange(len(panel))
    _in_place(left, moved)
    right[...] = right[moved]
    corner = numpy.tril(left[:half], -1) + numpy.eye(half)
    right[:half] = numpy.linalg.solve(corner, right[:half])
    right[half:] -= left[half:] @ right[:half]
    again = numpy.arange(len(panel) - half)
    _in_place(right[half:], again)
    left[half:] = left[half:][again]
    moved[half:] = moved[half:][again]
    order[...] = order[moved]


def _one_by_one(panel: Any, order: Any) -> None:
    for column in range(panel.shape[1]):
        found = column + int(numpy.abs(panel[column:, column]).argmax())
        for rows in (panel, order):
            rows[[column, found]] = rows[[found, column]]
        if panel[column, column] != 0:
            panel[column + 1 :, column] /= panel[column, column]
        right = panel[:, column + 1 :]
        right[column + 1 :] -= panel[column + 1 :, column, None] * right[column]


def _swaps(order: Any) -> int:
    """How many swaps make an order: its length without the number of its cycles."""
    seen = numpy.zeros(len(order), bool)
    cycles = 0
    for start in numpy.flatnonzero(order != numpy.arange(len(order))):
        cycles += not seen[start]
        while not seen[start]:
            seen[start] = True
            start = order[start]
    return int(seen.sum()) - cycles


def _gathered(mine: Any) -> list[Any]:
    return [pickle.loads(sent) for sent in core.gather("linear algebra", pickle.dumps(mine))]
