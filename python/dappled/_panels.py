"""A matrix in block columns that are dealt to the ranks in turn.

So every rank has work until the end, and a panel, that is one block column, is on one rank, which
factors it with NumPy and hands it to the others. A rank has its own columns and one panel.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from dappled._agreeing import pickled
from dappled._array import core
from dappled.protocol import Distribution

# Columns of a panel: enough for BLAS, and few beside those that a rank has.
_WIDEST = 64


class Columns:
    """This rank's columns of a matrix, in memory that may be written."""

    def __init__(self, matrix: Any, kind: Any) -> None:
        self.rows, self.columns = matrix.shape
        self.width = min(_WIDEST, max(1, self.columns // (2 * core.ranks())))
        block_size, grid = (None, self.width), (1, core.ranks())
        self.lies = Distribution(matrix.shape, "nc", grid_shape=grid, block_size=block_size)
        self.piece = self._own_piece(matrix, kind)

    def _own_piece(self, matrix: Any, kind: Any) -> Any:
        return numpy.asarray(matrix.redistribute(self.lies).local, kind)

    def blocks(self) -> Iterator[tuple[int, int, int]]:
        """The panels: number, first column, and the one after the last."""
        for number, start in enumerate(range(0, self.columns, self.width)):
            yield number, start, min(start + self.width, self.columns)

    def is_own(self, block: int) -> bool:
        """Whether a panel is this rank's."""
        return bool(block % core.ranks() == core.rank())

    def own(self, block: int) -> Any:
        """A panel of this rank's, in its memory."""
        first = block // core.ranks() * self.width
        return self.piece[:, first : first + self.width]

    def after(self, block: int) -> Any:
        """This rank's columns of the panels after this one."""
        before = (block - core.rank()) // core.ranks() + 1
        return self.piece[:, before * self.width :]

    def owned(self) -> Iterator[tuple[int, int, int]]:
        """This rank's panels."""
        return (block for block in self.blocks() if self.is_own(block[0]))


class LongColumns(Columns):
    """The same, where columns lie one after the other: in Fortran's order."""

    def _own_piece(self, matrix: Any, kind: Any) -> Any:
        block_size, grid = (self.width, None), (core.ranks(), 1)
        turned = matrix.T
        self._turned = Distribution(turned.shape, "cn", grid_shape=grid, block_size=block_size)
        return numpy.asarray(turned.redistribute(self._turned).local, kind).T

    def whole(self, kind: Any) -> Any:
        """The matrix as our array, as it would lie by default."""
        piece = self.piece.T.astype(kind, copy=False)
        return settled(core.from_piece(self._turned, piece, True).T)


class Coming:
    """Arrays that one rank has made and sends to all, while they do something else. Collective."""

    def __init__(self, rank: int, *arrays: Any) -> None:
        self._arrays = arrays
        own = arrays if core.rank() == rank else ()
        parts = [one.ravel("F").view("u1") for one in own]
        sent = numpy.concatenate(parts) if parts else numpy.empty(0, "u1")
        self._awaited = core.start_from(rank, "linear algebra", sent)

    def arrived(self, *like: tuple[Any, tuple[int, ...]]) -> list[Any]:
        """The arrays, in Fortran's order: of these dtypes and shapes."""
        if self._arrays:
            return list(self._arrays)  # those who need them take them when they do
        came = self._awaited.wait()
        found = []
        for kind, shape in like:
            size = numpy.dtype(kind).itemsize * math.prod(shape)
            found.append(came[:size].view(kind).reshape(shape, order="F"))
            came = came[size:]
        return found


def from_rank(rank: int, make: Callable[[], Any], what: str = "linear algebra") -> Any:
    """What one rank makes: what all others get, or the error that all raise. The memory of its
    arrays is sent as it is.
    """
    sent, memory = b"", list[pickle.PickleBuffer]()
    if core.rank() == rank:
        try:
            kept = pickle.dumps(make(), protocol=5, buffer_callback=memory.append)
            sent = pickle.dumps((kept, len(memory), None))
        except Exception as error:
            memory.clear()
            sent = pickle.dumps((b"", 0, pickled(error, [])))
    kept, count, wrong = pickle.loads(core.gather(what, sent)[rank])
    if wrong is not None:
        raise pickle.loads(wrong)[0]
    if core.rank() == rank:
        own = [numpy.frombuffer(one.raw(), "u1") for one in memory]
        for one in [core.start_from(rank, what, part) for part in own]:
            one.wait()
        return pickle.loads(kept, buffers=memory)  # as all others have it: nobody has more to copy
    came = [core.start_from(rank, what, numpy.empty(0, "u1")) for _ in range(count)]
    return pickle.loads(kept, buffers=[one.wait() for one in came])


def settled(array: Any) -> Any:
    """The array as it would lie by default."""
    lies = core.blocks(array.shape, array.itemsize)
    return array.redistribute("n" * array.ndim if lies is None else lies)
