"""One axis of a distribution: which stretch of it belongs to whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dappled.show.piece import LocalPiece
from dappled.show.runs import run_length

if TYPE_CHECKING:
    from dappled.protocol import Distribution

Index = tuple[int, ...]

RAW_RUNS = 512  # runs looked at before neighbours of one rank are joined
LABELS = 4096  # labels of an unstructured axis that are looked at
COORDS = 1024  # ranks of one grid axis that are looked at


@dataclass(frozen=True, slots=True)
class Run:
    """Global indices `start:stop`, and the rank that owns them on the line through the base."""

    start: int
    stop: int
    rank: int


def base_index(distribution: Distribution) -> Index | None:
    """Any valid global index; None if there is none, or none is found soon."""
    zeros = (0,) * len(distribution.shape)
    if 0 in distribution.shape:
        return None
    try:
        distribution.owner(zeros)
    except IndexError:  # zero need not be a label
        return _held_index(distribution)
    return zeros


def _held_index(distribution: Distribution) -> Index | None:
    zeros = (0,) * len(distribution.shape)
    coords = list(zeros)
    for axis, grid in enumerate(distribution.grid_shape):
        for coord in range(min(grid, COORDS)):
            rank = distribution.rank((*zeros[:axis], coord, *zeros[axis + 1 :]))
            if distribution.local_shape(rank)[axis]:
                coords[axis] = coord
                break
        else:
            return None
    return distribution.global_index(distribution.rank(coords), zeros)


class Axis:
    """One axis of a distribution, looked at along a line through the `base` index."""

    def __init__(self, distribution: Distribution, number: int, base: Index) -> None:
        self._distribution = distribution
        self.number = number
        self._base = base
        self.size = distribution.shape[number]
        self.kind = distribution.dist[number]

    def place(self, index: int) -> tuple[int, int] | None:
        """The owner and its local position, or None where nobody has the label."""
        at = self.number
        try:
            rank, local = self._distribution.owner((*self._base[:at], index, *self._base[at + 1 :]))
        except IndexError:
            return None
        return rank, local[at]

    def runs(self, limit: int) -> tuple[list[Run], int]:
        """At most `limit` runs from index 0, and the index up to which they reach."""
        found: list[Run] = []
        at, length = 0, 1
        for _ in range(RAW_RUNS):
            run = self._run(at, length) if at < self.size else None
            if run is None:
                break
            length = run.stop - run.start
            if found and found[-1].rank == run.rank:
                run = Run(found.pop().start, run.stop, run.rank)
            elif len(found) == limit:
                break
            found.append(run)
            at = run.stop
        return found, at

    def _run(self, start: int, guess: int) -> Run | None:
        here = self.place(start)
        if here is None:
            return None
        limit, ordered = self.size - start, self.kind != "u"
        length = run_length(lambda k: self.place(start + k), limit, ordered=ordered, guess=guess)
        return Run(start, start + length, here[0])

    def indices(self, limit: int) -> tuple[list[int], bool]:
        """The indices in order, at most `limit` of them; and whether these are all."""
        if self.kind != "u":
            return list(range(min(self.size, limit))), self.size <= limit
        labels = self._labels()
        if labels is None:
            labels = [index for index in range(self.size) if self.place(index) is not None]
        return labels[:limit], len(labels) <= limit

    def _labels(self) -> list[int] | None:
        """The distinct labels on all ranks of the axis; None if they are too many to look at."""
        grid = self._distribution.grid_shape[self.number]
        labels: set[int] = set()
        room = LABELS
        for coord in range(min(grid, COORDS)):
            piece = LocalPiece(self._distribution, self._rank(coord))
            extent = piece.shape[self.number]
            room -= extent
            if room < 0:
                return None
            found = (piece.label(self.number, local) for local in range(extent))
            labels.update(label for label in found if label is not None)
        return sorted(labels) if grid <= COORDS else None

    def _rank(self, coord: int) -> int:
        """A rank at this coordinate of the axis that is not empty along the others."""
        rank, _ = self._distribution.owner(self._base)
        coords = list(self._distribution.coords(rank))
        coords[self.number] = coord
        return self._distribution.rank(coords)
