"""Arrays in pieces that every rank has to see all of: some of it at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dappled import _rows
from dappled._sampling import everywhere

# Elements that every rank has of such an array beside its piece.
CHUNK = 1 << 16


def shared(row: Any, step: int = CHUNK) -> Iterator[tuple[int, Any]]:
    """The elements of a row so many at a time: the place of the first, and the values. Collective.

    They are to be used before anything is written.
    """
    piece, first = _rows.read_rows(row), _rows.own_start(len(row))
    for start in range(0, len(row), step):
        own = piece[max(start - first, 0) : max(start + step - first, 0)]
        yield start, _rows.joined(everywhere(own))
