"""Integers that are near one another: sorted by how often each of them occurs."""

from __future__ import annotations

from typing import Any

import numpy

from dappled._array import core

# So many of them there must be for each number that they may be.
_TIMES = 8

# Of so many it is seen that they are not near.
_SAMPLES = 1000


def sort_near(values: Any, out: Any) -> bool:
    """Writes them in order; False, and nothing is written, if they are not near one another."""
    if not len(values) or values.dtype.kind not in "iub" or not values.dtype.isnative:
        return False
    some = values[:: max(1, len(values) // _SAMPLES)]
    if not _are_near(int(some.min()), int(some.max()), values):
        return False
    # Of eight bytes the same bits: what is too large for a signed number is below zero there.
    wide = values.dtype.itemsize == 8
    numbers = values.view(numpy.int64) if wide else values.astype(numpy.int64)
    low, high = core.extent(numbers)
    if not _are_near(low, high, values) or (low < 0 and values.dtype.kind == "u"):
        return False
    counts = core.count_numbers(numbers, low, high - low + 1)
    core.spread_numbers(counts, low, out.view(f"u{values.dtype.itemsize}"))
    return True


def _are_near(low: int, high: int, values: Any) -> bool:
    return (high - low) * _TIMES < len(values)
