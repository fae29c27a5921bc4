"""Owners by enumeration: every cell of every rank's buffer with its global index."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import numpy as np

from tests.protocol.oracle.rules import Dim, read
from tests.protocol.oracle.values import labels

Cell = tuple[int, bool]  # a global index, and whether the rank owns it
Place = tuple[int, tuple[int, ...]]  # a rank and a position in its buffer


@dataclass(frozen=True)
class Axis:
    """One axis over its grid: `cells[coordinate][local]`."""

    size: int
    cells: tuple[tuple[Cell, ...], ...]
    labelled: bool = False  # unstructured: the order of the buffer is free
    interior: tuple[int, int] | None = None  # periodic: what lies outside is filled from it

    @cached_property
    def holders(self) -> dict[int, list[tuple[int, int]]]:
        """Every owned index with its (coordinate, local), lowest coordinate first."""
        found: dict[int, list[tuple[int, int]]] = {}
        for coordinate, row in enumerate(self.cells):
            for local, (index, owned) in enumerate(row):
                if owned:
                    found.setdefault(index, []).append((coordinate, local))
        return found

    @property
    def exact(self) -> bool:
        """Are the owned indices 0..size-1, each on one rank?"""
        once = all(len(places) == 1 for places in self.holders.values())
        return once and set(self.holders) == set(range(self.size))

    def source(self, index: int) -> int:
        """Where the value of a cell comes from when padding is brought up to date."""
        if self.interior is None or self.interior[0] >= self.interior[1]:
            return index
        low, high = self.interior
        while index < low:
            index += high - low
        while index >= high:
            index -= high - low
        return index


@dataclass(frozen=True)
class Layout:
    """Axes over a grid; `whole`: every rank holds all; `holder`: the one rank of a 0-d view."""

    axes: tuple[Axis, ...]
    nprocs: int
    whole: bool = False
    holder: int | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(axis.size for axis in self.axes)

    @property
    def grid_shape(self) -> tuple[int, ...]:
        return tuple(len(axis.cells) for axis in self.axes)

    @property
    def exact(self) -> bool:
        return all(axis.exact for axis in self.axes)

    def coords(self, rank: int) -> tuple[int, ...]:
        if self.whole or not self.axes:
            return (0,) * len(self.axes)
        return tuple(int(c) for c in np.unravel_index(rank, self.grid_shape))

    def rows(self, rank: int) -> list[tuple[Cell, ...]]:
        """Per axis the cells of one rank."""
        return [axis.cells[c] for axis, c in zip(self.axes, self.coords(rank), strict=True)]

    def local_shape(self, rank: int) -> tuple[int, ...]:
        return tuple(len(row) for row in self.rows(rank))

    def indices(self) -> list[tuple[int, ...]]:
        """Every global index (label) that some rank owns."""
        return list(product(*(axis.holders for axis in self.axes)))

    def owners(self, index: Sequence[int]) -> list[Place]:
        """Every rank that owns an element, with the position in its buffer, in rank order."""
        pairs = zip(self.axes, index, strict=True)
        found = [self._place(place) for place in product(*(axis.holders[i] for axis, i in pairs))]
        copies = [(rank, local) for _, local in found for rank in range(self.nprocs)]
        if self.whole or not self.axes:
            return copies if self.holder is None else [(self.holder, ())]
        return sorted(found)

    def _place(self, places: Sequence[tuple[int, int]]) -> Place:
        rank = 0
        for grid, (coordinate, _) in zip(self.grid_shape, places, strict=True):
            rank = rank * grid + coordinate
        return rank, tuple(local for _, local in places)


def axis_of(dims: Sequence[Dim]) -> Axis:
    """The axis that the dimensions of all grid coordinates, in order, describe."""
    first, size = dims[0], dims[0].number("size")
    cells = tuple(tuple(_cells(dim)) for dim in dims)
    return Axis(size, cells, first.kind == "u", _interior(dims) if first.periodic else None)


def _cells(dim: Dim) -> list[Cell]:
    if dim.kind == "u":
        return [(label, True) for label in labels(dim.entries["indices"], None)]
    if dim.kind in ("b", "n"):
        low, high = dim.owned
        return [(index, low <= index < high) for index in range(*dim.held)]
    grid, rank = dim.number("proc_grid_size"), dim.number("proc_grid_rank")
    block_size = dim.number("block_size", 1)
    return [(i, True) for i in range(dim.number("size")) if i // block_size % grid == rank]


def _interior(dims: Sequence[Dim]) -> tuple[int, int]:
    """What periodic padding is filled from: in 0.9 everything, else all but the boundary."""
    if dims[0].old:
        return 0, dims[0].number("size")
    return dims[0].widths[0], dims[0].number("size") - dims[-1].widths[1]


def pieces(per_rank: Sequence[Sequence[dict]], shapes: Sequence, old: bool = False) -> Layout:
    """The layout that the `dim_data` of all ranks, with the shapes of the buffers, describes."""
    ranks = [[read(*pair, old) for pair in zip(*both, strict=True)]
             for both in zip(per_rank, shapes, strict=True)]  # fmt: skip
    grid = [dim.number("proc_grid_size") for dim in ranks[0]]
    axes = []
    for axis, count in enumerate(grid):
        stride = prod(grid[axis + 1 :])
        axes.append(axis_of([ranks[c * stride][axis] for c in range(count)]))
    return Layout(tuple(axes), len(per_rank))
