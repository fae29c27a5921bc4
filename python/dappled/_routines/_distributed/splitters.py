"""Exact splitters by iterated sampling, for sorted values on all ranks.

Each round allgathers samples of the interval that contains each splitter; when the candidates fit
in one message they are resolved exactly. Equal values are ordered by rank, also where they are
split: the order is stable, and no rank gets more than its share of repeated values.
"""

from __future__ import annotations

import pickle
from typing import Any, NamedTuple

import numpy

from dappled._ndarray.core import core
from dappled._routines._distributed import row_blocks

# Samples of a rank for one splitter, and of all ranks.
_SAMPLES_PER_RANK, _MAX_SAMPLES = 256, 4096
# Samples of a rank for each splitter where values are not sorted.
_UNSORTED_SAMPLES_PER_RANK = 1024


class _Samples(NamedTuple):
    """Samples of all ranks, sorted."""

    values: Any
    who: Any  # the rank that each comes from
    places: Any  # its position on that rank
    before: Any  # an upper bound of the number of candidates before it


def splitter_positions(values: Any) -> Any:
    """The positions where this rank's sorted values are split among ranks. Collective."""
    total = sum(int(size[0]) for size in allgather(numpy.array([len(values)])))
    wanted = row_blocks.block_starts(total)[1:-1]
    low, high = numpy.zeros(len(wanted), int), numpy.full(len(wanted), len(values))
    most = total  # an upper bound of the candidates, which all ranks know
    # Each rank contributes at least one candidate too many.
    enough = max(_MAX_SAMPLES, 16 * core.ranks())
    while True:
        count = (
            None if most <= enough else max(8, min(_SAMPLES_PER_RANK, _MAX_SAMPLES // core.ranks()))
        )
        every, lows, highs = _allgather_samples(values, low, high, count)
        left = wanted - lows.sum(0)
        if count is None:
            return low + [_local_count_in_first(*one) for one in zip(every, left, strict=True)]
        most = 0
        for bound, (samples, gaps) in enumerate(
            zip(every, _uncertainties(lows, highs, count), strict=True)
        ):
            under = numpy.searchsorted(samples.before, left[bound], side="right") - 1
            over = numpy.searchsorted(samples.before, left[bound] + gaps)
            ends = [0, int((highs - lows)[:, bound].sum())]
            if under >= 0:
                low[bound] = max(low[bound], _local_rank_of(values, samples, under))
                ends[0] = max(0, int(samples.before[under] - gaps))
            if over < len(samples.before):
                high[bound] = min(high[bound], _local_rank_of(values, samples, over))
                ends[1] = int(samples.before[over])
            most = max(most, ends[1] - ends[0])


def _sample_positions(low: int, high: int, count: int | None) -> Any:
    """Evenly spaced positions, or all."""
    if count is None or high - low <= count:
        return numpy.arange(low, high)
    return low + numpy.arange(count) * (high - low) // count


def _uncertainties(lows: Any, highs: Any, count: int) -> Any:
    """How many more values may precede a sample than its known rank."""
    return (-(-(highs - lows) // count)).sum(0)


def _allgather_samples(
    values: Any, low: Any, high: Any, count: int | None
) -> tuple[list[_Samples], Any, Any]:
    """Samples of all ranks for each splitter, and the intervals that contain it. Collective."""
    positions = [_sample_positions(*ends, count) for ends in zip(low, high, strict=True)]
    mine = (low, high, positions, [values[some] for some in positions])
    gathered = [pickle.loads(sent) for sent in core.gather("samples", pickle.dumps(mine, 5))]
    lows, highs, indices, some = zip(*gathered, strict=True)
    bounds = range(len(positions))
    result = [
        _merge_samples(
            [one[at] for one in indices], [one[at] for one in some], [one[at] for one in highs]
        )
        for at in bounds
    ]
    return result, numpy.array(lows), numpy.array(highs)


def _merge_samples(indices: list[Any], values: list[Any], ends: list[Any]) -> _Samples:
    """Samples of all ranks for one splitter, sorted."""
    who = numpy.repeat(numpy.arange(len(values)), [len(one) for one in values])
    weights = [numpy.diff(one, append=end) for one, end in zip(indices, ends, strict=True)]
    joined = row_blocks.concatenate(values)
    order = numpy.argsort(joined, kind="stable")
    weight = numpy.concatenate(weights)[order]
    positions = numpy.concatenate(indices)[order]
    return _Samples(joined[order], who[order], positions, numpy.cumsum(weight) - weight)


def _local_rank_of(values: Any, samples: _Samples, which: int) -> int:
    """The number of this rank's values before a sample."""
    value, who, own = samples.values[which], samples.who[which], core.rank()
    if own == who:
        return int(samples.places[which])
    return int(numpy.searchsorted(values, value, side="right" if own < who else "left"))


def _local_count_in_first(samples: _Samples, count: int) -> int:
    """The number of this rank's values among the first `count` candidates."""
    return int((samples.who[:count] == core.rank()).sum())


def approximate_splitters(values: Any, first: int) -> tuple[Any, list[int]]:
    """Approximate splitters of unsorted values: their values and global indices. Collective.

    This rank's values start at the global index `first`.
    """
    ranks = core.ranks()
    every = max(1, len(values) // (_UNSORTED_SAMPLES_PER_RANK * ranks))
    samples = allgather(values[::every])
    indices = allgather(numpy.arange(first, first + len(values), every))
    result, positions = numpy.concatenate(samples), numpy.concatenate(indices)
    steps = numpy.concatenate(allgather(numpy.array([every])))
    weights = numpy.repeat(steps, [len(one) for one in samples])
    order = numpy.argsort(result, kind="stable")  # indices are already in order
    before = numpy.cumsum(weights[order])
    wanted = numpy.arange(1, ranks) * (before[-1] / ranks)
    chosen = order[numpy.minimum(numpy.searchsorted(before, wanted), len(order) - 1)]
    return result[chosen], positions[chosen].tolist()


def allgather(values: Any) -> list[Any]:
    """Allgather: the values of every rank. Collective."""
    raw = core.gather("samples", numpy.ascontiguousarray(values).tobytes())
    return [numpy.frombuffer(one, values.dtype) for one in raw]


def exchange_sorted(column: Any, positions: Any) -> list[Any]:
    """Sends sorted values, split at `places`; returns those for this rank. Collective."""
    return row_blocks.all_to_all("sorted values", numpy.split(column, positions))
