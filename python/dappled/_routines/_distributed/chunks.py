"""Distributed rows, replicated chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dappled._routines._distributed import row_blocks

# Elements of a chunk, which every rank has beside its piece.
CHUNK_ELEMENTS = 1 << 16


def replicated_chunks(row: Any, step: int = CHUNK_ELEMENTS) -> Iterator[tuple[int, Any]]:
    """The elements of a row in chunks: the index of the first, and the values. Collective.

    A chunk must be used before anything is written.
    """
    piece, first = row_blocks.read_local_rows(row), row_blocks.first_row(len(row))
    for start in range(0, len(row), step):
        own = piece[max(start - first, 0) : max(start + step - first, 0)]
        yield start, row_blocks.allgather("a chunk", own)
