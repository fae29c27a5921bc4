"""convolve and correlate of long distributed arrays.

Each rank convolves its piece, preceded by a halo of the piece before, with the shorter array, which
is replicated: as a whole, or chunk by chunk if it is distributed.
"""

from __future__ import annotations

from typing import Any

import numpy

from dappled._dispatch.callsite import call_from_user_frame
from dappled._dispatch.implements import implements
from dappled._ndarray.core import core, is_native, ufuncs
from dappled._ranks.comm import check_collective
from dappled._ranks.consensus import collective_try
from dappled._ranks.map_blocks import is_distributed
from dappled._routines._distributed.chunks import CHUNK_ELEMENTS, replicated_chunks
from dappled._routines._distributed.row_blocks import to_default_layout
from dappled._routines.creation import asarray
from dappled.protocol import Distribution

_MODES = {"valid": 0, "same": 1, "full": 2, 0: 0, 1: 1, 2: 2}


@implements(numpy.convolve)
def convolve(a: Any, v: Any, mode: Any = "full") -> Any:
    if numpy.size(v) > numpy.size(a):
        a, v = v, a
    return _convolve(numpy.convolve, a, v, mode)


@implements(numpy.correlate)
def correlate(a: Any, v: Any, mode: Any = "valid") -> Any:
    if numpy.size(v) <= numpy.size(a):
        return _convolve(numpy.correlate, a, v, mode)
    result = _convolve(numpy.correlate, v, a, mode)
    return result if result is NotImplemented else ufuncs["conjugate"](result[::-1])


def _convolve(function: Any, a: Any, v: Any, mode: Any) -> Any:
    """A sliding product of `v` along `a`, which is not shorter."""
    if core.ranks() == 1 or not any(map(is_distributed, (a, v))) or mode not in _MODES:
        return NotImplemented
    long, short = asarray(a), asarray(v)
    if (long.ndim, short.ndim) != (1, 1) or not is_distributed(long):
        return NotImplemented
    row = Distribution(long.shape, "b", nprocs=core.ranks())
    least = min(row.local_shape(rank)[0] for rank in range(core.ranks()))
    if not (least and short.size and is_native(long.dtype) and is_native(short.dtype)):
        return NotImplemented
    result = _sum_of_chunks(function, long, short, row, least)
    return result[_mode_slice(_MODES[mode], long.size, short.size)].copy()


def _sum_of_chunks(function: Any, a: Any, v: Any, row: Any, least: int) -> Any:
    """The sum of the shifted results for each chunk of `v`; a chunk fits into a piece of `a`."""
    if not is_distributed(v) and v.size <= least:
        return _full_convolution(function, a, core.unwrap(v), row)
    kind = numpy.result_type(a.dtype, v.dtype)
    total = core.full((a.size + v.size - 1,), 0, kind, "C")
    for start, part in replicated_chunks(v, min(least, CHUNK_ELEMENTS)):
        stop = start + len(part)
        first = start if function is numpy.convolve else v.size - stop
        with numpy.errstate(all="ignore"):  # NumPy ignores floating-point errors here
            total[first : first + a.size + len(part) - 1] += _full_convolution(
                function, a, part, row
            )
    return total


def _mode_slice(mode: int, length: int, short: int) -> slice:
    """The slice of the full result that a mode keeps."""
    first = (short - 1, (short - 1) // 2, 0)[mode]
    count = (length - short + 1, length, length + short - 1)[mode]
    return slice(first, first + count)


def _full_convolution(function: Any, a: Any, v: Any, row: Any) -> Any:
    """The full result: each rank computes what ends in its piece, the last rank also the rest."""
    check_collective(function.__name__)
    halo = len(v) - 1
    piece = with_left_halo(a, halo)
    rank, last = core.rank(), core.ranks() - 1
    start = row.global_index(rank, (0,))[0]
    before = min(start, halo)
    values = collective_try(lambda: call_from_user_frame(function, piece, v, "full"))
    stop = len(values) if rank == last else len(values) - halo
    ends = [row.global_index(each, (0,))[0] for each in range(last + 1)] + [a.size + halo]
    distribution = Distribution((a.size + halo,), "b", nprocs=last + 1, bounds=[ends])
    return to_default_layout(
        core.from_piece(distribution, numpy.ascontiguousarray(values[before:stop]), True)
    )


def with_left_halo(a: Any, halo: int) -> Any:
    """This rank's block of a row, preceded by up to `halo` elements before it."""
    return core.block_with_halo(a, halo).view(a.dtype)
