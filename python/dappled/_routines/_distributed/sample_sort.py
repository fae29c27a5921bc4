"""Bucketed sample sort of 8-byte keys.

Ranks allgather samples to define buckets, and the counts of each bucket. All ranks then know which
buckets, or parts of them, form whose block of the result, and exchange the keys.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy

from dappled._ndarray.core import core
from dappled._routines._distributed import row_blocks
from dappled._routines._distributed.splitters import allgather
from dappled._routines._distributed.threads import scratch

# Samples per rank; and the largest share of a block that a bucket may have, because every rank that
# it is split among sorts all of it.
_SAMPLE_SIZE, _MAX_BUCKET_SHARE = 4096, 1 / 8


def uses_sample_sort(dtype: Any, kind: Any) -> bool:
    """Whether the sample sort pays for a dtype."""
    # Equal floats may be exchanged. With AVX-512 NumPy's sort is as fast.
    alike = dtype.char in "lqLQ" or (dtype.char == "d" and kind is None)
    return alike and dtype.isnative and core.cpu()[0] != "AVX-512"


def sample_sort(row: Any) -> Any:
    """A sorted copy of a long distributed row; None if a bucket is too large. Collective."""
    values = numpy.ascontiguousarray(row_blocks.read_local_rows(row))
    some = values[:: max(1, len(values) * core.ranks() // _SAMPLE_SIZE)]
    keys = scratch(values.shape, numpy.uint64)
    samples = numpy.concatenate(allgather(some))
    own = numpy.array(core.deal(samples, len(row), values, keys), numpy.int64)
    every = [one.reshape(-1, own.shape[-1]) for one in allgather(own)]
    counts = sum(numpy.diff(one, axis=1).sum(0) for one in every)
    if counts.max() > len(row) / core.ranks() * _MAX_BUCKET_SHARE:
        return None
    ends, blocks = numpy.cumsum(counts), row_blocks.block_starts(len(row))
    wanted = [_buckets_between(ends, *block) for block in itertools.pairwise(blocks.tolist())]
    parts = [[keys[one[low] : one[high]] for one in own] for low, high in wanted]
    received = row_blocks.all_to_all("values to sort", [_single_array(part) for part in parts])
    low, high = wanted[core.rank()]
    out = scratch((sum(map(len, received)),), row.dtype)
    core.gather_dealt(_split_by_thread(received, [one[:, low : high + 1] for one in every]), out)
    first, last = blocks[core.rank()] - (ends[low] - counts[low]), blocks[core.rank() + 1]
    piece = out[first : first + last - blocks[core.rank()]]
    return row_blocks.from_local_rows(piece, len(row), fresh=True)


def _buckets_between(ends: Any, start: int, stop: int) -> tuple[int, int]:
    """The range of buckets that contains the values between two global positions."""
    low, high = numpy.searchsorted(ends, [start, stop - 1], side="right")
    return int(low), int(high) + 1


def _single_array(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else row_blocks.concatenate(parts)


def _split_by_thread(received: list[Any], starts: list[Any]) -> list[tuple[Any, Any]]:
    """The received keys of each rank, split by the threads that bucketed them."""
    parts: list[tuple[Any, Any]] = []
    for keys, of_rank in zip(received, starts, strict=True):
        cuts = numpy.cumsum(of_rank[:, -1] - of_rank[:, 0])[:-1]
        parts += zip(numpy.split(keys, cuts), map(numpy.ascontiguousarray, of_rank), strict=True)
    return parts
