"""How ranks share sorted values, so that each has its block of them, and all of its are in order.

Ranks have their own values sorted, and tell some of those among which a bound must be: so they
come nearer to it, until they can tell all that are left. Of equal values, those of an earlier rank
come first, also where they are cut: so the order is stable, and no rank gets more than its share of
values that are many times the same.
"""

from __future__ import annotations

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
    while True:
        lows, highs = (numpy.array(everywhere(ends)) for ends in (low, high))
        left = wanted - lows.sum(0)
        most = (highs - lows).sum(0).max(initial=0)
        count = None if most <= _OF_ALL else max(8, min(_SAMPLES, _OF_ALL // core.ranks()))
        places = [_some(*ends, count) for ends in zip(low, high, strict=True)]
        every = _told(values, places, highs)
        if count is None:
            return low + [_own_of_first(*one) for one in zip(every, left, strict=True)]
        for bound, (samples, gaps) in enumerate(zip(every, _gaps(lows, highs, count), strict=True)):
            under = numpy.searchsorted(samples.before, left[bound], side="right") - 1
            over = numpy.searchsorted(samples.before, left[bound] + gaps)
            if under >= 0:
                low[bound] = max(low[bound], _own_before(values, samples, under))
            if over < len(samples.before):
                high[bound] = min(high[bound], _own_before(values, samples, over))


def _some(low: int, high: int, count: int | None) -> Any:
    """Some places, or all, from the first on."""
    if count is None or high - low <= count:
        return numpy.arange(low, high)
    return low + numpy.arange(count) * (high - low) // count


def _gaps(lows: Any, highs: Any, count: int) -> Any:
    """How many more may come before a sample than is known of those of all ranks."""
    return (-(-(highs - lows) // count)).sum(0)


def _told(values: Any, places: list[Any], highs: Any) -> list[_Samples]:
    """What all ranks tell of each bound. Collective."""
    sizes = everywhere(numpy.array([len(one) for one in places], int))
    flat = numpy.concatenate(places) if places else numpy.zeros(0, int)
    told = everywhere(values[flat]), everywhere(flat)
    ends = [numpy.cumsum(one)[:-1] for one in sizes]
    split = [[numpy.split(*one) for one in zip(column, ends, strict=True)] for column in told]
    found = []
    for bound in range(len(places)):
        some, numbers = ([one[bound] for one in column] for column in split)
        who = numpy.repeat(numpy.arange(len(some)), [len(one) for one in some])
        weights = [
            numpy.diff(one, append=end) for one, end in zip(numbers, highs[:, bound], strict=True)
        ]
        joined = _rows.joined(some)
        order = numpy.argsort(joined, kind="stable")
        weight = numpy.concatenate(weights)[order]
        found.append(
            _Samples(
                joined[order],
                who[order],
                numpy.concatenate(numbers)[order],
                numpy.cumsum(weight) - weight,
            )
        )
    return found


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
