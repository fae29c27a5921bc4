"""Matrices in block-cyclic columns.

Every rank has work until the end. A panel, that is one block column, is on one rank, which factors
it with NumPy and broadcasts it. A rank has its own columns and one panel.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy

from dappled._ndarray.core import core
from dappled._routines._distributed.row_blocks import to_default_layout
from dappled.protocol import Distribution

# Enough columns for BLAS, few beside those of a rank.
_MAX_PANEL_COLUMNS = 64


class BlockCyclicColumns:
    """This rank's columns of a matrix, in writeable memory."""

    def __init__(self, matrix: Any, kind: Any) -> None:
        self.rows, self.columns = matrix.shape
        self.width = min(_MAX_PANEL_COLUMNS, max(1, self.columns // (2 * core.ranks())))
        block_size, grid = (None, self.width), (1, core.ranks())
        self.distribution = Distribution(matrix.shape, "nc", grid_shape=grid, block_size=block_size)
        self.piece = self._redistribute(matrix, kind)

    def _redistribute(self, matrix: Any, kind: Any) -> Any:
        return numpy.asarray(matrix.redistribute(self.distribution).local, kind)

    def blocks(self) -> Iterator[tuple[int, int, int]]:
        """The panels: index, first column, and end."""
        for index, start in enumerate(range(0, self.columns, self.width)):
            yield index, start, min(start + self.width, self.columns)

    def owns(self, block: int) -> bool:
        """Whether this rank owns a panel."""
        return bool(block % core.ranks() == core.rank())

    def panel(self, block: int) -> Any:
        """A panel of this rank, in its memory."""
        first = block // core.ranks() * self.width
        return self.piece[:, first : first + self.width]

    def columns_after(self, block: int) -> Any:
        """This rank's columns of the panels after this one."""
        before = (block - core.rank()) // core.ranks() + 1
        return self.piece[:, before * self.width :]

    def local_panels(self) -> Iterator[tuple[int, int, int]]:
        """This rank's panels."""
        return (block for block in self.blocks() if self.owns(block[0]))


class FortranColumns(BlockCyclicColumns):
    """Block-cyclic columns in Fortran order."""

    def _redistribute(self, matrix: Any, kind: Any) -> Any:
        block_size, grid = (self.width, None), (core.ranks(), 1)
        transposed = matrix.T
        self._transposed_distribution = Distribution(
            transposed.shape, "cn", grid_shape=grid, block_size=block_size
        )
        return numpy.asarray(transposed.redistribute(self._transposed_distribution).local, kind).T

    def to_array(self, kind: Any) -> Any:
        """The matrix as our array, in the default layout."""
        piece = self.piece.T.astype(kind, copy=False)
        return to_default_layout(core.from_piece(self._transposed_distribution, piece, True).T)
