"""What one rank's piece holds, per axis: global indices and padding."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from dappled.show.runs import run_length

if TYPE_CHECKING:
    from dappled.protocol import Distribution

Kind = Literal["owned", "communication", "boundary"]

TABLE = 4096  # labels on one rank for which its dim_data, a table of them, is still asked


@dataclass(frozen=True, slots=True)
class Segment:
    """One row or column of a picture: an index, or a run of them.

    `first` is one of its global indices, None where the cell has none.
    """

    text: str
    length: int
    first: int | None
    kind: Kind = "owned"


@dataclass(frozen=True, slots=True)
class Padding:
    """The widths at the two ends of a piece along an axis, and of which kind they are."""

    left: int = 0
    right: int = 0
    left_kind: Kind = "boundary"
    right_kind: Kind = "boundary"

    @property
    def copied(self) -> tuple[int, int]:
        """The widths of what another rank owns."""
        return (
            self.left if self.left_kind == "communication" else 0,
            self.right if self.right_kind == "communication" else 0,
        )


def span(first: int, count: int, step: int = 1) -> str:
    """A range of indices as text.

    >>> span(0, 3), span(4, 1), span(1, 4, 2), span(9, 5, -2)
    ('0:3', '4', '1:8:2', '9 down to 1 by 2')
    """
    last = first + (count - 1) * step
    if count == 1:
        return str(first)
    if step > 0:
        return f"{first}:{last + 1}" + (f":{step}" if step > 1 else "")
    return f"{first} down to {last}" + (f" by {-step}" if step < -1 else "")


def everywhere(distribution: Distribution) -> bool:
    """Whether every rank holds all of the array."""
    return distribution.is_whole and distribution.nprocs > 1


class LocalPiece:
    """One rank's piece, through the public methods of its distribution."""

    def __init__(self, distribution: Distribution, rank: int) -> None:
        self._distribution = distribution
        self.rank = rank
        self.coords = distribution.coords(rank)
        self.shape = distribution.local_shape(rank)
        self.empty = 0 in self.shape if self.shape else not self._has_value()

    def _has_value(self) -> bool:
        """Of a 0-d array: a view of that kind is on one rank alone."""
        return everywhere(self._distribution) or self._distribution.owner(())[0] == self.rank

    def labelled(self, axis: int) -> bool:
        """Whether the global indices of an axis have no order."""
        return self._distribution.dist[axis] == "u"

    def label(self, axis: int, local: int) -> int | None:
        """The global index at a local position of an axis; None where the cell has none."""
        position = [0] * len(self.shape)
        position[axis] = local
        try:
            return self._distribution.global_index(self.rank, tuple(position))[axis]
        except IndexError:
            return None

    @cached_property
    def padding(self) -> list[Padding]:
        """The padding along each axis."""
        dim_data, version = dim_data_of(self._distribution, self.rank)
        return [_padding(entry, version) for entry in dim_data] or [Padding()] * len(self.shape)

    def segments(self, axis: int, limit: int, *, cells: bool) -> list[Segment]:
        """The local positions of an axis in order: each, or as runs, at most `limit`."""
        padding, extent = self.padding[axis], self.shape[axis]
        parts: list[tuple[int, int, Kind]] = [
            (0, padding.left, padding.left_kind),
            (padding.left, extent - padding.right, "owned"),
            (extent - padding.right, extent, padding.right_kind),
        ]
        found: list[Segment] = []
        for at, stop, kind in parts:
            while at < stop and len(found) < limit:
                found.append(self.segment(axis, at, 1 if cells else stop - at, kind))
                at += found[-1].length
        return found

    def segment(self, axis: int, at: int, limit: int, kind: Kind = "owned") -> Segment:
        """The run that starts at a local position, of at most `limit` positions."""

        def value(k: int) -> tuple[int] | None:
            label = self.label(axis, at + k)
            return None if label is None else (label,)

        first = self.label(axis, at)
        length = run_length(value, limit, ordered=not self.labelled(axis))
        step = -1 if length > 1 and (self.label(axis, at + 1) or 0) < (first or 0) else 1
        return Segment("" if first is None else span(first, length, step), length, first, kind)


def dim_data_of(distribution: Distribution, rank: int) -> tuple[tuple[dict[str, Any], ...], str]:
    """The dimension dictionaries and their version; none where they are costly or illegal."""
    axes = zip(distribution.dist, distribution.local_shape(rank), strict=True)
    if everywhere(distribution) or any(kind == "u" and extent > TABLE for kind, extent in axes):
        return (), ""
    for version in ("0.10.0", "0.9.0"):
        try:
            return distribution.dim_data(rank, version=version), version
        except ValueError:  # 0.10 can't say every 0.9 distribution
            continue
    return (), ""


def _padding(entry: dict[str, Any], version: str) -> Padding:
    rank, last = entry.get("proc_grid_rank", 0), entry.get("proc_grid_size", 1) - 1
    # In 0.9 the outer padding of a periodic axis is a copy of the other end.
    copied = version == "0.9.0" and entry.get("periodic", False)
    left, right = entry.get("padding", (0, 0))
    return Padding(
        left,
        right,
        "boundary" if rank == 0 and not copied else "communication",
        "boundary" if rank == last and not copied else "communication",
    )
