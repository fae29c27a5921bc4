"""Arrays in pieces as rows: each rank has rows that follow one another, and sends them by number.

The rows of a rank are NumPy's array, with which NumPy computes. What depends on values (how many
are chosen, who needs what) is agreed on by exchanging numbers first.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy

from dappled._array import core
from dappled._threads import places, put_rows, rows_at, scratch
from dappled.protocol import Distribution

# Bounds that are compared with one by one, which takes less long than a search.
_FEW = 8


@functools.lru_cache(1000)
def starts(length: int) -> Any:
    """Where the rows of each rank begin, and at last where they end, of so many in all."""
    blocks = Distribution((length,), "b", nprocs=core.ranks())
    lengths = [blocks.local_shape(rank)[0] for rank in range(core.ranks())]
    return numpy.concatenate([[0], numpy.cumsum(lengths)])


def rows(array: Any) -> Any:
    """This rank's rows of an array, in memory that nobody else has."""
    return array.redistribute(row_blocks(array.shape)).local


def read_rows(array: Any) -> Any:
    """The same, to be read at once: where the array lies so, its own memory."""
    return core.part(array, array.shape, row_blocks(array.shape))[0]


def raw(rows: Any) -> Any:
    """The bytes of rows, one after the other."""
    return numpy.ascontiguousarray(rows).reshape(-1).view("u1")


def own_start(length: int) -> int:
    """The number of this rank's first row, of so many in all."""
    return int(starts(length)[core.rank()])


def row_blocks(shape: tuple[int, ...]) -> Any:
    """Blocks of whole rows."""
    return Distribution(shape, "b" + "n" * (len(shape) - 1), nprocs=core.ranks())


def from_rows(piece: Any, length: int, fresh: bool = False) -> Any:
    """Our array of so many rows, from those that this rank has in blocks of rows.

    They are `fresh` if they are in C order in memory that nobody else has.
    """
    memory = piece if fresh else solid(piece)
    return settled(core.from_piece(row_blocks((length, *piece.shape[1:])), memory, True))


def solid(piece: Any) -> Any:
    """A piece in memory of its own, in C order."""
    own = piece.flags.c_contiguous and piece.flags.owndata and piece.flags.writeable
    return piece if own else piece.copy(order="C")


def lengths(piece: Any) -> Any:
    """How many rows each rank has. Collective."""
    sent = core.gather("lengths", numpy.int64(len(piece)).tobytes())
    return numpy.array([numpy.frombuffer(one, numpy.int64)[0] for one in sent])


def joined_rows(piece: Any, fresh: bool = False) -> Any:
    """Our array of the rows that ranks happen to have, in the order of the ranks."""
    bounds = numpy.concatenate([[0], numpy.cumsum(lengths(piece))])
    shape = (int(bounds[-1]), *piece.shape[1:])
    if not shape[0]:
        return core.wrap(numpy.empty(shape, piece.dtype))
    memory = piece if fresh else solid(piece)
    return settled(core.from_piece(uneven(shape, bounds), memory, True))


def uneven(shape: tuple[int, ...], bounds: Any) -> Any:
    """Blocks of rows between these bounds."""
    grid = (core.ranks(), *(1 for _ in shape[1:]))
    limits = [bounds.tolist(), *(None for _ in shape[1:])]
    kinds = "b" + "n" * (len(shape) - 1)
    return Distribution(shape, kinds, grid_shape=grid, bounds=limits)


def settled(array: Any) -> Any:
    """An array where an array of its shape lies if nobody says."""
    blocks = core.blocks(array.shape, array.itemsize)
    wanted = core.placed("n" * array.ndim, array.shape) if blocks is None else blocks
    return array if array.distribution == wanted else array.redistribute(wanted)


def sent(what: str, parts: list[Any]) -> list[Any]:
    """What every rank has for this one, if it has `parts` for each. Collective."""
    like = parts[0]
    sends = [raw(part) for part in parts]
    width = like.dtype.itemsize * int(numpy.prod(like.shape[1:], dtype=int))
    came = core.exchange(what, sends)
    shapes = [(len(bytes) // width if width else 0, *like.shape[1:]) for bytes in came]
    return [
        bytes.view(like.dtype).reshape(shape) for bytes, shape in zip(came, shapes, strict=True)
    ]


def joined(parts: list[Any]) -> Any:
    """Parts one after the other, in the very dtype that they have: NumPy's would not be swapped."""
    shape = (sum(map(len, parts)), *parts[0].shape[1:])
    return numpy.concatenate(parts, out=scratch(shape, parts[0].dtype))


class Routes:
    """The way of elements to the ranks that they are meant for, and of answers back."""

    def __init__(self, what: str, owners: Any) -> None:
        self._what = what
        self._order, counts = _by_owner(owners)
        self._cuts = numpy.cumsum(counts)[:-1]
        self._came = numpy.zeros(0, int)

    def there(self, column: Any) -> Any:
        """Elements sent: those that come here, in the order of ranks and there of elements."""
        parts = sent(self._what, numpy.split(rows_at(column, self._order), self._cuts))
        self._came = numpy.cumsum([len(part) for part in parts])[:-1]
        return joined(parts)

    def back(self, answers: Any) -> Any:
        """An answer to each that came, sent back: in the order of what was sent."""
        parts = sent(self._what, numpy.split(answers, self._came))
        found = joined(parts)
        made = numpy.empty_like(found)
        put_rows(made, self._order, found)
        return made


def _by_owner(owners: Any) -> tuple[Any, Any]:
    """The numbers of the elements of each rank in turn, and how many each has."""
    if core.ranks() > _FEW:
        counts = numpy.bincount(owners, minlength=core.ranks())
        return numpy.argsort(owners, kind="stable"), counts  # a radix sort, of short numbers
    found = [places(owners == rank) for rank in range(core.ranks())]
    return numpy.concatenate(found), [len(one) for one in found]


def routes(what: str, numbers: Any, length: int) -> Routes:
    """The way to the ranks that have these rows of so many."""
    return Routes(what, owners(starts(length)[1:-1], numbers))


def owners(bounds: Any, numbers: Any) -> Any:
    """To which rank each number belongs: the first for those below the first bound."""
    kind = numpy.min_scalar_type(core.ranks())
    if len(bounds) > _FEW:
        return numpy.searchsorted(bounds, numbers, side="right").astype(kind)
    found = numpy.zeros(numbers.shape, kind)
    for bound in bounds:
        found += numbers >= bound
    return found


def by_number(array: Any, numbers: Any, target: Any) -> tuple[Any, int | None]:
    """Rows of an array in the order of numbers, where those are; or one that is out of range."""
    numbers = numpy.ascontiguousarray(numbers).reshape(-1)
    piece = raw(read_rows(array))
    found, wrong = core.rows_by_number(array, row_blocks(array.shape), piece, numbers, target)
    return found, wrong
