"""Workarounds for errors of NumPy.

NumPy 2.4 crashes when a comparison with `where=` has an integer that the array's dtype cannot
represent: `numpy.equal(numpy.zeros(1, "B"), -1, out=…, where=[True])`. The integer gets a dtype
that can.
"""

from __future__ import annotations

from typing import Any

import numpy

_COMPARING = {
    *(numpy.equal, numpy.not_equal, numpy.less),
    *(numpy.less_equal, numpy.greater, numpy.greater_equal),
}


def with_representable_integers(function: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of a comparison that is called with `where=`."""
    if function not in _COMPARING or not any(type(value) is int for value in args[:2]):
        return args
    dtypes = [value.dtype for value in args[:2] if hasattr(value, "dtype")]
    return tuple(_representable(value, dtypes) for value in args[:2]) + args[2:]


def _representable(value: Any, dtypes: list[Any]) -> Any:
    if type(value) is not int or not -(2**63) <= value < 2**64:
        return value
    ranges = [numpy.iinfo(dtype) for dtype in dtypes if dtype.kind in "iu"]
    fits = all(limits.min <= value <= limits.max for limits in ranges)
    return value if fits else numpy.asarray(value)[()]
