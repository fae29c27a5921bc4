"""polydiv and poly of distributed coefficients.

Each element takes part in NumPy's operations in NumPy's order, so results are equal bit by bit.
Factors that all ranks need are exchanged for many steps at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy

from dappled._ndarray.core import core, is_native
from dappled._ranks.comm import check_collective
from dappled._ranks.consensus import collective_try
from dappled._routines._distributed import row_blocks
from dappled._routines._distributed.chunks import CHUNK_ELEMENTS, replicated_chunks
from dappled._routines.convolution import with_left_halo
from dappled._routines.creation import asarray

# Roots that are multiplied in between two exchanges.
_MAX_ROOTS_PER_ROUND = 1024


def divide(u: Any, v: Any) -> Any:
    """`polydiv` of one-dimensional arrays; NotImplemented for others.

    The divisor is replicated.
    """
    u, v = (one.reshape(1) if not one.ndim else one for one in map(asarray, (u, v)))
    known = all(one.ndim == 1 and one.size and is_native(one.dtype) for one in (u, v))
    if not known:
        return NotImplemented
    check_collective("polydiv")
    divisor = core.unwrap(v.redistribute("n")) + 0.0
    scale = 1.0 / divisor[0]
    rest = _Remainder(u, divisor.dtype)
    quotient = rest.divide(divisor, scale)
    result = row_blocks.from_local_rows(rest.piece, len(u))
    return quotient, result[rest.first() :]


class _Remainder:
    """The remainder: this rank's piece of it."""

    def __init__(self, u: Any, kind: Any) -> None:
        piece = row_blocks.read_local_rows(u) + 0.0
        self.piece = piece.astype(numpy.result_type(piece.dtype, kind))
        self._start, self._length = row_blocks.first_row(len(u)), len(u)

    def divide(self, divisor: Any, scale: Any) -> Any:
        """Divides in place; returns the quotient."""
        steps = self._length - len(divisor) + 1
        if steps < 1:
            return asarray(numpy.zeros(1, self.piece.dtype))
        result = [self.piece[:0]]
        for start, stop, rank in _division_rounds(self._length, steps):
            if own := rank == core.rank():
                result.append(numpy.empty(stop - start, self.piece.dtype))
            given = result[-1] if own else result[0]
            collective_try(partial(self._divide, start, given, divisor, scale))
            factors = row_blocks.allgather("polydiv", given)
            collective_try(partial(self._take, start, factors[: 0 if own else None], divisor))
        return row_blocks.concatenate_ranks(numpy.concatenate(result))

    def _divide(self, start: int, factors: Any, divisor: Any, scale: Any) -> None:
        """The steps that start in this piece; stores their factors."""
        for position in range(len(factors)):
            at = start + position - self._start
            factors[position] = factor = scale * self.piece[at]
            part = self.piece[at : at + len(divisor)]
            part -= factor * divisor[: len(part)]

    def _take(self, start: int, factors: Any, divisor: Any) -> None:
        """The steps of another rank, as far as they reach into this piece."""
        ends = self._start - start - len(divisor) + 1, self._start + len(self.piece) - start
        for position in range(max(ends[0], 0), min(ends[1], len(factors))):
            at = start + position - self._start
            part = self.piece[max(at, 0) : max(at + len(divisor), 0)]
            skipped = max(-at, 0)
            part -= factors[position] * divisor[skipped : skipped + len(part)]

    def first(self) -> int:
        """The first coefficient that is not close to zero, or the last one."""
        positions = numpy.flatnonzero(~numpy.isclose(self.piece, 0, rtol=1e-14))[:1] + self._start
        result = row_blocks.allgather("polydiv", positions)
        return int(result[0]) if len(result) else self._length - 1


def _division_rounds(length: int, steps: int) -> Iterator[tuple[int, int, int]]:
    """Rounds of steps, with the rank that owns their first coefficients."""
    starts = row_blocks.block_starts(length)
    for rank in range(core.ranks()):
        last = min(int(starts[rank + 1]), steps)
        for start in range(int(starts[rank]), last, CHUNK_ELEMENTS):
            yield start, min(start + CHUNK_ELEMENTS, last), rank


def poly_from_roots(roots: Any) -> Any:
    """`poly` of a row of roots; NotImplemented for other arrays, or fewer roots than ranks."""
    if roots.ndim != 1 or not is_native(roots.dtype):
        return NotImplemented
    bounds = row_blocks.block_starts(len(roots) + 1)
    least = int(numpy.diff(bounds).min())
    if not least:
        return NotImplemented
    roots = roots.astype(numpy.mintypecode(roots.dtype.char))
    result = _multiply_roots(roots, min(least, _MAX_ROOTS_PER_ROUND))
    if roots.dtype.kind == "c":
        # Roots in conjugate pairs give real coefficients.
        wide = roots.astype(complex)
        if (numpy.sort(wide) == numpy.sort(wide.conj())).all():
            return result.real.copy()
    return result


def _multiply_roots(roots: Any, step: int) -> Any:
    """Coefficients, each rank its block, computed from a window that overlaps the one before."""
    check_collective("poly")
    length = len(roots) + 1
    blocks = row_blocks.row_distribution((length,))
    first, own = row_blocks.first_row(length), blocks.local_shape(core.rank())[0]
    result = core.full((length,), 0, roots.dtype, "C").redistribute(blocks)
    result[0] = 1
    for done, some in replicated_chunks(roots, step):
        window = with_left_halo(result, len(some))
        start = first + own - len(window)
        piece = collective_try(partial(_multiply_window, window, start, done + 1, some))
        result = core.from_piece(blocks, numpy.ascontiguousarray(piece[len(window) - own :]), True)
    return row_blocks.to_default_layout(result)


def _multiply_window(window: Any, start: int, count: int, roots: Any) -> Any:
    """Multiplies a window of coefficients by roots; each root invalidates one at its start."""
    output = window.copy()
    for root in roots:
        there = min(count - start, len(output))
        count += 1
        if there > 0:
            result = numpy.convolve(output[:there], numpy.array([1, -root], output.dtype))[
                : len(output)
            ]
            output[: len(result)] = result
    return output
