"""The Cholesky factor of a matrix in pieces.

Right-looking: a panel is factored by the rank that has it and handed to all, each of which takes
its share away from the columns to the right that are its own.
"""

from __future__ import annotations

from typing import Any

import numpy

from dappled._array import core
from dappled._panels import Columns, settled


def lower(matrix: Any, kind: Any, result: Any) -> Any:
    """L, of which L times its conjugate transpose is the matrix; its lower half alone is read."""
    own = Columns(matrix, kind)
    for block, start, stop in own.blocks():
        panel = own.shared(block, lambda at=block, rows=start: _factored(own.own(at)[rows:]))  # type: ignore[misc]
        if own.is_own(block):
            own.own(block)[start:] = panel
        _updated(own, block, panel, start, stop)
    for block, start, stop in own.owned():
        rows, columns = numpy.arange(own.rows)[:, None], numpy.arange(start, stop)
        own.own(block)[rows < columns] = 0
    return settled(core.from_piece(own.lies, own.piece.astype(result, copy=False), True))


def _factored(panel: Any) -> Any:
    """The panel's columns of L, from the diagonal down."""
    width = panel.shape[1]
    corner = numpy.linalg.cholesky(panel[:width])
    below = numpy.linalg.solve(corner, panel[width:].conj().T).conj().T
    return numpy.concatenate([corner, below])


def _updated(own: Columns, block: int, panel: Any, start: int, stop: int) -> None:
    for other, first, last in own.owned():
        if other > block:
            left, right = panel[first - start :], panel[first - start : last - start]
            own.own(other)[first:] -= left @ right.conj().T
