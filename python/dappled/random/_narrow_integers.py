"""8- and 16-bit random integers, chunk by chunk.

NumPy takes several from each 32-bit word, and discards the rest of the last word at the end of a
call, so a call is not the concatenation of several. Here words are drawn and split as NumPy does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy


def narrow_integers(draw: Any, count: int, dtype: Any, chunk: int) -> Iterator[tuple[int, Any]]:
    """Integers in order, in chunks: the index of the first, and the values."""
    low, last = _draw_bounds(draw)
    if not numpy.iinfo(dtype).min <= low <= last <= numpy.iinfo(dtype).max:
        draw(1)  # NumPy's error
    table, taken = _integer_table(last - low, dtype.itemsize, draw.name == "randint")
    if last == low:  # nothing is drawn
        for at in range(0, count, chunk):
            yield at, numpy.full(min(chunk, count - at), low, dtype)
        return
    per_word = 4 // dtype.itemsize
    at = 0
    while at < count:
        words = -(-min(chunk, count - at) // per_word)
        parts = _draw_words(draw, words).astype("<u4").view(f"<u{dtype.itemsize}")
        values = table[parts[taken[parts]]][: count - at]
        yield at, (values.astype("i8") + low).astype(dtype)
        at += len(values)


def _draw_bounds(draw: Any) -> tuple[int, int]:
    """The smallest and the largest integer."""
    low, high = draw.argument("low"), draw.argument("high")
    low, high = (0, low) if high is None else (low, high)
    return int(low), int(high) - (not draw.argument("endpoint", False))


def _draw_words(draw: Any, count: int) -> Any:
    generator = draw.generator
    method = generator.randint if hasattr(generator, "randint") else generator.integers
    return method(0, 2**32, size=count, dtype=numpy.uint32)


def _integer_table(span: int, itemsize: int, masked: bool) -> tuple[Any, Any]:
    """The integer for each part of a word, and whether the part is accepted."""
    return integers_from_parts(
        numpy.arange(1 << 8 * itemsize, dtype="u8"), span, 8 * itemsize, masked
    )


def integers_from_parts(parts: Any, span: int, bits: int, masked: bool) -> tuple[Any, Any]:
    """The integers for parts of words, and whether each part is accepted."""
    if span == (1 << bits) - 1:
        return parts, numpy.ones(len(parts), bool)
    if masked:  # legacy: masked rejection sampling
        values = parts & ((1 << span.bit_length()) - 1)
        return values, values <= span
    # Lemire (2019): the upper half of a product; small lower halves are rejected.
    product = parts * (span + 1)
    refused = ((1 << bits) - 1 - span) % (span + 1)
    return product >> bits, (product & ((1 << bits) - 1)) >= refused
