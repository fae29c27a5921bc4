"""convolve and correlate of long arrays in pieces.

Each rank computes its part as NumPy does, from its piece and the end of the piece before, with a
shorter array that every rank has: all of it, or if it is in pieces itself some at a time.
"""

from __future__ import annotations

from typing import Any

import numpy

from dappled._agreeing import agreed
from dappled._array import core, is_native, ufuncs
from dappled._chunks import CHUNK, shared
from dappled._comm import together
from dappled._creation import asarray
from dappled._line import called_by_user
from dappled._native import native
from dappled._piecewise import in_pieces
from dappled.protocol import Distribution

_MODES = {"valid": 0, "same": 1, "full": 2, 0: 0, 1: 1, 2: 2}


@native(numpy.convolve)
def convolve(a: Any, v: Any, mode: Any = "full") -> Any:
    if numpy.size(v) > numpy.size(a):
        a, v = v, a
    return _slid(numpy.convolve, a, v, mode)


@native(numpy.correlate)
def correlate(a: Any, v: Any, mode: Any = "valid") -> Any:
    if numpy.size(v) <= numpy.size(a):
        return _slid(numpy.correlate, a, v, mode)
    found = _slid(numpy.correlate, v, a, mode)
    return found if found is NotImplemented else ufuncs["conjugate"](found[::-1])


def _slid(function: Any, a: Any, v: Any, mode: Any) -> Any:
    """A function that moves `v` along `a`, which is not shorter."""
    if core.ranks() == 1 or not any(map(in_pieces, (a, v))) or mode not in _MODES:
        return NotImplemented
    long, short = asarray(a), asarray(v)
    if (long.ndim, short.ndim) != (1, 1) or not in_pieces(long):
        return NotImplemented
    row = Distribution(long.shape, "b", nprocs=core.ranks())
    least = min(row.local_shape(rank)[0] for rank in range(core.ranks()))
    if not (least and short.size and is_native(long.dtype) and is_native(short.dtype)):
        return NotImplemented
    found = _sum(function, long, short, row, least)
    return found[_kept(_MODES[mode], long.size, short.size)].copy()


def _sum(function: Any, a: Any, v: Any, row: Any, least: int) -> Any:
    """What each part of `v` gives, shifted and added: no part is longer than a piece of `a`."""
    if not in_pieces(v) and v.size <= least:
        return _full(function, a, core.unwrap(v), row)
    kind = numpy.result_type(a.dtype, v.dtype)
    total = core.full((a.size + v.size - 1,), 0, kind, "C")
    for start, part in shared(v, min(least, CHUNK)):
        stop = start + len(part)
        first = start if function is numpy.convolve else v.size - stop
        with numpy.errstate(all="ignore"):  # as NumPy's, sums say nothing
            total[first : first + a.size + len(part) - 1] += _full(function, a, part, row)
    return total


def _kept(mode: int, length: int, short: int) -> slice:
    """Which of all results a mode keeps: those of all of `v`, as many as `a` has, or all."""
    first = (short - 1, (short - 1) // 2, 0)[mode]
    count = (length - short + 1, length, length + short - 1)[mode]
    return slice(first, first + count)


def _full(function: Any, a: Any, v: Any, row: Any) -> Any:
    """All that has a share of both: a rank makes what ends in its piece, the last also the rest."""
    together(function.__name__)
    halo = len(v) - 1
    piece = with_the_end_before(a, halo, row)
    rank, last = core.rank(), core.ranks() - 1
    start = row.global_index(rank, (0,))[0]
    before = min(start, halo)
    values = agreed(lambda: called_by_user(function, piece, v, "full"))
    stop = len(values) if rank == last else len(values) - halo
    ends = [row.global_index(each, (0,))[0] for each in range(last + 1)] + [a.size + halo]
    laid = Distribution((a.size + halo,), "b", nprocs=last + 1, bounds=[ends])
    made = core.from_piece(laid, numpy.ascontiguousarray(values[before:stop]), True)
    return made.redistribute(core.blocks(made.shape, made.itemsize) or "n")


def with_the_end_before(a: Any, halo: int, row: Any) -> Any:
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
