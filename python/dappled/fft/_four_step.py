"""Bailey's four-step algorithm for a distributed line (1990).

The line is a matrix: columns are transformed, elements multiplied by roots of unity, rows
transformed, and the result read by columns. All-to-all exchanges make lines local before each step;
received parts are read in place.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy

from dappled._ndarray.core import core
from dappled._routines._distributed import row_blocks
from dappled._routines._distributed.threads import scratch


class LineMatrix(NamedTuple):
    """A line as a matrix.

    The first `computed_rows` elements of each column spectrum are computed; `wanted` elements of
    the line's spectrum are returned.
    """

    rows: int
    columns: int
    computed_rows: int
    wanted: int

    def spectrum(self, values: Any, forward: bool, scale: float) -> Any:
        """The spectrum of a line."""
        piece = self._transform_columns(values, forward)
        return self._to_line(self._transform_rows(piece, forward, scale))

    def _transform_columns(self, values: Any, forward: bool) -> Any:
        """This rank's columns, transformed and multiplied by roots of unity."""
        own, across = self._local_rows(values), block_bounds(self.columns)
        start, stop = across[core.rank()]
        shapes = [(high - low, stop - start) for low, high in block_bounds(self.rows)]
        received = all_to_all([own[:, low:high] for low, high in across], shapes)
        parts = [(own, start) if part is None else (part, 0) for part in received]
        piece = scratch((self.computed_rows, stop - start), numpy.result_type(own.dtype, 1j))
        if piece.size:
            core.fourier_columns(parts, piece, start, self.rows * self.columns, forward)
        return piece

    def _local_rows(self, values: Any) -> Any:
        shape, bounds = values.shape, row_blocks.block_starts(self.rows) * self.columns
        usual = (bounds == row_blocks.block_starts(shape[0])).all()
        blocks = core.placed("b", shape) if usual else row_blocks.uneven_distribution(shape, bounds)
        return core.part(values, shape, blocks)[0].reshape(-1, self.columns)

    def _transform_rows(self, piece: Any, forward: bool, scale: float) -> Any:
        """This rank's rows, transformed and transposed."""
        down = block_bounds(self.computed_rows)
        start, stop = down[core.rank()]
        shapes = [(stop - start, high - low) for low, high in block_bounds(self.columns)]
        received = all_to_all([piece[low:high] for low, high in down], shapes)
        transposed = scratch((self.columns, stop - start), piece.dtype)
        if transposed.size:
            parts = [piece[start:stop] if part is None else part for part in received]
            core.fourier_rows(parts, transposed, forward, scale)
        return transposed

    def _to_line(self, transposed: Any) -> Any:
        """The spectrum in order, in the default blocks."""
        ends = block_bounds(self.wanted)
        lines = [(low // self.rows, -(-high // self.rows)) for low, high in ends]
        first, last = lines[core.rank()]
        target = scratch((max(last - first, 0), self.rows), transposed.dtype)
        self._write_columns(target, [transposed[low:high] for low, high in lines])
        if self.computed_rows < self.rows:
            whole = self.columns
            self._write_mirrored_columns(
                target, [transposed[whole - high : whole - low] for low, high in lines]
            )
        start, stop = (position - first * self.rows for position in ends[core.rank()])
        distribution = core.placed("b", (self.wanted,))
        return core.from_piece(distribution, target.reshape(-1)[start:stop], True)

    def _write_columns(self, target: Any, sends: list[Any]) -> None:
        for start, stop, part in self._exchange_columns(target, sends):
            target[:, start:stop] = part

    def _write_mirrored_columns(self, target: Any, sends: list[Any]) -> None:
        """Conjugates of the computed columns: the line is real."""
        for start, stop, part in self._exchange_columns(target, sends):
            low, high = max(start, 1), min(stop, self.rows - self.computed_rows + 1)
            if low < high:
                there = target[:, self.rows - high + 1 : self.rows - low + 1]
                numpy.conjugate(part[::-1, low - start : high - start][:, ::-1], out=there)

    def _exchange_columns(self, target: Any, sends: list[Any]) -> list[tuple[int, int, Any]]:
        """The columns that each rank sends: their bounds and values."""
        across = block_bounds(self.computed_rows)
        received = all_to_all(sends, [(len(target), high - low) for low, high in across])
        received[core.rank()] = sends[core.rank()]
        return [(*cut, part) for cut, part in zip(across, received, strict=True)]


def block_bounds(length: int) -> list[tuple[int, int]]:
    """The bounds of each rank's block."""
    return list(itertools.pairwise(row_blocks.block_starts(length).tolist()))


def all_to_all(parts: list[Any], shapes: list[tuple[int, int]]) -> list[Any]:
    """All-to-all of two-dimensional parts in these shapes; None for this rank's own. Collective."""
    own, kind = core.rank(), parts[0].dtype
    nothing = numpy.empty(0, "u1")
    sends = [
        nothing if rank == own else row_blocks.raw_bytes(part) for rank, part in enumerate(parts)
    ]
    received = core.exchange("a Fourier transform", sends)
    received_parts = enumerate(zip(received, shapes, strict=True))
    return [
        None if rank == own else one.view(kind).reshape(shape)
        for rank, (one, shape) in received_parts
    ]
