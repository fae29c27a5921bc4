"""The picture of the local arrays: each rank's piece apart, its padding marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dappled.show.global_array import by_element, in_cells
from dappled.show.panel import CELLS, SLABS, Cell, Line, Panel, all_cells, joined, panels
from dappled.show.piece import LocalPiece, Segment, everywhere
from dappled.show.words import more_ranks

if TYPE_CHECKING:
    from dappled.protocol import Distribution

PIECES = 16  # local arrays shown
RUNS = 8  # runs shown along an axis of a local array

_LEGEND = {
    "communication": "hatched: communication padding, a copy of what the rank of its colour owns",
    "boundary": "dashed: boundary padding, owned, at the ends of the array",
}


@dataclass(frozen=True, slots=True)
class LocalArray:
    """The local array of a rank (None: of every rank); no panels where it is empty."""

    rank: int | None
    title: str
    panels: list[Panel]


def local_arrays(distribution: Distribution) -> tuple[list[LocalArray], list[str]]:
    """The local arrays of the first ranks, and what must be said about them."""
    notes: list[str] = []
    count = 1 if everywhere(distribution) else min(distribution.nprocs, PIECES)
    found = [_local_array(distribution, rank, notes) for rank in range(count)]
    kinds = {cell.kind for array in found for cell in all_cells(array.panels)}
    notes += [text for kind, text in _LEGEND.items() if kind in kinds]
    if more := more_ranks(distribution, PIECES):
        notes.append(more)
    return found, notes


def _local_array(distribution: Distribution, rank: int, notes: list[str]) -> LocalArray:
    piece = LocalPiece(distribution, rank)
    drawn, left_out = ([], False) if piece.empty else _panels(distribution, piece)
    if left_out:
        notes.append(f"rank {rank}: only the first {SLABS} slabs are drawn")
    if everywhere(distribution):
        return LocalArray(None, f"every rank, 0 to {distribution.nprocs - 1}", drawn)
    coords = ", ".join(map(str, piece.coords))
    return LocalArray(rank, f"rank {rank} ({coords})", drawn)


def _panels(distribution: Distribution, piece: LocalPiece) -> tuple[list[Panel], bool]:
    lines = []
    for axis, extent in enumerate(piece.shape):
        cells = by_element(distribution, axis)
        segments = piece.segments(axis, CELLS if cells else RUNS, cells=cells)
        lines.append(Line(segments, sum(segment.length for segment in segments) < extent))
    return panels(lines, lambda segments: _cell(distribution, piece, segments))


def _cell(distribution: Distribution, piece: LocalPiece, segments: list[Segment]) -> Cell:
    kinds = {segment.kind for segment in segments}
    # A region's ranges stand above it and to its left.
    text = joined(segments) if in_cells(distribution) else ""
    if "communication" in kinds:
        return Cell(_owner(distribution, piece, segments), "communication", text)
    ranks = () if everywhere(distribution) else (piece.rank,)
    return Cell(ranks, "boundary" if "boundary" in kinds else "owned", text)


def _owner(
    distribution: Distribution, piece: LocalPiece, segments: list[Segment]
) -> tuple[int, ...]:
    """The rank whose elements a cell of communication padding is a copy of."""
    index = tuple(segment.first for segment in segments if segment.first is not None)
    try:
        return (distribution.owner(index)[0],)
    except IndexError:  # beyond the ends of a periodic axis of 0.9
        return (piece.rank,)
