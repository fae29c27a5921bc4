"""The Cholesky factor of a matrix in pieces.

Right-looking: a panel is factored by the rank that has it and handed to all, each of which takes
its share away from the columns to the right that are its own; first from the panel that comes next,
which is then on its way while the others are done.
"""

from __future__ import annotations

from typing import Any

import numpy

from dappled._array import core
from dappled._panels import Coming, LongColumns


def lower(matrix: Any, kind: Any, result: Any) -> Any:
    """L, of which L times its conjugate transpose is the matrix; its lower half alone is read."""
    own = LongColumns(matrix, kind)
    blocks = list(own.blocks())
    coming = None
    with numpy.errstate(all="ignore"):
        for this, following in zip(blocks, [*blocks[1:], None], strict=True):
            coming = _taken_away(own, coming or _sent(own, this), this, following)
    for block, start, stop in own.owned():
        own.own(block)[:start] = 0
        corner = own.own(block)[start:stop]
        corner[:] = numpy.tril(corner)
    return own.whole(result)


def _sent(own: LongColumns, block: tuple[int, int, int]) -> Coming:
    """A panel factored by the rank that has it, on its way to the others; or that it can't be."""
    number, start, _ = block
    made = []
    if own.is_own(number):
        panel = own.own(number)[start:]
        act = core.factor_positive if core.eliminates() else factor_by_numpy
        made = [numpy.array([not act(panel)], numpy.int64), panel]
    return Coming(number % core.ranks(), *made)


def factor_by_numpy(panel: Any) -> bool:
    """Makes a panel, from the diagonal down, columns of L, where NumPy's LAPACK can't be called;
    whether that can be done.
    """
    width = panel.shape[1]
    try:
        panel[:width] = corner = numpy.linalg.cholesky(panel[:width])
    except numpy.linalg.LinAlgError:
        return False
    panel[width:] = numpy.linalg.solve(corner, panel[width:].conj().T).conj().T
    return True


def _taken_away(own: LongColumns, coming: Coming, this: Any, following: Any) -> Coming | None:
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


def _update(own: LongColumns, block: tuple[int, int, int], panel: Any, start: int) -> None:
    number, first, _ = block
    act = core.take_product if core.eliminates() else take_by_numpy
    act(own.own(number)[first:], panel[first - start :])


def take_by_numpy(columns: Any, panel: Any) -> None:
    """Takes the product of a panel's rows and of the first of them, turned, from columns."""
    columns -= panel @ panel[: columns.shape[1]].conj().T
