"""The global array as text: a table with the owner's rank in each cell, coloured on request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dappled.show import palette
from dappled.show.global_array import global_array
from dappled.show.panel import Cell, Panel
from dappled.show.piece import everywhere
from dappled.show.words import RankRow, heading, more_ranks, rank_rows

if TYPE_CHECKING:
    from dappled.protocol import Distribution

RANKS = 16  # lines about single ranks
BANDS = 3  # tables under each other for one panel that is wider than the terminal
_RESET = "\x1b[0m"


def text(distribution: Distribution, *, color: bool = False, width: int = 110) -> str:
    """The global array and a line for each rank, as text of about `width` columns.

    With `color`, it has the escape sequences of a terminal of 256 colours.
    """
    panels, notes = global_array(distribution)
    parts = [heading(distribution)]
    parts += [_Table(panel, color).text(width) for panel in panels if distribution.shape]
    parts += ["\n".join(f"({note})" for note in notes)] if notes else []
    parts.append("\n".join(_rank_lines(distribution, color)))
    return "\n\n".join(parts) + "\n"


@dataclass(frozen=True, slots=True)
class _Table:
    panel: Panel
    color: bool

    def text(self, width: int) -> str:
        """The table, in bands of columns where it is wider."""
        names = [segment.text for segment in self.panel.columns.segments]
        wide = max(map(len, [*names, *(_mark(cell) for row in self.panel.cells for cell in row)]))
        side = max(map(len, self._side()))
        count = max(1, (width - side - 3) // (wide + 1))
        starts = range(0, len(names), count)[:BANDS]
        bands = [self._band(slice(at, at + count), side, wide) for at in starts]
        return "\n\n".join("\n".join([*self._title(), *band]) for band in bands)

    def _side(self) -> list[str]:
        """Corner, names of the rows, and what follows the last of them."""
        flat = not self.panel.rows.segments[0].text
        names = [segment.text for segment in self.panel.rows.segments]
        return ["index", "rank"] if flat else ["", *names, *["..."] * self.panel.rows.more]

    def _title(self) -> list[str]:
        return [self.panel.title] if self.panel.title else []

    def _band(self, part: slice, side: int, wide: int) -> Iterator[str]:
        columns = self.panel.columns
        rest = " ..." if columns.more or part.stop < len(columns.segments) else ""
        corner, *names = (name.rjust(side) for name in self._side())
        head = [segment.text.rjust(wide + 1) for segment in columns.segments[part]]
        yield f" {corner} |{''.join(head)}{rest}"
        yield "-" * (side + 2) + "+" + "-" * (len(head) * (wide + 1) + len(rest))
        for name, row in zip(names, [*self.panel.cells, []], strict=False):
            cells = "".join(_painted(cell, wide + 1, self.color) for cell in row[part])
            yield f" {name} |{cells}{rest if row else ''}".rstrip()


def _mark(cell: Cell) -> str:
    """The owner's rank; `*` for every rank, and `+` where others hold it as well."""
    if not cell.ranks:
        return "*"
    return f"{cell.ranks[0]}{'+' if len(cell.ranks) > 1 else ''}"


def _painted(cell: Cell, width: int, color: bool) -> str:
    return _paint(_mark(cell).rjust(width), cell.ranks, color)


def _paint(mark: str, ranks: Sequence[int], color: bool) -> str:
    if not color or not ranks:
        return mark
    background = palette.color(ranks[0])
    ink = palette.ansi256(palette.ink(background))
    return f"\x1b[38;5;{ink};48;5;{palette.ansi256(background)}m{mark}{_RESET}"


def _rank_lines(distribution: Distribution, color: bool) -> list[str]:
    rows = rank_rows(distribution, RANKS)
    table = [_fields(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = []
    for rank, fields in enumerate(table):
        name, *rest = (field.ljust(wide) for field, wide in zip(fields, widths, strict=True))
        painted = _paint(name, () if everywhere(distribution) else (rank,), color)
        lines.append("  ".join([painted, *filter(None, rest)]).rstrip())
    more = more_ranks(distribution, RANKS)
    return [*lines, more] if more else lines


def _fields(row: RankRow) -> tuple[str, ...]:
    return f"rank {row.rank}", row.coords, row.shape, row.owns
