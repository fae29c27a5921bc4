"""8- and 16-bit random integers with array bounds, chunk by chunk.

NumPy splits each 32-bit word into 8- or 16-bit draws (rejection sampling) and discards the unused
bits at the end of a call. Here the first numbers of a chunk use the parts that the chunk before
left over. Their number is determined with NumPy: one more number between the widest bounds always
takes a part, and the generator advances only if none was left.
"""

from __future__ import annotations

from typing import Any

import numpy

from dappled.random._narrow_integers import integers_from_parts
from dappled.random._state import GeneratorState


class BoundedIntegers:
    """Integers between array bounds, drawn in chunks."""

    def __init__(self, draw: Any, dtype: Any) -> None:
        self._draw, self._dtype = draw, dtype
        self._bits = 1 if dtype.kind == "b" else 8 * dtype.itemsize
        self._lowest = 0 if dtype.kind == "b" else int(numpy.iinfo(dtype).min)
        self._closed = bool(draw.argument("endpoint", False))
        self._left_over: list[int] = []

    def __call__(self, arrays: dict[str, Any]) -> Any:
        """The next integers, between these bounds."""
        given = {**self._draw.named, **arrays}
        low, high = given["low"], given.get("high")
        bounds = (0, low) if high is None else (low, high)
        lows, highs = (numpy.asarray(one, "i8") for one in numpy.broadcast_arrays(*bounds))
        if not self._left_over:
            return self._draw_from_words(lows, highs)
        self._draw_with_extra(lows, highs, 0, True)  # NumPy may raise
        result = self._from_left_over(lows, highs - lows - (not self._closed))
        first = numpy.array(result, self._dtype)
        if len(result) == len(lows):
            return first
        return numpy.concatenate(
            [first, self._draw_from_words(lows[len(result) :], highs[len(result) :])]
        )

    def _from_left_over(self, lows: Any, spans: Any) -> list[int]:
        """The first integers, from parts that were left over."""
        result: list[int] = []
        while self._left_over and len(result) < len(lows):
            low, span = int(lows[len(result)]), int(spans[len(result)])
            if span == 0:  # nothing is drawn
                result.append(low)
                continue
            part = numpy.array([self._left_over.pop(0)], "u8")
            values, taken = integers_from_parts(
                part, span, self._bits, self._draw.name == "randint"
            )
            result += [low + int(values[0])] * int(taken[0])
        return result

    def _draw_from_words(self, lows: Any, highs: Any) -> Any:
        """Integers from the next word on; the rest of the last word is kept."""
        before = GeneratorState(self._draw.generator)
        output = self._draw_with_extra(lows, highs, 0)
        after = GeneratorState(self._draw.generator)
        for more in self._possible_left_over(highs - lows - (not self._closed)):
            before.restore()
            result = self._draw_with_extra(lows, highs, more)[len(output) :]
            if GeneratorState(self._draw.generator) != after:
                break
            self._left_over = [int(one) - self._lowest for one in result]
        after.restore()
        return output

    def _possible_left_over(self, spans: Any) -> range:
        """The possible counts of parts left over."""
        if self._bits > 1:
            return range(1, 32 // self._bits)
        left = -numpy.count_nonzero(spans) % 32  # no part is rejected
        return range(left, left + bool(left))

    def _draw_with_extra(self, lows: Any, highs: Any, more: int, undone: bool = False) -> Any:
        """NumPy's integers, and `more` between the widest bounds."""
        widest = [self._lowest, self._lowest + (1 << self._bits) - self._closed]
        wide = [numpy.full(more, end) for end in widest]
        bounds = [numpy.concatenate(pair) for pair in zip((lows, highs), wide, strict=True)]
        return self._draw.with_arrays(dict(zip(("low", "high"), bounds, strict=True)), undone)
