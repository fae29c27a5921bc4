"""The collective rules C01 to C08, on exports that keep the local ones."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from tests.protocol.oracle.rules import Dim, Violation, first_violation, owned_count, read
from tests.protocol.oracle.values import Unspecified, labels, meaning, view_of

Dims = list[Dim]


def first_collective_violation(exports: list[Any]) -> Violation | None:
    """The first rule that a set of exports, in rank order, breaks, and the dimension."""
    if not exports:
        raise Unspecified("no process at all")
    for export in exports:
        violation = first_violation(export)
        if violation is not None:
            return violation
    ranks = [_dims(export) for export in exports]
    first_unlike = next(unlike(exports), None)
    return first_unlike or _first_misplaced(ranks) or _first_of_axes(ranks)


def _dims(export: dict) -> Dims:
    shape, old = view_of(export["buffer"]).shape, meaning(export["__version__"]) == "old"
    return [read(*pair, old) for pair in zip(export["dim_data"], shape, strict=True)]


def unlike(exports: list[dict]) -> Iterator[Violation]:
    """C01: everything that must be the same everywhere and is not."""
    ranks = [_dims(export) for export in exports]
    whole = [
        {meaning(export["__version__"]) for export in exports},
        {_element(export) for export in exports},
        {len(dims) for dims in ranks},
    ]
    if any(len(found) > 1 for found in whole):
        yield "C01", None
    for dimension, dims in enumerate(zip(*ranks, strict=False)):
        if {dim.kind for dim in dims} == {"b", "n"}:
            raise Unspecified("'n' beside 'b' on a grid of 1")
        if len({_common(dim) for dim in dims}) > 1:
            yield "C01", dimension


def _element(export: dict) -> Any:
    """The dtype by meaning: NumPy's equality knows that 'l' is 'q'."""
    dtype = np.asarray(memoryview(export["buffer"])).dtype
    return (dtype.str, str(dtype.descr))


def _common(dim: Dim) -> tuple:
    block_size = dim.number("block_size", 1) if dim.kind == "c" else None
    one_to_one = bool(dim.entries.get("one_to_one", False)) if dim.kind == "u" else None
    grid = dim.number("proc_grid_size")
    return dim.kind, dim.number("size"), grid, block_size, bool(dim.periodic), one_to_one


def _first_misplaced(ranks: list[Dims]) -> Violation | None:
    """C02: the grid has one place for each process, in row-major order."""
    if not ranks[0]:
        return None  # 0-d
    grid = [dim.number("proc_grid_size") for dim in ranks[0]]
    if prod(grid) != len(ranks):
        return "C02", None
    for rank, dims in enumerate(ranks):
        coords = tuple(dim.number("proc_grid_rank") for dim in dims)
        if np.ravel_multi_index(coords, grid) != rank:
            return "C02", None
    return None


def _first_of_axes(ranks: list[Dims]) -> Violation | None:
    for dimension, dims in enumerate(zip(*ranks, strict=True)):
        for rule, holds in AXIS_RULES:
            if not holds(list(dims)):
                return rule, dimension
    return None


def _by_coordinate(dims: Dims) -> Iterator[Dims]:
    for coordinate in range(dims[0].number("proc_grid_size")):
        yield [dim for dim in dims if dim.number("proc_grid_rank") == coordinate]


def _row(dims: Dims) -> Dims:
    """One dimension of each grid coordinate, in order."""
    return [same[0] for same in _by_coordinate(dims)]


def _c03(dims: Dims) -> bool:
    return all(len({_said(dim) for dim in same}) == 1 for same in _by_coordinate(dims))


def _said(dim: Dim) -> tuple:
    """What must be the same on one grid coordinate: all but the boundary's padding."""
    if dim.kind == "u":
        return tuple(labels(dim.entries["indices"], dim.extent))
    if dim.kind == "c":
        return ()
    return dim.number("start"), dim.number("stop"), dim.communication


def _c04(dims: Dims) -> bool:
    if dims[0].kind not in ("b", "n"):
        return True
    return all(one.owned[1] == next_.owned[0] for one, next_ in pairwise(_row(dims)))


def _c05(dims: Dims) -> bool:
    if dims[0].kind not in ("b", "n"):
        return True
    row = _row(dims)
    _refuse_odd_wrap(row)
    return all(
        one.widths[1] == next_.widths[0] <= min(owned_count(one), owned_count(next_))
        for one, next_ in pairwise(row)
    )


def _refuse_odd_wrap(row: Dims) -> None:
    """0.9, periodic: the text does not say what the outermost widths must be."""
    if row[0].old and row[0].periodic:
        left, right = row[0].widths[0], row[-1].widths[1]
        if left != right or left > min(owned_count(row[0]), owned_count(row[-1])):
            raise Unspecified("outer communication padding")


def _c06(dims: Dims) -> bool:
    return dims[0].kind == "u" or sum(map(owned_count, _row(dims))) == dims[0].number("size")


def _c07(dims: Dims) -> bool:
    if dims[0].kind != "u" or not dims[0].entries.get("one_to_one", False):
        return True
    held = [label for dim in _row(dims) for label in labels(dim.entries["indices"], dim.extent)]
    return len(set(held)) == len(held) == dims[0].number("size")


def _c08(dims: Dims) -> bool:
    if not dims[0].old or dims[0].kind not in ("b", "n"):
        return True
    return len({"padding" in dim.entries for dim in dims}) == 1


AXIS_RULES: list[tuple[str, Callable[[Dims], bool]]] = [
    ("C03", _c03),
    ("C04", _c04),
    ("C05", _c05),
    ("C06", _c06),
    ("C07", _c07),
    ("C08", _c08),
]
