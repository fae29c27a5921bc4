"""From a picture to a scene: the global array above, the local arrays below, notes at the foot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dappled.show.local_arrays import LocalArray
from dappled.show.palette import WHITE, color, paler
from dappled.show.panel import Panel
from dappled.show.picture import Picture
from dappled.show.shapes import (
    Block,
    Rect,
    Text,
    above,
    beside,
    columns,
    columns_within,
    moved,
    text_block,
)
from dappled.show.table import SOFT, element_table, region_table

WIDTH = 920.0  # local arrays go on in a new row beyond it
GRID_WIDTH = 1200.0  # but a row of the grid is kept together up to here
GAP = 20.0
NEAR = 8.0  # between the slabs of one local array
MARGIN = 18.0
GLOBAL = (640.0, 360.0)  # the room of the global array drawn as regions
LOCAL = (150.0, 96.0)  # the same for the largest local array
FLAT = 44.0  # the height of one-dimensional regions
LEAST = 70.0  # the width of the smallest


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything to be drawn, in order."""

    title: str
    width: float
    height: float
    items: tuple[Rect | Text, ...]


def scene(picture: Picture) -> Scene:
    """The picture laid out."""
    parts = [
        text_block(picture.title, 15.0, bold=True),
        above([text_block("global array, coloured by owner"), _global(picture)], 4),
        above([text_block("local arrays, with global indices"), _apart(picture)], 4),
    ]
    if picture.notes:
        parts.append(above([text_block(note, 11.0) for note in picture.notes]))
    page = moved(above(parts, GAP), MARGIN, MARGIN)
    return Scene(picture.title, page.width + MARGIN, page.height + MARGIN, page.items)


def _global(picture: Picture) -> Block:
    blocks = [_titled(panel, _table(picture, panel, *GLOBAL)) for panel in picture.panels]
    return _flow(blocks or [_empty()])


def _apart(picture: Picture) -> Block:
    arrays = picture.local_arrays
    most = [max((_extent(array, way) for array in arrays), default=1) for way in (0, 1)]
    blocks = [_local(picture, array, most) for array in arrays]
    return _flow(blocks, picture.grid_columns)


def _local(picture: Picture, array: LocalArray, most: Sequence[int]) -> Block:
    share = [_extent(array, way) / (most[way] or 1) for way in (0, 1)]
    width, height = max(LEAST, LOCAL[0] * share[1]), max(FLAT, LOCAL[1] * share[0])
    tables = [_titled(panel, _table(picture, panel, width, height)) for panel in array.panels]
    return above([_name(array), _flow(tables or [_empty()], gap=NEAR)], 4)


def _name(array: LocalArray) -> Block:
    title = text_block(array.title)
    if array.rank is None:
        return title
    swatch = Rect(0, 4, 10, 10, paler(color(array.rank), SOFT), "swatch")
    return beside([Block(10, 10, (swatch,)), title], 5)


def _extent(array: LocalArray, way: int) -> int:
    """How many rows (0) or columns (1) of elements the local array has."""
    lines = [panel.columns if way else panel.rows for panel in array.panels[:1]]
    return sum(segment.length for line in lines for segment in line.segments)


def _table(picture: Picture, panel: Panel, width: float, height: float) -> Block:
    if picture.cells:
        return element_table(panel)
    flat = not panel.rows.segments[0].text
    return region_table(panel, width, FLAT if flat else height)


def _titled(panel: Panel, table: Block) -> Block:
    return above([text_block(panel.title, 11.0), table], 2) if panel.title else table


def _empty() -> Block:
    box = Rect(0, 0, 52, 26, WHITE, "empty")
    return Block(52, 26, (box, Text(26, 13, "empty", 11.0, "middle")))


def _flow(blocks: Sequence[Block], wanted: int = 0, gap: float = GAP) -> Block:
    """Blocks in rows of the wanted length, if that fits."""
    if 0 < wanted <= columns_within(blocks, GRID_WIDTH, gap):
        return columns(blocks, wanted, gap)
    return columns(blocks, columns_within(blocks, WIDTH, gap), gap)
