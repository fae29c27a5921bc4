"""A distribution in words of the tests: from it follow the constructor's arguments, the
dictionaries that must be written, and the oracle's layout, each on its own way."""

from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from tests.protocol.oracle import Axis, Layout

ARGUMENTS = ("block_size", "bounds", "indices", "padding", "periodic", "one_to_one")


@dataclass(frozen=True)
class AxisSpec:
    """One axis; `padding` is an int or the grid + 1 edge widths, as the constructor takes it."""

    kind: str
    size: int
    grid: int = 1
    bounds: tuple[int, ...] | None = None
    padding: int | tuple[int, ...] = 0
    periodic: bool = False
    block_size: int = 1
    indices: tuple[tuple[int, ...], ...] | None = None
    one_to_one: bool = False

    @property
    def edges(self) -> tuple[int, ...]:
        """The owned bounds of a block axis: ceil(size / grid) each unless given."""
        chunk = -(-self.size // self.grid)
        return self.bounds or tuple(min(c * chunk, self.size) for c in range(self.grid + 1))

    @property
    def widths(self) -> tuple[int, ...]:
        """The width at each edge: 0 towards and on an empty rank."""
        given = (
            self.padding if isinstance(self.padding, tuple) else [self.padding] * len(self.edges)
        )
        full = [low < high for low, high in pairwise(self.edges)]
        beside = zip([full[0], *full], [*full, full[-1]], strict=True)
        return tuple(width if all(both) else 0 for width, both in zip(given, beside, strict=True))

    @property
    def boundary(self) -> tuple[int, int]:
        return self.widths[0], self.widths[-1]

    def owned(self, coordinate: int) -> list[int]:
        """The indices that a grid coordinate owns, in the order of its buffer."""
        if self.kind == "u":
            return list(self.indices[coordinate])
        if self.kind == "c":
            every = range(self.size)
            return [i for i in every if i // self.block_size % self.grid == coordinate]
        return list(range(self.edges[coordinate], self.edges[coordinate + 1]))

    def axis(self) -> Axis:
        cells = tuple(tuple(self._cells(c)) for c in range(self.grid))
        low, high = self.boundary if self.kind in "bn" else (0, 0)
        return Axis(
            self.size, cells, self.kind == "u", (low, self.size - high) if self.periodic else None
        )

    def _cells(self, c: int) -> list[tuple[int, bool]]:
        if self.kind not in "bn":
            return [(index, True) for index in self.owned(c)]
        low, high = self.edges[c], self.edges[c + 1]
        left = self.widths[c] if c > 0 else 0
        right = self.widths[c + 1] if c < self.grid - 1 else 0
        return [(index, low <= index < high) for index in range(low - left, high + right)]

    def entries(self, c: int, old: bool = False) -> dict[str, Any]:
        """The dictionary that must be written for a grid coordinate."""
        kind = "b" if self.kind == "n" else self.kind
        common = {"dist_type": kind, "size": self.size}
        grid = {"proc_grid_size": self.grid, "proc_grid_rank": c}
        return {**common, **grid, **getattr(self, f"_{kind}")(c, old)}

    def _b(self, c: int, old: bool) -> dict[str, Any]:
        held = [index for index, owned in self._cells(c) if owned or not old]
        start = held[0] if held else self.edges[c]
        found = {"start": start, "stop": start + len(held)}
        widths = (self.widths[c], self.widths[c + 1])
        if any(self.widths) if old else any(widths):
            found["padding"] = widths
        return found | ({"periodic": True} if self.periodic else {})

    def _c(self, c: int, old: bool) -> dict[str, Any]:
        block_size = {} if self.block_size == 1 else {"block_size": self.block_size}
        return {"start": c * self.block_size, **block_size}

    def _u(self, c: int, old: bool) -> dict[str, Any]:
        one_to_one = {"one_to_one": True} if self.one_to_one else {}
        return {"indices": np.array(self.indices[c], np.int64), **one_to_one}


@dataclass(frozen=True)
class Spec:
    """Axes, and the number of ranks where the grid does not say it (whole, 0-d)."""

    axes: tuple[AxisSpec, ...]
    copies: int = 1
    scalars: bool = False  # one value for all axes where the arguments allow it

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(axis.size for axis in self.axes)

    @property
    def dist(self) -> str:
        return "".join(axis.kind for axis in self.axes)

    @property
    def grid_shape(self) -> tuple[int, ...]:
        return tuple(axis.grid for axis in self.axes)

    @property
    def nprocs(self) -> int:
        return prod(self.grid_shape) * self.copies

    @property
    def old(self) -> bool:
        """Can 0.9 say it? Not where periodic padding counts in the size."""
        return not any(
            axis.kind in "bn" and axis.periodic and any(axis.boundary) for axis in self.axes
        )

    def arguments(self) -> dict[str, Any]:
        """What the constructor is called with."""
        places = {"nprocs": self.nprocs} if self.copies > 1 else {"grid_shape": self.grid_shape}
        found = {name: self._option(name) for name in ARGUMENTS}
        given = {name: value for name, value in found.items() if value is not None}
        return {"shape": self.shape, "dist": self.dist, **places, **given}

    def _option(self, name: str) -> Any:
        defaults = {"block_size": 1, "bounds": None, "indices": None, "padding": 0}
        default = defaults.get(name, False)
        values = [getattr(axis, name) for axis in self.axes]
        if all(value == default for value in values):
            return None
        kinds = {"block_size": "c", "one_to_one": "u"}.get(name, "bn")
        meant = {v for v, axis in zip(values, self.axes, strict=True) if axis.kind in kinds}
        if name in ("block_size", "one_to_one") and self.scalars and len(meant) == 1:
            return meant.pop()
        return [None if value == default else value for value in values]

    def layout(self) -> Layout:
        axes = tuple(axis.axis() for axis in self.axes)
        return Layout(axes, self.nprocs, whole=self.copies > 1 and bool(axes))

    def dim_data(self, rank: int, old: bool = False) -> tuple[dict[str, Any], ...]:
        coords = self.layout().coords(rank)
        return tuple(axis.entries(c, old) for axis, c in zip(self.axes, coords, strict=True))

    def exports(self, version: str = "0.10.0") -> list[dict[str, Any]]:
        """A right export of every rank, its buffer zeros."""
        layout, old = self.layout(), version.startswith("0.9")
        return [
            {
                "__version__": version,
                "buffer": np.zeros(layout.local_shape(rank)),
                "dim_data": self.dim_data(rank, old),
            }
            for rank in range(self.nprocs)
        ]
