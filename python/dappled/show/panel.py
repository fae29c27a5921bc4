"""Tables of cells, the form in which global and local arrays are handed to what draws them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product

from dappled.show.piece import Kind, Segment

CELLS = 32  # indices along an axis that are shown one by one
SLABS = 8  # panels of one array of more than two dimensions


@dataclass(frozen=True, slots=True)
class Cell:
    """An element or a region: who owns it (nobody named: every rank) and what is written in it."""

    ranks: tuple[int, ...]
    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """The segments of one axis, and whether more of them are left out."""

    segments: Sequence[Segment]
    more: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """A two-dimensional table of cells; the title tells slabs of one array apart."""

    title: str
    rows: Line
    columns: Line
    cells: list[list[Cell]]


SINGLE = Line([Segment("", 1, None)])  # the missing axes of an array of less than two dimensions
MakeCell = Callable[[list[Segment]], Cell]


def panels(lines: Sequence[Line], make: MakeCell) -> tuple[list[Panel], bool]:
    """The product of the lines as panels over the last two axes; and whether slabs are left out."""
    *leading, rows, columns = [SINGLE] * max(0, 2 - len(lines)) + list(lines)
    slabs = product(*(line.segments for line in leading))
    found = [_panel(slab, rows, columns, make) for slab in islice(slabs, SLABS)]
    left_out = any(line.more for line in leading) or next(slabs, None) is not None
    return found, left_out


def _panel(slab: Iterable[Segment], rows: Line, columns: Line, make: MakeCell) -> Panel:
    title = "".join(f"{segment.text}, " for segment in slab)
    cells = [[make([*slab, row, column]) for column in columns.segments] for row in rows.segments]
    return Panel(title and f"[{title}:, :]", rows, columns, cells)


def all_cells(drawn: Iterable[Panel]) -> Iterator[Cell]:
    """Every cell of some panels."""
    return (cell for panel in drawn for row in panel.cells for cell in row)


def joined(segments: Iterable[Segment]) -> str:
    """The indices of a cell as its text: those of the panel's own axes."""
    return ",".join(segment.text for segment in list(segments)[-2:] if segment.text) or "()"
