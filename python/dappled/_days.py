"""Days of work, of dates in pieces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from dappled._array import core
from dappled._native import native
from dappled._piecewise import in_pieces, measured


def _of_dates(name: str, count: int, options: int, kind: str) -> Callable[..., Any]:
    """A function of so many arrays of dates, and options that are the same for all of them."""
    theirs = getattr(numpy, name)

    @native(theirs)
    def ours(*args: Any, **kwargs: Any) -> Any:
        dates, rest = args[:count], args[count:]
        same = (*rest, *kwargs.values())
        if core.ranks() == 1 or not any(map(in_pieces, dates)) or any(map(in_pieces, same)):
            return NotImplemented
        if len(dates) < count or len(rest) > options or "out" in kwargs:
            return NotImplemented
        return measured(
            lambda *parts: theirs(*parts, *rest, **kwargs), dates, {}, numpy.empty(1, kind)
        )

    return ours


is_busday = _of_dates("is_busday", 1, 3, "?")
busday_count = _of_dates("busday_count", 2, 3, "i8")
busday_offset = _of_dates("busday_offset", 2, 4, "M8[D]")
