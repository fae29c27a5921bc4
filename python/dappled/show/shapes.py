"""Rectangles and texts, in pixels from the top left corner, and blocks of them to put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from dappled.show.palette import INK, Color

Role = Literal["cell", "share", "communication", "boundary", "rest", "empty", "swatch"]
Anchor = Literal["start", "middle", "end"]

BODY = 12.0  # the usual size of text
ADVANCE = 0.6  # the width of a letter as a share of its size, estimated: fonts differ


@dataclass(frozen=True, slots=True)
class Rect:
    """A filled box. `role` says what it stands for; `hint` is shown where the pointer rests."""

    x: float
    y: float
    width: float
    height: float
    fill: Color
    role: Role
    rank: int | None = None
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """A line of text, vertically centred on y."""

    x: float
    y: float
    text: str
    size: float = BODY
    anchor: Anchor = "start"
    ink: Color = INK
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """Some items and the room that they take, from (0, 0)."""

    width: float
    height: float
    items: tuple[Rect | Text, ...] = ()


def text_width(text: str, size: float = BODY) -> float:
    """The room that a text takes."""
    return len(text) * size * ADVANCE


def text_block(text: str, size: float = BODY, *, bold: bool = False) -> Block:
    """A line of text as a block."""
    line = Text(0, size * 0.75, text, size, bold=bold)
    return Block(text_width(text, size), size * 1.5, (line,))


def moved(block: Block, x: float, y: float) -> Block:
    """The block with room to its left and above it."""
    items = tuple(replace(item, x=item.x + x, y=item.y + y) for item in block.items)
    return Block(block.width + x, block.height + y, items)


def above(blocks: Sequence[Block], gap: float = 0.0) -> Block:
    """Blocks one under the other."""
    placed: list[Block] = []
    for block in blocks:
        placed.append(moved(block, 0, placed[-1].height + gap if placed else 0))
    return _together(placed)


def beside(blocks: Sequence[Block], gap: float) -> Block:
    """Blocks one after the other, tops aligned."""
    placed: list[Block] = []
    for block in blocks:
        placed.append(moved(block, placed[-1].width + gap if placed else 0, 0))
    return _together(placed)


def columns(blocks: Sequence[Block], count: int, gap: float) -> Block:
    """Blocks in rows of `count`, aligned in columns."""
    widths = [max(block.width for block in blocks[at::count]) for at in range(count) if blocks[at:]]
    wide = [replace(block, width=widths[number % count]) for number, block in enumerate(blocks)]
    rows = [beside(wide[at : at + count], gap) for at in range(0, len(wide), count)]
    return above(rows, gap)


def columns_within(blocks: Sequence[Block], width: float, gap: float) -> int:
    """How many of the widest block fit side by side."""
    widest = max((block.width for block in blocks), default=0)
    return max(1, int((width + gap) // (widest + gap)))


def _together(placed: Sequence[Block]) -> Block:
    return Block(
        max((block.width for block in placed), default=0),
        max((block.height for block in placed), default=0),
        tuple(item for block in placed for item in block.items),
    )
