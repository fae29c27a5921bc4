"""How ranks share sorted values, so that each has about as many, and all of its are in order.

Ranks have their own values sorted, and tell some of them. Between the samples it is decided where
values are cut. Of equal values, those of an earlier rank come first, also where they are cut: so
the order is stable, and no rank gets more than its share of values that are many times the same.
"""

from __future__ import annotations

from typing import Any

import numpy

from dappled import _rows
from dappled._array import core

# Values of a rank among the samples, for each rank: shares differ by one part in so many.
_SAMPLES = 32
# The same where values are not sorted, and say less of those beside them.
_SEVERAL = 1024


def cuts(values: Any) -> Any:
    """Where this rank's sorted values are cut, so that each rank gets about as many. Collective."""
    ranks, own = core.ranks(), core.rank()
    count = min(len(values), _SAMPLES * ranks)
    places = numpy.linspace(0, len(values) - 1, count).astype(int) if count else numpy.zeros(0, int)
    every = (
        everywhere(values[places]),
        everywhere(places),
        everywhere(numpy.array([len(values)])),
    )
    samples, numbers, sizes = every
    who = numpy.repeat(numpy.arange(ranks), [len(one) for one in samples])
    order = numpy.argsort(numpy.concatenate(samples), kind="stable")
    if not len(order):
        return numpy.zeros(ranks - 1, int)
    # Of how many values each sample is the first.
    weights = numpy.concatenate([_weights(*one) for one in zip(numbers, sizes, strict=True)])
    before = numpy.cumsum(weights[order])
    total = sum(int(size[0]) for size in sizes)
    wanted = numpy.arange(1, ranks) * total / ranks
    chosen = order[numpy.minimum(numpy.searchsorted(before, wanted), len(order) - 1)]
    all_values, all_numbers = numpy.concatenate(samples), numpy.concatenate(numbers)
    left = numpy.searchsorted(values, all_values[chosen], side="left")
    right = numpy.searchsorted(values, all_values[chosen], side="right")
    mine = numpy.where(own < who[chosen], right, left)
    found = numpy.where(own == who[chosen], all_numbers[chosen], mine)
    return numpy.maximum.accumulate(found)


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


def _weights(places: Any, size: Any) -> Any:
    return numpy.diff(places, append=size)


def everywhere(values: Any) -> list[Any]:
    """Values of every rank. Collective."""
    raw = core.gather("samples", numpy.ascontiguousarray(values).tobytes())
    return [numpy.frombuffer(one, values.dtype) for one in raw]


def exchanged(column: Any, places: Any) -> list[Any]:
    """Sorted values cut there, those that are for this rank: of each rank, sorted. Collective."""
    return _rows.sent("sorted values", numpy.split(column, places))
