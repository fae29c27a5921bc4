"""`ufunc.accumulate` along a distributed axis, relayed from rank to rank.

Where the order of operations matters, a rank starts after the one before it. Each continues from
that rank's last row with NumPy's own loop, so results are NumPy's bit by bit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy

from dappled._dispatch.callsite import call_from_user_frame
from dappled._ndarray.core import core
from dappled._ranks.comm import check_collective
from dappled._ranks.consensus import try_locally
from dappled._routines._distributed import row_blocks


def can_relay(ufunc: Any, kind: Any) -> bool:
    """Whether an accumulation in this dtype can continue from its last result."""
    try:
        result = ufunc.resolve_dtypes((kind, kind, None), reduction=True)
    except TypeError:
        return False
    return all(one == kind for one in result)


def accumulate_in_relay(ufunc: Any, array: Any, axis: int, kind: Any) -> Any:
    """`ufunc.accumulate` along an axis, in a dtype. Collective."""
    check_collective("ufunc.accumulate")
    rows = numpy.moveaxis(array, axis, 0)
    piece = row_blocks.read_local_rows(rows)
    result = numpy.empty(piece.shape, kind)

    def go_on(before: Any) -> None:
        given = piece.astype(kind, copy=False)
        if before is not None:
            given = numpy.concatenate([before, given])
        selected = call_from_user_frame(ufunc.accumulate, given, 0, kind.type)
        result[...] = selected[len(selected) - len(result) :]

    _relay(go_on, result)
    return numpy.moveaxis(row_blocks.from_local_rows(result, len(rows), True), 0, axis)


def _relay(act: Callable[[Any], None], result: Any) -> None:
    """Lets each rank compute its rows, given the last row of the rank before."""
    outcome = try_locally(lambda: None)
    last = None
    for rank in range(core.ranks()):
        if rank == core.rank() and len(result):
            # The other ranks wait, and learn of an error at the end
            outcome = try_locally(partial(act, last))
        own = result[-1:] if rank == core.rank() else result[:0]
        received = core.start_from(rank, "ufunc.accumulate", row_blocks.raw_bytes(own)).wait()
        if received is not None and len(received):
            last = received.view(result.dtype).reshape(1, *result.shape[1:])
    outcome.resolve()
