"""Random integers of 1 or 2 bytes, and truths, that have bounds of their own each, chunk by chunk.

NumPy takes several from each word of 32 bits, as many parts as bounds refuse some, and lets go of
the rest of the last word when a call ends. Here the first of a chunk are made of the parts that the
chunk before left over. Which these are is asked of NumPy: one more number between the widest bounds
takes a part whatever it is, and the generator has only gone on if there was none left.
"""

from __future__ import annotations

from typing import Any

import numpy

from dappled._small_integers import made_of
from dappled._states import State


class Bounded:
    """Numbers to be drawn between bounds, some at a time."""

    def __init__(self, draw: Any, dtype: Any) -> None:
        self._draw, self._dtype = draw, dtype
        self._bits = 1 if dtype.kind == "b" else 8 * dtype.itemsize
        self._lowest = 0 if dtype.kind == "b" else int(numpy.iinfo(dtype).min)
        self._closed = bool(draw.argument("endpoint", False))
        self._left: list[int] = []

    def __call__(self, arrays: dict[str, Any]) -> Any:
        """The next numbers, between these bounds."""
        given = {**self._draw.named, **arrays}
        low, high = given["low"], given.get("high")
        bounds = (0, low) if high is None else (low, high)
        lows, highs = (numpy.asarray(one, "i8") for one in numpy.broadcast_arrays(*bounds))
        if not self._left:
            return self._drawn(lows, highs)
        self._asked(lows, highs, 0, True)  # which NumPy may refuse
        made = self._of_left(lows, highs - lows - (not self._closed))
        first = numpy.array(made, self._dtype)
        if len(made) == len(lows):
            return first
        return numpy.concatenate([first, self._drawn(lows[len(made) :], highs[len(made) :])])

    def _of_left(self, lows: Any, spans: Any) -> list[int]:
        """The first numbers, made of parts that were left."""
        made: list[int] = []
        while self._left and len(made) < len(lows):
            low, span = int(lows[len(made)]), int(spans[len(made)])
            if span == 0:  # for which nothing is drawn
                made.append(low)
                continue
            part = numpy.array([self._left.pop(0)], "u8")
            values, taken = made_of(part, span, self._bits, self._draw.name == "randint")
            made += [low + int(values[0])] * int(taken[0])
        return made

    def _drawn(self, lows: Any, highs: Any) -> Any:
        """Numbers from the next word on; what is left of the last one is kept."""
        before = State(self._draw.generator)
        made = self._asked(lows, highs, 0)
        after = State(self._draw.generator)
        for more in self._possible(highs - lows - (not self._closed)):
            before.bring_back()
            found = self._asked(lows, highs, more)[len(made) :]
            if State(self._draw.generator) != after:
                break
            self._left = [int(one) - self._lowest for one in found]
        after.bring_back()
        return made

    def _possible(self, spans: Any) -> range:
        """How many parts may be left, of which the last that are so are."""
        if self._bits > 1:
            return range(1, 32 // self._bits)
        left = -numpy.count_nonzero(spans) % 32  # no part is refused
        return range(left, left + bool(left))

    def _asked(self, lows: Any, highs: Any, more: int, undone: bool = False) -> Any:
        """What NumPy draws, and as many more between the widest bounds."""
        widest = [self._lowest, self._lowest + (1 << self._bits) - self._closed]
        wide = [numpy.full(more, end) for end in widest]
        bounds = [numpy.concatenate(pair) for pair in zip((lows, highs), wide, strict=True)]
        return self._draw.with_arrays(dict(zip(("low", "high"), bounds, strict=True)), undone)
