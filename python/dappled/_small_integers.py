"""Random integers of 1 or 2 bytes, chunk by chunk, as NumPy makes them.

NumPy takes several from each word of 32 bits, and lets go of the rest of the last word when a call
ends; so a call can't be made of several. Here words are drawn, and taken apart as NumPy does it:
which parts are taken and which are refused follows from the part alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy


def narrow(draw: Any, count: int, dtype: Any, chunk: int) -> Iterator[tuple[int, Any]]:
    """So many integers in order: the place of the first, and those of a chunk."""
    low, last = _bounds(draw)
    if not numpy.iinfo(dtype).min <= low <= last <= numpy.iinfo(dtype).max:
        draw(1)  # which NumPy refuses
    table, taken = _table(last - low, dtype.itemsize, draw.name == "randint")
    if last == low:  # nothing is drawn
        for at in range(0, count, chunk):
            yield at, numpy.full(min(chunk, count - at), low, dtype)
        return
    per_word = 4 // dtype.itemsize
    at = 0
    while at < count:
        words = -(-min(chunk, count - at) // per_word)
        parts = _words(draw, words).astype("<u4").view(f"<u{dtype.itemsize}")
        values = table[parts[taken[parts]]][: count - at]
        yield at, (values.astype("i8") + low).astype(dtype)
        at += len(values)


def _bounds(draw: Any) -> tuple[int, int]:
    """The least and the largest integer."""
    low, high = draw.argument("low"), draw.argument("high")
    low, high = (0, low) if high is None else (low, high)
    return int(low), int(high) - (not draw.argument("endpoint", False))


def _words(draw: Any, count: int) -> Any:
    generator = draw.generator
    method = generator.randint if hasattr(generator, "randint") else generator.integers
    return method(0, 2**32, size=count, dtype=numpy.uint32)


def _table(span: int, itemsize: int, masked: bool) -> tuple[Any, Any]:
    """What each part of a word gives above the least integer, and whether it is taken."""
    return made_of(numpy.arange(1 << 8 * itemsize, dtype="u8"), span, 8 * itemsize, masked)


def made_of(parts: Any, span: int, bits: int, masked: bool) -> tuple[Any, Any]:
    """The same of some parts, of so many bits each."""
    if span == (1 << bits) - 1:
        return parts, numpy.ones(len(parts), bool)
    if masked:  # the legacy way: the bits that matter, if they are not too many
        values = parts & ((1 << span.bit_length()) - 1)
        return values, values <= span
    # Lemire, 2019: the upper half of a product; what falls too low in the lower half is refused.
    product = parts * (span + 1)
    refused = ((1 << bits) - 1 - span) % (span + 1)
    return product >> bits, (product & ((1 << bits) - 1)) >= refused
