"""The Cholesky factor of a matrix in pieces.

Right-looking: a panel is factored by the rank that has it and handed to all, each of which takes
its share away from the columns to the right that are its own; first from the panel that comes next,
which is then on its way while the others are done.
"""

from __future__ import annotations

from typing import Any

import numpy

from dappled._array import core
from dappled._panels import Columns, Coming, settled


def lower(matrix: Any, kind: Any, result: Any) -> Any:
    """L, of which L times its conjugate transpose is the matrix; its lower half alone is read."""
    own = Columns(matrix, kind)
    blocks = list(own.blocks())
    coming = None
    with numpy.errstate(all="ignore"):
        for this, following in zip(blocks, [*blocks[1:], None], strict=True):
            coming = _taken_away(own, coming or _sent(own, this), this, following)
    for block, start, stop in own.owned():
        rows, columns = numpy.arange(own.rows)[:, None], numpy.arange(start, stop)
        own.own(block)[rows < columns] = 0
    return settled(core.from_piece(own.lies, own.piece.astype(result, copy=False), True))


def _sent(own: Columns, block: tuple[int, int, int]) -> Coming:
    """A panel factored by the rank that has it, on its way to the others; or that it can't be."""
    number, start, _ = block
    made = []
    if own.is_own(number):
        panel = own.own(number)[start:]
        try:
            panel[:] = _factored(panel)
            made = [numpy.zeros(1, numpy.int64), panel]
        except numpy.linalg.LinAlgError:
            made = [numpy.ones(1, numpy.int64), panel]
    return Coming(number % core.ranks(), *made)


def _factored(panel: Any) -> Any:
    """The panel's columns of L, from the diagonal down."""
    width = panel.shape[1]
    corner = numpy.linalg.cholesky(panel[:width])
    below = numpy.linalg.solve(corner, panel[width:].conj().T).conj().T
    return numpy.concatenate([corner, below])


def _taken_away(own: Columns, coming: Coming, this: Any, following: Any) -> Coming | None:
    """Takes a panel away from what is right of it, and has the next one sent on the way."""
    _, start, stop = this
    shape = (own.rows - start, stop - start)
    wrong, panel = coming.arrived((numpy.int64, (1,)), (own.piece.dtype, shape))
    if wrong[0]:
        raise numpy.linalg.LinAlgError("Matrix is not positive definite")
    if following is None:
        return None
    if own.is_own(following[0]):
        _update(own, following, panel, start)
    after = _sent(own, following)
    for block in own.owned():
        if block[0] > following[0]:
            _update(own, block, panel, start)
    return after


def _update(own: Columns, block: tuple[int, int, int], panel: Any, start: int) -> None:
    number, first, last = block
    left, right = panel[first - start :], panel[first - start : last - start]
    own.own(number)[first:] -= left @ right.conj().T
