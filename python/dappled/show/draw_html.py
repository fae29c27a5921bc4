"""A distribution for the notebook: its pictures and a small table of ranks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from dappled.show.words import RankRow, more_ranks, rank_rows

if TYPE_CHECKING:
    from dappled.protocol import Distribution

RANKS = 16  # rows of the table

_HEAD = "<tr><th>rank</th><th>coordinates</th><th>local shape</th><th>indices</th></tr>"


def draw(distribution: Distribution, svg: str) -> str:
    """The pictures, given as SVG, with a table of the first ranks."""
    rows = "\n".join(_row(row) for row in rank_rows(distribution, RANKS))
    more = escape(more_ranks(distribution, RANKS))
    foot = f'\n<tr><td colspan="4">{more}</td></tr>' if more else ""
    table = f"<table>\n{_HEAD}\n{rows}{foot}\n</table>"
    return f'<div class="dappled" style="overflow-x: auto">\n{svg}{table}\n</div>\n'


def _row(row: RankRow) -> str:
    fields = (row.rank, row.coords, row.shape, row.owns)
    return "<tr>" + "".join(f"<td>{escape(field)}</td>" for field in fields) + "</tr>"
