"""Numbers of eight bytes sorted by dealing them out to ranges of their order, on several ranks too.

Ranks agree on the ranges by samples, and tell how many each has in every range. So all know which
ranges, or parts of them, are whose block of what is sorted, and send those there.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy

from dappled import _rows
from dappled._array import core
from dappled._sampling import everywhere
from dappled._threads import scratch

# Values that a rank tells, of which the ranges are made; and the largest share of a block that a
# range may have, for the ranks that it is cut among sort all of it.
_SAMPLES, _SHARE = 4096, 1 / 8


def is_dealt(dtype: Any, kind: Any) -> bool:
    """Whether values are sorted so."""
    # Floats that are equal may change places. With AVX-512 NumPy's sort of parts is as fast.
    alike = dtype.char in "lqLQ" or (dtype.char == "d" and kind is None)
    return alike and dtype.isnative and core.cpu()[0] != "AVX-512"


def dealt_sorted(row: Any) -> Any:
    """A sorted copy of a long row in pieces; None if a range has too many of them. Collective."""
    values = numpy.ascontiguousarray(_rows.read_rows(row))
    some = values[:: max(1, len(values) * core.ranks() // _SAMPLES)]
    keys = scratch(values.shape, numpy.uint64)
    samples = numpy.concatenate(everywhere(some))
    own = numpy.array(core.deal(samples, len(row), values, keys), numpy.int64)
    every = [one.reshape(-1, own.shape[-1]) for one in everywhere(own)]
    counts = sum(numpy.diff(one, axis=1).sum(0) for one in every)
    if counts.max() > len(row) / core.ranks() * _SHARE:
        return None
    ends, blocks = numpy.cumsum(counts), _rows.starts(len(row))
    wanted = [_between(ends, *block) for block in itertools.pairwise(blocks.tolist())]
    parts = [[keys[one[low] : one[high]] for one in own] for low, high in wanted]
    came = _rows.sent("values to sort", [_one_of(part) for part in parts])
    low, high = wanted[core.rank()]
    out = scratch((sum(map(len, came)),), row.dtype)
    core.gather_dealt(_by_parts(came, [one[:, low : high + 1] for one in every]), out)
    first, last = blocks[core.rank()] - (ends[low] - counts[low]), blocks[core.rank() + 1]
    piece = out[first : first + last - blocks[core.rank()]]
    return _rows.from_rows(piece, len(row), fresh=True)


def _between(ends: Any, start: int, stop: int) -> tuple[int, int]:
    """Which ranges have the values from one place to another in them."""
    low, high = numpy.searchsorted(ends, [start, stop - 1], side="right")
    return int(low), int(high) + 1


def _one_of(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else _rows.joined(parts)


def _by_parts(came: list[Any], starts: list[Any]) -> list[tuple[Any, Any]]:
    """The keys that came of each rank, by the parts that its threads dealt."""
    parts: list[tuple[Any, Any]] = []
    for keys, of_rank in zip(came, starts, strict=True):
        cuts = numpy.cumsum(of_rank[:, -1] - of_rank[:, 0])[:-1]
        parts += zip(numpy.split(keys, cuts), map(numpy.ascontiguousarray, of_rank), strict=True)
    return parts
