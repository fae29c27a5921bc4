"""Distributed arrays as rows: block rows, all-to-all, and routing of rows to their owners.

A rank's rows are a NumPy array, with which NumPy computes. Sizes that depend on values are
exchanged first.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy

from dappled._ndarray.core import core
from dappled._routines._distributed.threads import scratch
from dappled.protocol import Distribution


@functools.lru_cache(1000)
def block_starts(length: int) -> Any:
    """The first row of each rank, and the number of rows."""
    blocks = Distribution((length,), "b", nprocs=core.ranks())
    lengths = [blocks.local_shape(rank)[0] for rank in range(core.ranks())]
    return numpy.concatenate([[0], numpy.cumsum(lengths)])


def local_rows(array: Any) -> Any:
    """This rank's rows, in memory that nothing else refers to."""
    return array.redistribute(row_distribution(array.shape)).local


def read_local_rows(array: Any) -> Any:
    """This rank's rows for immediate reading: the array's own memory if it is in block rows."""
    return core.part(array, array.shape, row_distribution(array.shape))[0]


def raw_bytes(rows: Any) -> Any:
    """The bytes of rows."""
    return numpy.ascontiguousarray(rows).reshape(-1).view("u1")


def first_row(length: int) -> int:
    """The index of this rank's first row."""
    return int(block_starts(length)[core.rank()])


def row_distribution(shape: tuple[int, ...]) -> Any:
    """The distribution in blocks of whole rows."""
    return Distribution(shape, "b" + "n" * (len(shape) - 1), nprocs=core.ranks())


def from_local_rows(piece: Any, length: int, fresh: bool = False) -> Any:
    """Our array from this rank's block of rows.

    `fresh` rows are in C order, in memory that nothing else refers to.
    """
    memory = piece if fresh else contiguous_copy(piece)
    return to_default_layout(
        core.from_piece(row_distribution((length, *piece.shape[1:])), memory, True)
    )


def contiguous_copy(piece: Any) -> Any:
    """A piece in memory of its own, in C order."""
    own = piece.flags.c_contiguous and piece.flags.owndata and piece.flags.writeable
    return piece if own else piece.copy(order="C")


def allgather(what: str, rows: Any) -> Any:
    """Allgather: the rows of all ranks, in rank order. Collective."""
    sent = core.gather(what, raw_bytes(rows).tobytes())
    return numpy.frombuffer(b"".join(sent), rows.dtype).reshape(-1, *rows.shape[1:])


def concatenate_ranks(piece: Any, fresh: bool = False) -> Any:
    """Our array from any number of rows per rank, in the order of ranks. Collective."""
    counts = allgather("lengths", numpy.array([len(piece)]))
    bounds = numpy.concatenate([[0], numpy.cumsum(counts)])
    shape = (int(bounds[-1]), *piece.shape[1:])
    if not shape[0]:
        return core.wrap(numpy.empty(shape, piece.dtype))
    memory = piece if fresh else contiguous_copy(piece)
    return to_default_layout(core.from_piece(uneven_distribution(shape, bounds), memory, True))


def uneven_distribution(shape: tuple[int, ...], bounds: Any) -> Any:
    """The distribution in blocks of rows between these bounds."""
    grid = (core.ranks(), *(1 for _ in shape[1:]))
    limits = [bounds.tolist(), *(None for _ in shape[1:])]
    kinds = "b" + "n" * (len(shape) - 1)
    return Distribution(shape, kinds, grid_shape=grid, bounds=limits)


def to_default_layout(array: Any) -> Any:
    """The array in the default distribution of its shape."""
    blocks = core.blocks(array.shape, array.itemsize)
    wanted = core.placed("n" * array.ndim, array.shape) if blocks is None else blocks
    try:
        has_layout = array.distribution == wanted
    except ValueError:  # a view, which has no distribution of its own
        has_layout = False
    return array if has_layout else array.redistribute(wanted)


def concatenate(parts: list[Any]) -> Any:
    """Parts concatenated in their own byte order, which NumPy would change."""
    shape = (sum(map(len, parts)), *parts[0].shape[1:])
    return numpy.concatenate(parts, out=scratch(shape, parts[0].dtype))


class RowExchange:
    """Sends rows to the ranks that own them, and replies back."""

    def __init__(self, what: str, owners: Any) -> None:
        self._exchange = core.RowExchange(what, owners.astype(numpy.int64, copy=False))

    def send(self, rows: Any) -> Any:
        """Sends rows; returns those that arrive here, by rank and position. Collective."""
        return _like_rows(self._exchange.send(raw_bytes(rows), _row_bytes(rows)), rows)

    def reply(self, answers: Any) -> Any:
        """Replies to the rows that arrived; returns the replies in the order of sending.

        Collective.
        """
        return _like_rows(self._exchange.reply(raw_bytes(answers), _row_bytes(answers)), answers)


def _row_bytes(rows: Any) -> int:
    return int(rows.dtype.itemsize * numpy.prod(rows.shape[1:], dtype=int))


def _like_rows(raw: Any, rows: Any) -> Any:
    """Bytes as rows of the same dtype and width."""
    width = _row_bytes(rows)
    return raw.view(rows.dtype).reshape(len(raw) // width if width else 0, *rows.shape[1:])


def owner_ranks(length: int, indices: Any) -> Any:
    """The rank that owns each row index."""
    return numpy.searchsorted(block_starts(length)[1:-1], indices, side="right")
