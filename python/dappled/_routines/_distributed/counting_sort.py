"""Counting sort for integers with a small value range."""

from __future__ import annotations

from typing import Any

import numpy

from dappled._ndarray.core import core

# Minimum mean number of elements per value for the counting sort to pay.
_MIN_MEAN_COUNT = 8

# Size of the sample that rejects wide ranges early.
_SAMPLE_SIZE = 1000


def counting_sort(values: Any, out: Any) -> bool:
    """Sorts values into `out`; False, without a write, if their range is too large."""
    if not len(values) or values.dtype.kind not in "iub" or not values.dtype.isnative:
        return False
    some = values[:: max(1, len(values) // _SAMPLE_SIZE)]
    if not _is_small_range(int(some.min()), int(some.max()), values):
        return False
    # 64-bit values are reinterpreted: an unsigned value above the signed range is negative.
    wide = values.dtype.itemsize == 8
    integers = values.view(numpy.int64) if wide else values.astype(numpy.int64)
    low, high = core.extent(integers)
    if not _is_small_range(low, high, values) or (low < 0 and values.dtype.kind == "u"):
        return False
    counts = core.count_numbers(integers, low, high - low + 1)
    core.spread_numbers(counts, low, out.view(f"u{values.dtype.itemsize}"))
    return True


def _is_small_range(low: int, high: int, values: Any) -> bool:
    return (high - low) * _MIN_MEAN_COUNT < len(values)
