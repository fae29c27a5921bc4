"""Cholesky factorisation of a distributed matrix.

Right-looking: the owner of a panel factors and broadcasts it, and each rank updates its columns to
the right; the next panel first, so that its broadcast overlaps with the other updates.
"""

from __future__ import annotations

from typing import Any

import numpy

from dappled._ndarray.core import core
from dappled._ranks.broadcast import AsyncBroadcast
from dappled.linalg._block_cyclic import FortranColumns


def cholesky_lower(matrix: Any, kind: Any, result: Any) -> Any:
    """L, where L times its conjugate transpose is the matrix; only its lower half is read."""
    local_columns = FortranColumns(matrix, kind)
    blocks = list(local_columns.blocks())
    broadcast = None
    with numpy.errstate(all="ignore"):
        for this, next_block in zip(blocks, [*blocks[1:], None], strict=True):
            broadcast = _update_trailing(
                local_columns,
                broadcast or _broadcast_factored(local_columns, this),
                this,
                next_block,
            )
    for block, start, stop in local_columns.local_panels():
        local_columns.panel(block)[:start] = 0
        corner = local_columns.panel(block)[start:stop]
        corner[:] = numpy.tril(corner)
    return local_columns.to_array(result)


def _broadcast_factored(
    local_columns: FortranColumns, block: tuple[int, int, int]
) -> AsyncBroadcast:
    """Factors a panel on its owner, and starts the broadcast of it or of the failure."""
    index, start, _ = block
    result = []
    if local_columns.owns(index):
        panel = local_columns.panel(index)[start:]
        act = core.factor_positive if core.eliminates() else factor_by_numpy
        result = [numpy.array([not act(panel)], numpy.int64), panel]
    return AsyncBroadcast(index % core.ranks(), *result)


def factor_by_numpy(panel: Any) -> bool:
    """Factors a panel without NumPy's LAPACK; False if it is not positive definite."""
    width = panel.shape[1]
    try:
        panel[:width] = corner = numpy.linalg.cholesky(panel[:width])
    except numpy.linalg.LinAlgError:
        return False
    panel[width:] = numpy.linalg.solve(corner, panel[width:].conj().T).conj().T
    return True


def _update_trailing(
    local_columns: FortranColumns, broadcast: AsyncBroadcast, this: Any, next_block: Any
) -> AsyncBroadcast | None:
    """Updates the columns to the right of a panel, and starts the broadcast of the next one."""
    _, start, stop = this
    shape = (local_columns.rows - start, stop - start)
    wrong, panel = broadcast.wait_for((numpy.int64, (1,)), (local_columns.piece.dtype, shape))
    if wrong[0]:
        raise numpy.linalg.LinAlgError("Matrix is not positive definite")
    if next_block is None:
        return None
    if local_columns.owns(next_block[0]):
        _update(local_columns, next_block, panel, start)
    after = _broadcast_factored(local_columns, next_block)
    for block in local_columns.local_panels():
        if block[0] > next_block[0]:
            _update(local_columns, block, panel, start)
    return after


def _update(
    local_columns: FortranColumns, block: tuple[int, int, int], panel: Any, start: int
) -> None:
    index, first, _ = block
    act = core.take_product if core.eliminates() else update_by_numpy
    act(local_columns.panel(index)[first:], panel[first - start :])


def update_by_numpy(columns: Any, panel: Any) -> None:
    """Subtracts the product of a panel and the conjugate transpose of its first rows."""
    columns -= panel @ panel[: columns.shape[1]].conj().T
