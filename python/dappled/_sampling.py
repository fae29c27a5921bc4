"""How ranks share sorted values, so that each has its block of them, and all of its are in order.

Ranks have their own values sorted, and tell some of those among which a bound must be: so they
come nearer to it, until they can tell all that are left. Of equal values, those of an earlier rank
come first, also where they are cut: so the order is stable, and no rank gets more than its share of
values that are many times the same.
"""

from __future__ import annotations

import pickle
from typing import Any, NamedTuple

import numpy

from dappled import _rows
from dappled._array import core

# Values of a rank among the samples for a bound, and of all ranks for one.
_SAMPLES, _OF_ALL = 256, 4096
# Values of a rank, for each rank, where they are not sorted, and say less of those beside them.
_SEVERAL = 1024


class _Samples(NamedTuple):
    """Samples of all ranks, in order."""

    values: Any
    who: Any  # the rank of each
    places: Any  # where it stands there
    before: Any  # how many at most come before it, of those that are left


def cuts(values: Any) -> Any:
    """Where this rank's sorted values are cut, so that each rank gets its block. Collective."""
    total = sum(int(size[0]) for size in everywhere(numpy.array([len(values)])))
    wanted = _rows.starts(total)[1:-1]
    low, high = numpy.zeros(len(wanted), int), numpy.full(len(wanted), len(values))
    most = total  # that may be left of a bound: all ranks know as much without being told
    # Of many ranks more must be told, or it would never be enough: each says one too many.
    enough = max(_OF_ALL, 16 * core.ranks())
    while True:
        count = None if most <= enough else max(8, min(_SAMPLES, _OF_ALL // core.ranks()))
        every, lows, highs = _told(values, low, high, count)
        left = wanted - lows.sum(0)
        if count is None:
            return low + [_own_of_first(*one) for one in zip(every, left, strict=True)]
        most = 0
        for bound, (samples, gaps) in enumerate(zip(every, _gaps(lows, highs, count), strict=True)):
            under = numpy.searchsorted(samples.before, left[bound], side="right") - 1
            over = numpy.searchsorted(samples.before, left[bound] + gaps)
            ends = [0, int((highs - lows)[:, bound].sum())]
            if under >= 0:
                low[bound] = max(low[bound], _own_before(values, samples, under))
                ends[0] = max(0, int(samples.before[under] - gaps))
            if over < len(samples.before):
                high[bound] = min(high[bound], _own_before(values, samples, over))
                ends[1] = int(samples.before[over])
            most = max(most, ends[1] - ends[0])


def _some(low: int, high: int, count: int | None) -> Any:
    """Some places, or all, from the first on."""
    if count is None or high - low <= count:
        return numpy.arange(low, high)
    return low + numpy.arange(count) * (high - low) // count


def _gaps(lows: Any, highs: Any, count: int) -> Any:
    """How many more may come before a sample than is known of those of all ranks."""
    return (-(-(highs - lows) // count)).sum(0)


def _told(values: Any, low: Any, high: Any, count: int | None) -> tuple[list[_Samples], Any, Any]:
    """What all ranks tell of each bound, and between which places it is theirs. Collective."""
    places = [_some(*ends, count) for ends in zip(low, high, strict=True)]
    mine = (low, high, places, [values[some] for some in places])
    told = [pickle.loads(sent) for sent in core.gather("samples", pickle.dumps(mine, 5))]
    lows, highs, numbers, some = zip(*told, strict=True)
    bounds = range(len(places))
    found = [
        _ordered(
            [one[at] for one in numbers], [one[at] for one in some], [one[at] for one in highs]
        )
        for at in bounds
    ]
    return found, numpy.array(lows), numpy.array(highs)


def _ordered(numbers: list[Any], values: list[Any], ends: list[Any]) -> _Samples:
    """Samples of a bound by each rank, put in order."""
    who = numpy.repeat(numpy.arange(len(values)), [len(one) for one in values])
    weights = [numpy.diff(one, append=end) for one, end in zip(numbers, ends, strict=True)]
    joined = _rows.joined(values)
    order = numpy.argsort(joined, kind="stable")
    weight = numpy.concatenate(weights)[order]
    places = numpy.concatenate(numbers)[order]
    return _Samples(joined[order], who[order], places, numpy.cumsum(weight) - weight)


def _own_before(values: Any, samples: _Samples, which: int) -> int:
    """How many of this rank's values come before a sample."""
    value, who, own = samples.values[which], samples.who[which], core.rank()
    if own == who:
        return int(samples.places[which])
    return int(numpy.searchsorted(values, value, side="right" if own < who else "left"))


def _own_of_first(samples: _Samples, count: int) -> int:
    """How many of the first so many are this rank's, where all were told."""
    return int((samples.who[:count] == core.rank()).sum())


def bounds(values: Any, first: int) -> tuple[Any, list[int]]:
    """Between which elements values, which are not sorted, are divided among ranks, so that each
    gets about as many: the bounds' values and numbers. This rank has those from `first` on.
    Collective.
    """
    ranks = core.ranks()
    every = max(1, len(values) // (_SEVERAL * ranks))
    samples = everywhere(values[::every])
    numbers = everywhere(numpy.arange(first, first + len(values), every))
    found, places = numpy.concatenate(samples), numpy.concatenate(numbers)
    steps = numpy.concatenate(everywhere(numpy.array([every])))
    weights = numpy.repeat(steps, [len(one) for one in samples])
    order = numpy.argsort(found, kind="stable")  # numbers are in order already
    before = numpy.cumsum(weights[order])
    wanted = numpy.arange(1, ranks) * (before[-1] / ranks)
    chosen = order[numpy.minimum(numpy.searchsorted(before, wanted), len(order) - 1)]
    return found[chosen], places[chosen].tolist()


def everywhere(values: Any) -> list[Any]:
    """Values of every rank. Collective."""
    raw = core.gather("samples", numpy.ascontiguousarray(values).tobytes())
    return [numpy.frombuffer(one, values.dtype) for one in raw]


def exchanged(column: Any, places: Any) -> list[Any]:
    """Sorted values cut there, those that are for this rank: of each rank, sorted. Collective."""
    return _rows.sent("sorted values", numpy.split(column, places))
