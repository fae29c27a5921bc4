"""Numbers of places that lie outside of an axis, as `mode=` has them: round it, or at its ends."""

from __future__ import annotations

from typing import Any

import numpy

from dappled._array import ndarray
from dappled._creation import asarray

MODES = ("raise", "wrap", "clip")


def numbers_of(indices: Any, casting: Any = "same_kind") -> Any:
    """An array of whole numbers that can be indices; None of what is none, or wrong."""
    numbers = indices if isinstance(indices, ndarray) else numpy.asarray(indices)
    fits = numbers.dtype.kind in "iu" and numpy.can_cast(numbers.dtype, numpy.intp, casting)
    return numbers if fits else None


def inside(numbers: Any, length: int, mode: Any) -> Any:
    """Whole numbers as places on an axis: first as NumPy's indices are, since their own dtype may
    not have the length.
    """
    if mode == "wrap":
        return asarray(numbers).astype(numpy.intp, copy=False) % length
    if mode == "clip":
        return asarray(numbers).astype(numpy.intp, copy=False).clip(0, length - 1)
    return numbers


def wound(indices: Any, length: int, casting: Any = "same_kind") -> Any:
    """Numbers brought round an axis, which takes NumPy one step for each length: years, at worst.
    None where there is nothing to bring, or NumPy has words for it.
    """
    numbers = numbers_of(indices, casting)
    return None if numbers is None or not length else inside(numbers, length, "wrap")
