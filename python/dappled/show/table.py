"""A panel as a block of rectangles: a box for each cell, with the names of the rows and columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from dappled.show.palette import GREY, color, ink, paler
from dappled.show.panel import Cell, Line, Panel
from dappled.show.piece import Segment
from dappled.show.shapes import Block, Rect, Role, Text, above, beside, moved, text_width

SIDE = 26.0  # of the box of one element, at least
REST = 26.0  # of the strip that stands for what is left out
LEAST = 7.0  # of the side of a region
SMALL = 11.0  # size of text in cells and beside them
SHARES = 4  # owners of one cell that get a stripe
SOFT = 0.2  # white mixed into every colour, so that text reads well on it
EVERY = (190, 200, 214)  # the colour of what every rank holds


def element_table(panel: Panel) -> Block:
    """Every cell the same size, wide enough for its text."""
    texts = [cell.text for row in panel.cells for cell in row]
    width = max([SIDE, *(text_width(text, SMALL) + 10 for text in texts)])
    widths = [width] * len(panel.columns.segments)
    heights = [SIDE] * len(panel.rows.segments)
    return _boxes(panel, widths, heights)


def region_table(panel: Panel, width: float, height: float) -> Block:
    """Cells to scale in each direction, with the ranges above and to the left."""
    widths, heights = _to_scale(panel.columns, width), _to_scale(panel.rows, height)
    boxes = _boxes(panel, widths, heights)
    top = _names(panel.columns, widths)
    side = max(text_width(segment.text, SMALL) for segment in panel.rows.segments) + 8
    names = [
        Text(side - 6, middle, segment.text, SMALL, "end")
        for segment, middle, room in _placed(panel.rows, heights)
        if room >= SMALL and segment.text
    ]
    left = Block(side if names else 0, boxes.height, tuple(names))
    return above([moved(top, left.width, 0), beside([left, boxes], 0)])


def _to_scale(line: Line, room: float) -> list[float]:
    total = sum(segment.length for segment in line.segments)
    # A padding of one among millions must still be seen.
    return [max(LEAST, segment.length / total * room) for segment in line.segments]


def _placed(line: Line, sizes: Sequence[float]) -> Iterator[tuple[Segment, float, float]]:
    """Each segment with the middle and the size of its row or column."""
    middles = (end - size / 2 for end, size in zip(accumulate(sizes), sizes, strict=True))
    return zip(line.segments, middles, sizes, strict=True)


def _names(line: Line, widths: Sequence[float]) -> Block:
    """The ranges over the columns; where not all have room, starts where they begin."""
    placed = list(_placed(line, widths))
    if all(text_width(segment.text, SMALL) <= room for segment, _, room in placed):
        names = [Text(x, SMALL * 0.6, segment.text, SMALL, "middle") for segment, x, _ in placed]
    else:
        names = list(_starts(placed))
    # The last start may reach beyond its column.
    width = max([sum(widths), *(name.x + text_width(name.text, SMALL) for name in names[-1:])])
    return Block(width, SMALL * 1.6, tuple(names))


def _starts(placed: Sequence[tuple[Segment, float, float]]) -> Iterator[Text]:
    free = 0.0
    for segment, middle, room in placed:
        x = middle - room / 2
        if x >= free:
            yield Text(x, SMALL * 0.6, str(segment.first), SMALL)
            free = x + text_width(str(segment.first), SMALL) + 4


def _boxes(panel: Panel, widths: Sequence[float], heights: Sequence[float]) -> Block:
    items: list[Rect | Text] = []
    y = 0.0
    for cells, row, height in zip(panel.cells, panel.rows.segments, heights, strict=True):
        x = 0.0
        for cell, column, width in zip(cells, panel.columns.segments, widths, strict=True):
            items += _box(cell, (x, y, width, height), _hint(cell, row, column))
            x += width
        y += height
    block = Block(sum(widths), sum(heights), tuple(items))
    if panel.columns.more:
        block = beside([block, _rest(REST, block.height)], 0)
    return above([block, _rest(block.width, REST)]) if panel.rows.more else block


def _box(cell: Cell, at: tuple[float, float, float, float], hint: str) -> list[Rect | Text]:
    x, y, width, height = at
    ranks = cell.ranks[:SHARES] or (None,)
    stripe = width / len(ranks)
    items: list[Rect | Text] = [
        Rect(x + stripe * k, y, stripe, height, _fill(cell, rank), _role(cell), rank, hint)
        for k, rank in enumerate(ranks)
    ]
    if text := _fitting(cell.text, width - 2, height):
        shade = ink(_fill(cell, ranks[0]))
        items.append(Text(x + width / 2, y + height / 2, text, SMALL, "middle", shade))
    return items


def _fitting(text: str, width: float, height: float) -> str:
    """The text, or only the rank's number, or nothing, as there is room."""
    choices = (text, text.removeprefix("rank ")) if height >= SMALL else ()
    return next((choice for choice in choices if text_width(choice, SMALL) <= width), "")


def _hint(cell: Cell, row: Segment, column: Segment) -> str:
    """Who has which indices; of an element its own text says enough."""
    if row.length == column.length == 1:
        return ""
    who = "rank " + ", ".join(map(str, cell.ranks)) if cell.ranks else "every rank"
    return f"{who}: " + ", ".join(filter(None, (row.text, column.text)))


def _role(cell: Cell) -> Role:
    if cell.kind != "owned":
        return cell.kind
    return "share" if len(cell.ranks) > 1 else "cell"


def _fill(cell: Cell, rank: int | None) -> tuple[int, int, int]:
    base = EVERY if rank is None else color(rank)
    return paler(base, 0.7 if cell.kind == "communication" else SOFT)


def _rest(width: float, height: float) -> Block:
    """The strip that stands for what is left out."""
    box = Rect(0, 0, width, height, GREY, "rest")
    return Block(width, height, (box, Text(width / 2, height / 2, "...", anchor="middle")))
