"""The picture of the global array: every element, or region, with its owner."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from dappled.show.axis import Axis, base_index
from dappled.show.panel import CELLS, SLABS, Cell, Line, Panel, all_cells, joined, panels
from dappled.show.piece import Segment, everywhere, span

if TYPE_CHECKING:
    from dappled.protocol import Distribution

RUNS = 64  # runs along an axis that are all shown
FIRST = 16  # runs shown where there are more
# The same for arrays of more than two dimensions, which are drawn as several slabs.
SLAB_RUNS = 16
SLAB_FIRST = 8

Notes = list[str]


def in_cells(distribution: Distribution) -> bool:
    """Whether the array is small enough to be shown element by element."""
    return all(size <= CELLS for size in distribution.shape)


def global_array(distribution: Distribution) -> tuple[list[Panel], Notes]:
    """The panels of the global array, and what must be said about them."""
    base = base_index(distribution)
    if base is None:
        return [], ["no rank holds an element"]
    notes: Notes = []
    axes = [Axis(distribution, number, base) for number in range(len(base))]
    lines = [_line(distribution, axis, notes) for axis in axes]
    drawn, left_out = panels(lines, lambda segments: _cell(distribution, segments))
    if left_out:
        notes.append(f"only the first {SLABS} slabs of the array are drawn")
    if any(len(cell.ranks) > 1 for cell in all_cells(drawn)):
        notes.append("a label that several ranks hold is owned by the lowest of them")
    return drawn, notes


def by_element(distribution: Distribution, axis: int) -> bool:
    """Whether the indices of an axis are shown one by one, not in runs."""
    leading = distribution.shape[:-2]
    # Slabs one index apart would show only the first ranks of a long leading axis.
    long = axis < len(leading) and prod(leading) > SLABS
    return in_cells(distribution) and not long


def _line(distribution: Distribution, axis: Axis, notes: Notes) -> Line:
    if by_element(distribution, axis.number):
        return _indices(axis, notes)
    limits = (RUNS, FIRST) if len(distribution.shape) <= 2 else (SLAB_RUNS, SLAB_FIRST)
    return _runs(axis, *limits, notes)


def _indices(axis: Axis, notes: Notes) -> Line:
    indices, complete = axis.indices(CELLS)
    if indices != list(range(axis.size)):
        notes.append(f"axis {axis.number}: its labels are not exactly 0:{axis.size}")
    return Line([Segment(str(index), 1, index) for index in indices], not complete)


def _runs(axis: Axis, limit: int, first: int, notes: Notes) -> Line:
    runs, reached = axis.runs(limit)
    if more := reached < axis.size:
        why = _why(axis, reached)
        runs = runs[:first]
        drawn = span(0, runs[-1].stop) if runs else "nothing"
        notes.append(f"axis {axis.number}: {drawn} of 0:{axis.size} is drawn{why}")
    segments = [
        Segment(span(run.start, run.stop - run.start), run.stop - run.start, run.start)
        for run in runs
    ]
    return Line(segments, more)


def _why(axis: Axis, reached: int) -> str:
    """What is to be said about the runs that are not drawn."""
    if axis.kind == "c":
        return "; the pattern repeats"
    return "" if axis.place(reached) else f"; no rank has the label {reached}"


def _cell(distribution: Distribution, segments: list[Segment]) -> Cell:
    index = tuple(segment.first for segment in segments if segment.first is not None)
    ranks = _ranks(distribution, index)
    if in_cells(distribution):
        return Cell(ranks, "owned", joined(segments))
    return Cell(ranks, "owned", f"rank {'+'.join(map(str, ranks))}" if ranks else "every rank")


def _ranks(distribution: Distribution, index: tuple[int, ...]) -> tuple[int, ...]:
    if everywhere(distribution):
        return ()
    if "u" in distribution.dist:  # only labels can be held by several ranks
        return tuple(rank for rank, _ in distribution.owners(index))
    return (distribution.owner(index)[0],)
