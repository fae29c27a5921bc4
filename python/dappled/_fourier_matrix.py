"""The Fourier transform of a line in pieces as that of a matrix, row by row.

Its columns are transformed, each element is multiplied by a root of unity, then its rows are
transformed; what comes out lies column by column (Bailey, 1990). Before each step and after the
last, ranks send each other what makes lines whole; what comes is read where it is.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy

from dappled import _rows
from dappled._array import core
from dappled._threads import scratch


class Matrix(NamedTuple):
    """A line as a matrix: of the spectra of its columns the first `made` elements are enough, of
    that of the line so many are `wanted`.
    """

    rows: int
    columns: int
    made: int
    wanted: int

    def spectrum(self, values: Any, forward: bool, scale: float) -> Any:
        """That of a line."""
        piece = self._columns_done(values, forward)
        return self._in_order(self._rows_done(piece, forward, scale))

    def _columns_done(self, values: Any, forward: bool) -> Any:
        """This rank's columns, each transformed and multiplied by roots of unity."""
        own, across = self._own_rows(values), cuts(self.columns)
        start, stop = across[core.rank()]
        shapes = [(high - low, stop - start) for low, high in cuts(self.rows)]
        came = sent([own[:, low:high] for low, high in across], shapes)
        parts = [(own, start) if part is None else (part, 0) for part in came]
        piece = scratch((self.made, stop - start), numpy.result_type(own.dtype, 1j))
        if piece.size:
            core.fourier_columns(parts, piece, start, self.rows * self.columns, forward)
        return piece

    def _own_rows(self, values: Any) -> Any:
        shape, bounds = values.shape, _rows.starts(self.rows) * self.columns
        usual = (bounds == _rows.starts(shape[0])).all()
        blocks = core.placed("b", shape) if usual else _rows.uneven(shape, bounds)
        return core.part(values, shape, blocks)[0].reshape(-1, self.columns)

    def _rows_done(self, piece: Any, forward: bool, scale: float) -> Any:
        """This rank's rows, each transformed, and now a column."""
        down = cuts(self.made)
        start, stop = down[core.rank()]
        shapes = [(stop - start, high - low) for low, high in cuts(self.columns)]
        came = sent([piece[low:high] for low, high in down], shapes)
        turned = scratch((self.columns, stop - start), piece.dtype)
        if turned.size:
            parts = [piece[start:stop] if part is None else part for part in came]
            core.fourier_rows(parts, turned, forward, scale)
        return turned

    def _in_order(self, turned: Any) -> Any:
        """The spectrum, one element after the other, of which each rank has columns."""
        ends = cuts(self.wanted)
        lines = [(low // self.rows, -(-high // self.rows)) for low, high in ends]
        first, last = lines[core.rank()]
        target = scratch((max(last - first, 0), self.rows), turned.dtype)
        self._put(target, [turned[low:high] for low, high in lines])
        if self.made < self.rows:
            whole = self.columns
            self._put_mirrored(target, [turned[whole - high : whole - low] for low, high in lines])
        start, stop = (place - first * self.rows for place in ends[core.rank()])
        lies = core.placed("b", (self.wanted,))
        return core.from_piece(lies, target.reshape(-1)[start:stop], True)

    def _put(self, target: Any, sends: list[Any]) -> None:
        for start, stop, part in self._arrived(target, sends):
            target[:, start:stop] = part

    def _put_mirrored(self, target: Any, sends: list[Any]) -> None:
        """What the first columns tell of the others: the line is real."""
        for start, stop, part in self._arrived(target, sends):
            low, high = max(start, 1), min(stop, self.rows - self.made + 1)
            if low < high:
                there = target[:, self.rows - high + 1 : self.rows - low + 1]
                numpy.conjugate(part[::-1, low - start : high - start][:, ::-1], out=there)

    def _arrived(self, target: Any, sends: list[Any]) -> list[tuple[int, int, Any]]:
        """The columns that each rank has of what is this one's: from where to where, and they."""
        across = cuts(self.made)
        came = sent(sends, [(len(target), high - low) for low, high in across])
        came[core.rank()] = sends[core.rank()]
        return [(*cut, part) for cut, part in zip(across, came, strict=True)]


def cuts(length: int) -> list[tuple[int, int]]:
    """Where each rank's block of so many begins and ends."""
    return list(itertools.pairwise(_rows.starts(length).tolist()))


def sent(parts: list[Any], shapes: list[tuple[int, int]]) -> list[Any]:
    """Parts for every rank: what every rank has for this one, in these shapes; None of itself."""
    own, kind = core.rank(), parts[0].dtype
    nothing = numpy.empty(0, "u1")
    sends = [nothing if rank == own else _rows.raw(part) for rank, part in enumerate(parts)]
    came = core.exchange("a Fourier transform", sends)
    ways = enumerate(zip(came, shapes, strict=True))
    return [None if rank == own else one.view(kind).reshape(shape) for rank, (one, shape) in ways]
