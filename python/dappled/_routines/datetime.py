"""Business days of distributed dates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from dappled._dispatch.implements import implements
from dappled._ndarray.core import core
from dappled._ranks.map_blocks import is_distributed, map_blocks_with_common_dtype


def _datetime_function(name: str, count: int, options: int, kind: str) -> Callable[..., Any]:
    """A function of `count` date arrays, whose options are the same for all elements."""
    theirs = getattr(numpy, name)

    @implements(theirs)
    def ours(*args: Any, **kwargs: Any) -> Any:
        dates, rest = args[:count], args[count:]
        same = (*rest, *kwargs.values())
        if (
            core.ranks() == 1
            or not any(map(is_distributed, dates))
            or any(map(is_distributed, same))
        ):
            return NotImplemented
        if len(dates) < count or len(rest) > options or "out" in kwargs:
            return NotImplemented
        return map_blocks_with_common_dtype(
            lambda *parts: theirs(*parts, *rest, **kwargs), dates, {}, numpy.empty(1, kind)
        )

    return ours


is_busday = _datetime_function("is_busday", 1, 3, "?")
busday_count = _datetime_function("busday_count", 2, 3, "i8")
busday_offset = _datetime_function("busday_offset", 2, 4, "M8[D]")
