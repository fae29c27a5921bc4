"""LU factorisation with partial pivoting of a distributed matrix.

The rank that owns a panel factors it: it has whole columns, so all pivot candidates. The others
receive the panel and its row swaps, and update their columns of the matrix and of the right-hand
sides while the next panel is on its way. The factor L is never stored.
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy

from dappled._ndarray.core import core
from dappled._ranks.broadcast import AsyncBroadcast
from dappled._routines._distributed.row_blocks import to_default_layout
from dappled.linalg._block_cyclic import FortranColumns


class LUFactorisation:
    """A matrix reduced to U, and the right-hand sides after the same operations."""

    def __init__(self, matrix: Any, kind: Any, sides: Any = None) -> None:
        self.matrix = FortranColumns(matrix, kind)
        self.rhs = sides
        self.swaps = 0
        with numpy.errstate(all="ignore"):
            broadcast = None
            blocks = list(self.matrix.blocks())
            for this, next_block in zip(blocks, [*blocks[1:], None], strict=True):
                broadcast = self._update_trailing(
                    broadcast or self._broadcast_factored(this), this, next_block
                )

    def _broadcast_factored(self, block: tuple[int, int, int]) -> AsyncBroadcast:
        """Factors a panel on its owner, and starts its broadcast."""
        index, start, _ = block
        result = []
        if self.matrix.owns(index):
            panel = self.matrix.panel(index)[start:]
            result = [numpy.array(_factor_panel(panel)), panel]
        return AsyncBroadcast(index % core.ranks(), *result)

    def _update_trailing(
        self, broadcast: AsyncBroadcast, this: Any, next_block: Any
    ) -> AsyncBroadcast | None:
        """Updates the columns to the right of a panel.

        The next panel is updated first, so that its broadcast overlaps with the rest.
        """
        _, start, stop = this
        shape = (self.matrix.rows - start, stop - start)
        pivots, panel = broadcast.wait_for(
            (numpy.int64, shape[1:]), (self.matrix.piece.dtype, shape)
        )
        self.swaps += int((pivots != numpy.arange(1, len(pivots) + 1)).sum())
        rest = [] if self.rhs is None else [self.rhs]
        after = None
        if next_block is not None:
            if self.matrix.owns(next_block[0]):
                _update_columns(self.matrix.panel(next_block[0])[start:], panel, pivots)
            after = self._broadcast_factored(next_block)
            rest.append(self.matrix.columns_after(next_block[0]))
        for columns in rest:
            _update_columns(columns[start:], panel, pivots)
        return after

    def diagonal(self) -> Any:
        """The diagonal of U, on every rank. Collective."""
        mine = [
            (b, numpy.diagonal(self.matrix.panel(b)[i:j])) for b, i, j in self.matrix.local_panels()
        ]
        result: dict[int, Any] = {}
        for sent in _allgather(mine):
            result.update(sent)
        return numpy.concatenate([result[block] for block in sorted(result)])

    def back_substitute(self, count: int) -> Any:
        """Back substitution for `count` right-hand sides, from the last panel to the first."""
        with numpy.errstate(all="ignore"):
            return (
                self._solve_on_owners() if count <= self.matrix.width else self._solve_by_panels()
            )

    def _solve_on_owners(self) -> Any:
        """Few right-hand sides travel to the owners of the panels."""
        local_columns, every = self.matrix, _allgather(self.rhs)
        sides = numpy.concatenate(every, axis=1)
        for index, start, stop in list(local_columns.blocks())[::-1]:
            result = []
            if local_columns.owns(index):
                _solve_triangular(sides, local_columns.panel(index), start, stop)
                result = [sides[:stop]]
            broadcast = AsyncBroadcast(index % core.ranks(), *result)
            (sides[:stop],) = broadcast.wait_for((sides.dtype, sides[:stop].shape))
        first = sum(part.shape[1] for part in every[: core.rank()])
        return sides[:, first : first + self.rhs.shape[1]]

    def _solve_by_panels(self) -> Any:
        """Many right-hand sides stay, and panels are broadcast to them."""
        local_columns, sides = self.matrix, self.rhs
        blocks = list(local_columns.blocks())[::-1]
        broadcast = self._broadcast_panel(blocks[0])
        for (_, start, stop), next_block in zip(blocks, [*blocks[1:], None], strict=True):
            next_one = self._broadcast_panel(next_block) if next_block else broadcast
            (panel,) = broadcast.wait_for((local_columns.piece.dtype, (stop, stop - start)))
            if sides.shape[1]:
                _solve_triangular(sides, panel, start, stop)
            broadcast = next_one
        return sides

    def _broadcast_panel(self, block: tuple[int, int, int]) -> AsyncBroadcast:
        """Starts the broadcast of a panel of U."""
        index, _, stop = block
        result = [self.matrix.panel(index)[:stop]] if self.matrix.owns(index) else []
        return AsyncBroadcast(index % core.ranks(), *result)


def solve(matrix: Any, rhs: Any, kind: Any, result: Any) -> Any:
    """`linalg.solve` of a matrix and a matrix of right-hand sides."""
    placed = rhs.redistribute("nb")
    columns = numpy.array(placed.local, kind, order="F")
    eliminated = LUFactorisation(matrix, kind, columns)
    if (eliminated.diagonal() == 0).any():
        raise numpy.linalg.LinAlgError("Singular matrix")
    output = numpy.ascontiguousarray(eliminated.back_substitute(placed.shape[1]), result)
    return to_default_layout(core.from_piece(placed.distribution, output, True))


def slogdet(matrix: Any, kind: Any) -> tuple[Any, Any]:
    """The sign and logarithm of the determinant."""
    eliminated = LUFactorisation(matrix, kind)
    diagonal = eliminated.diagonal()
    if (diagonal == 0).any():
        return diagonal.dtype.type(0), diagonal.real.dtype.type(-numpy.inf)
    sizes = numpy.abs(diagonal)
    return numpy.prod(diagonal / sizes) * (-1) ** eliminated.swaps, numpy.log(sizes).sum()


def _solve_triangular(rhs: Any, panel: Any, start: int, stop: int) -> None:
    """Solves with the diagonal block of a panel, and updates the right-hand sides above it."""
    corner = numpy.triu(panel[start:stop])
    rhs[start:stop] = result = numpy.linalg.solve(corner, rhs[start:stop])
    rhs[:start] -= panel[:start] @ result


def _factor_panel(panel: Any) -> Any:
    """Factors a panel into L and U; returns the row swapped with each row, from 1 on."""
    return core.factor_panel(panel) if core.eliminates() else factor_by_numpy(panel)


def _update_columns(columns: Any, panel: Any, pivots: Any) -> None:
    """Applies the row swaps and the update of a panel to columns."""
    if columns.shape[1]:
        act = core.eliminate if core.eliminates() else update_by_numpy
        act(columns, panel, pivots)


def factor_by_numpy(panel: Any) -> Any:
    """`_factor_panel` where NumPy's LAPACK cannot be called."""
    pivots = []
    for column in range(panel.shape[1]):
        result = column + int(numpy.abs(panel[column:, column]).argmax())
        panel[[column, result]] = panel[[result, column]]
        pivots.append(result + 1)
        if panel[column, column] != 0:
            panel[column + 1 :, column] /= panel[column, column]
        right = panel[:, column + 1 :]
        right[column + 1 :] -= panel[column + 1 :, column, None] * right[column]
    return pivots


def update_by_numpy(columns: Any, panel: Any, pivots: Any) -> None:
    """`_update_columns` where NumPy's LAPACK cannot be called."""
    width = panel.shape[1]
    for row, pivot in enumerate(pivots):
        columns[[row, pivot - 1]] = columns[[pivot - 1, row]]
    corner = numpy.tril(panel[:width], -1) + numpy.eye(width)
    columns[:width] = top = numpy.linalg.solve(corner, columns[:width])
    columns[width:] -= panel[width:] @ top


def _allgather(mine: Any) -> list[Any]:
    return [pickle.loads(sent) for sent in core.gather("linear algebra", pickle.dumps(mine))]
