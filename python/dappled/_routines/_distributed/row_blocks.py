"""Distributed arrays as rows: block rows, all-to-all, and routing of rows to their owners.

A rank's rows are a NumPy array, with which NumPy computes. Sizes that depend on values are
exchanged first.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy

from dappled._ndarray.core import core
from dappled._routines._distributed.threads import (
    put_rows,
    scratch,
    take_local_rows,
    true_positions,
)
from dappled.protocol import Distribution

# Up to this many bounds a linear comparison is faster than a search.
_MAX_LINEAR_BOUNDS = 8


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


def row_counts(piece: Any) -> Any:
    """The number of rows of each rank. Collective."""
    sent = core.gather("lengths", numpy.int64(len(piece)).tobytes())
    return numpy.array([numpy.frombuffer(one, numpy.int64)[0] for one in sent])


def concatenate_ranks(piece: Any, fresh: bool = False) -> Any:
    """Our array from any number of rows per rank, in the order of ranks. Collective."""
    bounds = numpy.concatenate([[0], numpy.cumsum(row_counts(piece))])
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


def all_to_all(what: str, parts: list[Any]) -> list[Any]:
    """All-to-all: sends `parts[r]` to rank r, and returns what each rank sent here. Collective."""
    like = parts[0]
    sends = [raw_bytes(part) for part in parts]
    width = like.dtype.itemsize * int(numpy.prod(like.shape[1:], dtype=int))
    received = core.exchange(what, sends)
    shapes = [(len(bytes) // width if width else 0, *like.shape[1:]) for bytes in received]
    return [
        bytes.view(like.dtype).reshape(shape) for bytes, shape in zip(received, shapes, strict=True)
    ]


def concatenate(parts: list[Any]) -> Any:
    """Parts concatenated in their own byte order, which NumPy would change."""
    shape = (sum(map(len, parts)), *parts[0].shape[1:])
    return numpy.concatenate(parts, out=scratch(shape, parts[0].dtype))


class RowExchange:
    """Sends elements to the ranks that own them, and replies back."""

    def __init__(self, what: str, owners: Any) -> None:
        self._what = what
        self._order, counts = _group_by_owner(owners)
        self._cuts = numpy.cumsum(counts)[:-1]
        self._received_bounds = numpy.zeros(0, int)

    def send(self, column: Any) -> Any:
        """Sends elements; returns those that arrive here, by rank and position. Collective."""
        parts = all_to_all(
            self._what, numpy.split(take_local_rows(column, self._order), self._cuts)
        )
        self._received_bounds = numpy.cumsum([len(part) for part in parts])[:-1]
        return concatenate(parts)

    def reply(self, answers: Any) -> Any:
        """Replies to the elements that arrived; returns the replies in the order of sending.

        Collective.
        """
        parts = all_to_all(self._what, numpy.split(answers, self._received_bounds))
        result = concatenate(parts)
        output = numpy.empty_like(result)
        put_rows(output, self._order, result)
        return output


def _group_by_owner(owners: Any) -> tuple[Any, Any]:
    """The positions of the elements of each rank in turn, and their counts."""
    if core.ranks() > _MAX_LINEAR_BOUNDS:
        counts = numpy.bincount(owners, minlength=core.ranks())
        return numpy.argsort(owners, kind="stable"), counts  # a radix sort of short integers
    result = [true_positions(owners == rank) for rank in range(core.ranks())]
    return numpy.concatenate(result), [len(one) for one in result]


def exchange_by_index(what: str, indices: Any, length: int) -> RowExchange:
    """The exchange with the ranks that own these rows."""
    return RowExchange(what, owner_ranks(block_starts(length)[1:-1], indices))


def owner_ranks(bounds: Any, indices: Any) -> Any:
    """The rank that owns each index; rank 0 for those below the first bound."""
    kind = numpy.min_scalar_type(core.ranks())
    if len(bounds) > _MAX_LINEAR_BOUNDS:
        return numpy.searchsorted(bounds, indices, side="right").astype(kind)
    result = numpy.zeros(indices.shape, kind)
    for bound in bounds:
        result += indices >= bound
    return result
