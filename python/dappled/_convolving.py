"""convolve, correlate and interp of long arrays in pieces with short ones that every rank has.

Each rank computes its part as NumPy does, from its piece and the end of the piece before.
"""

from __future__ import annotations

from typing import Any

import numpy

from dappled._array import core, is_native, ndarray
from dappled._comm import together
from dappled._line import called_by_user
from dappled._native import native
from dappled._piecewise import agreed, applied, in_pieces
from dappled.protocol import Distribution

_MODES = {"valid": 0, "same": 1, "full": 2, 0: 0, 1: 1, 2: 2}


@native(numpy.convolve)
def convolve(a: Any, v: Any, mode: Any = "full") -> Any:
    if in_pieces(v) and numpy.size(v) > numpy.size(a):
        a, v = v, a
    return _slid(numpy.convolve, a, v, mode)


@native(numpy.correlate)
def correlate(a: Any, v: Any, mode: Any = "valid") -> Any:
    return _slid(numpy.correlate, a, v, mode)


def _slid(function: Any, a: Any, v: Any, mode: Any) -> Any:
    """A function that moves `v` along `a`; NotImplemented if `v` is longer than the pieces."""
    if not in_pieces(a) or mode not in _MODES or (a.ndim, numpy.ndim(v)) != (1, 1):
        return NotImplemented
    row = Distribution(a.shape, "b", nprocs=core.ranks())
    least = min(row.local_shape(rank)[0] for rank in range(core.ranks()))
    if not 0 < numpy.size(v) <= least:
        return NotImplemented
    short = core.unwrap(v) if isinstance(v, ndarray) else numpy.asarray(v)
    if not (is_native(a.dtype) and is_native(short.dtype)):
        return NotImplemented
    found = _full(function, a, short, row)
    return found[_kept(_MODES[mode], a.size, short.size)].copy()


def _kept(mode: int, length: int, short: int) -> slice:
    """Which of all results a mode keeps: those of all of `v`, as many as `a` has, or all."""
    first = (short - 1, (short - 1) // 2, 0)[mode]
    count = (length - short + 1, length, length + short - 1)[mode]
    return slice(first, first + count)


def _full(function: Any, a: Any, v: Any, row: Any) -> Any:
    """All that has a share of both: a rank makes what ends in its piece, the last also the rest."""
    together(function.__name__)
    halo = len(v) - 1
    piece = _with_the_end_before(a, halo, row)
    rank, last = core.rank(), core.ranks() - 1
    start = row.global_index(rank, (0,))[0]
    before = min(start, halo)
    values = agreed(lambda: called_by_user(function, piece, v, "full"))
    stop = len(values) if rank == last else len(values) - halo
    ends = [row.global_index(each, (0,))[0] for each in range(last + 1)] + [a.size + halo]
    laid = Distribution((a.size + halo,), "b", nprocs=last + 1, bounds=[ends])
    made = core.from_piece(laid, numpy.ascontiguousarray(values[before:stop]), True)
    return made.redistribute(core.blocks(made.shape, made.itemsize) or "n")


def _with_the_end_before(a: Any, halo: int, row: Any) -> Any:
    """This rank's piece behind the end of the one before; of the first, its piece alone."""
    piece = a.redistribute(row).local
    if not halo:
        return piece
    ranks = core.ranks()
    lines = Distribution((ranks, halo), "bn", nprocs=ranks)
    ends = core.from_piece(lines, piece[None, -halo:].copy(), True)
    before = core.full((ranks, halo), 0, a.dtype, "C").redistribute(lines)
    before[1:] = ends[:-1]
    own = before.local[0]
    return piece if core.rank() == 0 else numpy.concatenate([own, piece])


@native(numpy.interp)
def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    if not in_pieces(x) or not is_native(x.dtype):
        return NotImplemented
    table = [core.unwrap(one) if isinstance(one, ndarray) else one for one in (xp, fp)]

    interpolate: Any = numpy.interp

    def found(part: Any) -> Any:
        return interpolate(part, *table, left, right, period)

    return applied(found, (x,), {})
