"""Polynomials divided, and made of their roots, where coefficients are in pieces.

Steps follow one another as NumPy's do, and each element takes the same part in them in the same
order, so that bits are NumPy's. What all ranks must know of a step, they are told for many at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy

from dappled import _rows
from dappled._agreeing import agreed
from dappled._array import core, is_native
from dappled._chunks import CHUNK, shared
from dappled._comm import together
from dappled._convolving import with_the_end_before
from dappled._creation import asarray
from dappled._sampling import everywhere

# Roots that are multiplied in before ranks tell each other what has come of it.
_ROOTS = 1024


def divided(u: Any, v: Any) -> Any:
    """`polydiv` of rows; NotImplemented if they are none. Every rank has the divisor whole."""
    u, v = (one.reshape(1) if not one.ndim else one for one in map(asarray, (u, v)))
    known = all(one.ndim == 1 and one.size and is_native(one.dtype) for one in (u, v))
    if not known:
        return NotImplemented
    together("polydiv")
    divisor = core.unwrap(v.redistribute("n")) + 0.0
    scale = 1.0 / divisor[0]
    rest = _Rest(u, divisor.dtype)
    quotient = rest.divided(divisor, scale)
    made = _rows.from_rows(rest.piece, len(u))
    return quotient, made[rest.first() :]


class _Rest:
    """What is left of the dividend: this rank's part of it."""

    def __init__(self, u: Any, kind: Any) -> None:
        piece = _rows.read_rows(u) + 0.0
        self.piece = piece.astype(numpy.result_type(piece.dtype, kind))
        self._start, self._length = _rows.own_start(len(u)), len(u)

    def divided(self, divisor: Any, scale: Any) -> Any:
        """Takes away all that a divisor goes into it; the quotient."""
        steps = self._length - len(divisor) + 1
        if steps < 1:
            return asarray(numpy.zeros(1, self.piece.dtype))
        found = [self.piece[:0]]
        for start, stop, rank in _turns(self._length, steps):
            if own := rank == core.rank():
                found.append(numpy.empty(stop - start, self.piece.dtype))
            given = found[-1] if own else found[0]
            agreed(partial(self._divide, start, given, divisor, scale))
            factors = _rows.joined(everywhere(given))
            agreed(partial(self._take, start, factors[: 0 if own else None], divisor))
        return _rows.joined_rows(numpy.concatenate(found))

    def _divide(self, start: int, factors: Any, divisor: Any, scale: Any) -> None:
        """Does steps that begin in this part, and says what was taken away how often."""
        for place in range(len(factors)):
            at = start + place - self._start
            factors[place] = factor = scale * self.piece[at]
            part = self.piece[at : at + len(divisor)]
            part -= factor * divisor[: len(part)]

    def _take(self, start: int, factors: Any, divisor: Any) -> None:
        """Does the steps of another rank, as far as they reach into this part."""
        ends = self._start - start - len(divisor) + 1, self._start + len(self.piece) - start
        for place in range(max(ends[0], 0), min(ends[1], len(factors))):
            at = start + place - self._start
            part = self.piece[max(at, 0) : max(at + len(divisor), 0)]
            skipped = max(-at, 0)
            part -= factors[place] * divisor[skipped : skipped + len(part)]

    def first(self) -> int:
        """The first coefficient that is not nearly zero, or else the last one."""
        places = numpy.flatnonzero(~numpy.isclose(self.piece, 0, rtol=1e-14))[:1] + self._start
        found = numpy.concatenate(everywhere(places))
        return int(found[0]) if len(found) else self._length - 1


def _turns(length: int, steps: int) -> Iterator[tuple[int, int, int]]:
    """Steps that are done one after the other, and the rank that has where they begin."""
    starts = _rows.starts(length)
    for rank in range(core.ranks()):
        last = min(int(starts[rank + 1]), steps)
        for start in range(int(starts[rank]), last, CHUNK):
            yield start, min(start + CHUNK, last), rank


def of_roots(roots: Any) -> Any:
    """`poly` of a row of roots; NotImplemented if it is none, or there are fewer than ranks."""
    if roots.ndim != 1 or not is_native(roots.dtype):
        return NotImplemented
    bounds = _rows.starts(len(roots) + 1)
    least = int(numpy.diff(bounds).min())
    if not least:
        return NotImplemented
    roots = roots.astype(numpy.mintypecode(roots.dtype.char))
    made = _multiplied(roots, min(least, _ROOTS))
    if roots.dtype.kind == "c":
        # Of roots that come with their conjugates, coefficients are real.
        wide = roots.astype(complex)
        if (numpy.sort(wide) == numpy.sort(wide.conj())).all():
            return made.real.copy()
    return made


def _multiplied(roots: Any, step: int) -> Any:
    """Coefficients, of which each rank makes its own: behind some that it needs, and forgets."""
    together("poly")
    length = len(roots) + 1
    blocks = _rows.row_blocks((length,))
    first, own = _rows.own_start(length), blocks.local_shape(core.rank())[0]
    made = core.full((length,), 0, roots.dtype, "C").redistribute(blocks)
    made[0] = 1
    for done, some in shared(roots, step):
        window = with_the_end_before(made, len(some), blocks)
        start = first + own - len(window)
        piece = agreed(partial(_with_roots, window, start, done + 1, some))
        made = core.from_piece(blocks, numpy.ascontiguousarray(piece[len(window) - own :]), True)
    return _rows.settled(made)


def _with_roots(window: Any, start: int, count: int, roots: Any) -> Any:
    """Coefficients from one on, so many in all, multiplied by roots; those before are not known,
    so that each root spoils one at the beginning.
    """
    made = window.copy()
    for root in roots:
        there = min(count - start, len(made))
        count += 1
        if there > 0:
            found = numpy.convolve(made[:there], numpy.array([1, -root], made.dtype))[: len(made)]
            made[: len(found)] = found
    return made
