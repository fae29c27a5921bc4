"""Gaussian elimination with partial pivoting of a matrix in pieces.

A panel is factored by the rank that has it: it has whole columns, so all candidates for a pivot.
The others get the panel and the swaps of its rows, and do the same to the columns that they have,
of the matrix and of the right-hand sides, while the next panel is on its way. So the factor L is
never kept.
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy

from dappled._array import core
from dappled._panels import Coming, LongColumns, settled


class Eliminated:
    """A matrix made upper triangular, and what became of the right-hand sides."""

    def __init__(self, matrix: Any, kind: Any, sides: Any = None) -> None:
        self.own = LongColumns(matrix, kind)
        self.sides = sides
        self.swaps = 0
        with numpy.errstate(all="ignore"):
            coming = None
            blocks = list(self.own.blocks())
            for this, following in zip(blocks, [*blocks[1:], None], strict=True):
                coming = self._eliminate(coming or self._factored(this), this, following)

    def _factored(self, block: tuple[int, int, int]) -> Coming:
        """A panel factored by the rank that has it, on its way to the others."""
        number, start, _ = block
        made = []
        if self.own.is_own(number):
            panel = self.own.own(number)[start:]
            made = [numpy.array(_factor(panel)), panel]
        return Coming(number % core.ranks(), *made)

    def _eliminate(self, coming: Coming, this: Any, following: Any) -> Coming | None:
        """Takes a panel away from what is right of it; first from the panel that comes next, so
        that all have that when they need it.
        """
        _, start, stop = this
        shape = (self.own.rows - start, stop - start)
        pivots, panel = coming.arrived((numpy.int64, shape[1:]), (self.own.piece.dtype, shape))
        self.swaps += int((pivots != numpy.arange(1, len(pivots) + 1)).sum())
        rest = [] if self.sides is None else [self.sides]
        after = None
        if following is not None:
            if self.own.is_own(following[0]):
                _take_away(self.own.own(following[0])[start:], panel, pivots)
            after = self._factored(following)
            rest.append(self.own.after(following[0]))
        for columns in rest:
            _take_away(columns[start:], panel, pivots)
        return after

    def diagonal(self) -> Any:
        """That of the triangle, on every rank."""
        mine = [(b, numpy.diagonal(self.own.own(b)[i:j])) for b, i, j in self.own.owned()]
        found: dict[int, Any] = {}
        for sent in _gathered(mine):
            found.update(sent)
        return numpy.concatenate([found[block] for block in sorted(found)])

    def solved(self, count: int) -> Any:
        """The right-hand sides, so many in all, divided by the triangle, from the last panel to the
        first.
        """
        with numpy.errstate(all="ignore"):
            return self._solved_here() if count <= self.own.width else self._solved_by_panels()

    def _solved_here(self) -> Any:
        """Few right-hand sides go to who has the panel: they are less than what it has."""
        own, every = self.own, _gathered(self.sides)
        sides = numpy.concatenate(every, axis=1)
        for number, start, stop in list(own.blocks())[::-1]:
            made = []
            if own.is_own(number):
                _divide(sides, own.own(number), start, stop)
                made = [sides[:stop]]
            coming = Coming(number % core.ranks(), *made)
            (sides[:stop],) = coming.arrived((sides.dtype, sides[:stop].shape))
        first = sum(part.shape[1] for part in every[: core.rank()])
        return sides[:, first : first + self.sides.shape[1]]

    def _solved_by_panels(self) -> Any:
        """Many right-hand sides stay where they are, and panels come to them."""
        own, sides = self.own, self.sides
        blocks = list(own.blocks())[::-1]
        coming = self._sent(blocks[0])
        for (_, start, stop), following in zip(blocks, [*blocks[1:], None], strict=True):
            next_one = self._sent(following) if following else coming
            (panel,) = coming.arrived((own.piece.dtype, (stop, stop - start)))
            if sides.shape[1]:
                _divide(sides, panel, start, stop)
            coming = next_one
        return sides

    def _sent(self, block: tuple[int, int, int]) -> Coming:
        """A panel of the triangle, on its way to all."""
        number, _, stop = block
        made = [self.own.own(number)[:stop]] if self.own.is_own(number) else []
        return Coming(number % core.ranks(), *made)


def solve(matrix: Any, sides: Any, kind: Any, result: Any) -> Any:
    """`linalg.solve` of a matrix and a matrix of right-hand sides."""
    placed = sides.redistribute("nb")
    columns = numpy.array(placed.local, kind, order="F")
    eliminated = Eliminated(matrix, kind, columns)
    if (eliminated.diagonal() == 0).any():
        raise numpy.linalg.LinAlgError("Singular matrix")
    made = numpy.ascontiguousarray(eliminated.solved(placed.shape[1]), result)
    return settled(core.from_piece(placed.distribution, made, True))


def sign_and_logarithm(matrix: Any, kind: Any) -> tuple[Any, Any]:
    """Of the determinant."""
    eliminated = Eliminated(matrix, kind)
    diagonal = eliminated.diagonal()
    if (diagonal == 0).any():
        return diagonal.dtype.type(0), diagonal.real.dtype.type(-numpy.inf)
    sizes = numpy.abs(diagonal)
    return numpy.prod(diagonal / sizes) * (-1) ** eliminated.swaps, numpy.log(sizes).sum()


def _divide(sides: Any, panel: Any, start: int, stop: int) -> None:
    """Divides right-hand sides by the corner of a panel of the triangle, and takes what is above it
    away from the others.
    """
    corner = numpy.triu(panel[start:stop])
    sides[start:stop] = found = numpy.linalg.solve(corner, sides[start:stop])
    sides[:start] -= panel[:start] @ found


def _factor(panel: Any) -> Any:
    """Makes a panel L below U: with which row, from 1 on, each was swapped in its turn."""
    return core.factor_panel(panel) if core.eliminates() else factor_by_numpy(panel)


def _take_away(columns: Any, panel: Any, pivots: Any) -> None:
    """Does to columns what was done to those right of a panel in it."""
    if columns.shape[1]:
        act = core.eliminate if core.eliminates() else take_away_by_numpy
        act(columns, panel, pivots)


def factor_by_numpy(panel: Any) -> Any:
    """The same where NumPy's LAPACK can't be called."""
    pivots = []
    for column in range(panel.shape[1]):
        found = column + int(numpy.abs(panel[column:, column]).argmax())
        panel[[column, found]] = panel[[found, column]]
        pivots.append(found + 1)
        if panel[column, column] != 0:
            panel[column + 1 :, column] /= panel[column, column]
        right = panel[:, column + 1 :]
        right[column + 1 :] -= panel[column + 1 :, column, None] * right[column]
    return pivots


def take_away_by_numpy(columns: Any, panel: Any, pivots: Any) -> None:
    """The same where NumPy's LAPACK can't be called."""
    width = panel.shape[1]
    for row, pivot in enumerate(pivots):
        columns[[row, pivot - 1]] = columns[[pivot - 1, row]]
    corner = numpy.tril(panel[:width], -1) + numpy.eye(width)
    columns[:width] = top = numpy.linalg.solve(corner, columns[:width])
    columns[width:] -= panel[width:] @ top


def _gathered(mine: Any) -> list[Any]:
    return [pickle.loads(sent) for sent in core.gather("linear algebra", pickle.dumps(mine))]
