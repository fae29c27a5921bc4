"""Running folds along an axis that is cut, whatever the ufunc: from rank to rank.

Where it matters in which order elements are folded, a rank can't begin before the one before it has
ended. Each goes on from the last row of that one with NumPy's own loop, so that bits are NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy

from dappled import _rows
from dappled._agreeing import tried
from dappled._array import core
from dappled._comm import together
from dappled._line import called_by_user


def is_relayed(ufunc: Any, kind: Any) -> bool:
    """Whether a running fold that gives this dtype goes on from what it gave before."""
    try:
        found = ufunc.resolve_dtypes((kind, kind, None), reduction=True)
    except TypeError:
        return False
    return all(one == kind for one in found)


def relayed(ufunc: Any, array: Any, axis: int, kind: Any) -> Any:
    """`ufunc.accumulate` along an axis, in a dtype. Collective."""
    together("ufunc.accumulate")
    rows = numpy.moveaxis(array, axis, 0)
    piece = _rows.read_rows(rows)
    made = numpy.empty(piece.shape, kind)

    def go_on(before: Any) -> None:
        given = piece.astype(kind, copy=False)
        if before is not None:
            given = numpy.concatenate([before, given])
        found = called_by_user(ufunc.accumulate, given, 0, kind.type)
        made[...] = found[len(found) - len(made) :]

    _in_turn(go_on, made)
    return numpy.moveaxis(_rows.from_rows(made, len(rows), True), 0, axis)


def _in_turn(act: Callable[[Any], None], made: Any) -> None:
    """Lets each rank that has rows make its own, with the last row of the one before."""
    outcome = tried(lambda: None)
    last = None
    for rank in range(core.ranks()):
        if rank == core.rank() and len(made):
            outcome = tried(partial(act, last))  # others wait for this rank, and are told at last
        own = made[-1:] if rank == core.rank() else made[:0]
        came = core.start_from(rank, "ufunc.accumulate", _rows.raw(own)).wait()
        if came is not None and len(came):
            last = came.view(made.dtype).reshape(1, *made.shape[1:])
    outcome.agree()
