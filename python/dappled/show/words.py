"""What is said about a distribution in text, the same words in every kind of picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dappled.show.piece import LocalPiece, dim_data_of, everywhere
from dappled.show.ranges import held, owned

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dappled.protocol import Distribution

_KINDS = {"b": "block", "c": "cyclic", "u": "unstructured", "n": "whole"}


def by(values: Iterable[object]) -> str:
    """`5 x 9`, as shapes and grids are written."""
    return " x ".join(map(str, values))


def counted(count: int, noun: str) -> str:
    """`1 rank`, `2 ranks`."""
    return f"{count} {noun}" + ("" if count == 1 else "s")


def heading(distribution: Distribution) -> str:
    """One line: shape, kinds, grid."""
    ranks = counted(distribution.nprocs, "rank")
    if not distribution.shape:
        return f"0-d over {ranks}"
    flat = len(distribution.shape) == 1
    shape = counted(distribution.shape[0], "element") if flat else by(distribution.shape)
    if everywhere(distribution):
        return f"{shape}, whole on each of {ranks}"
    kinds = by(_kinds(distribution))
    grid = "" if flat else f" in a grid of {by(distribution.grid_shape)}"
    return f"{shape}, {kinds}, over {ranks}{grid}"


def _kinds(distribution: Distribution) -> list[str]:
    names = [_KINDS[kind] for kind in distribution.dist]
    dim_data, _ = dim_data_of(distribution, 0)
    for axis, entry in enumerate(dim_data):
        if entry.get("block_size", 1) > 1:
            names[axis] = f"cyclic by {entry['block_size']}"
    return names


@dataclass(frozen=True, slots=True)
class RankRow:
    """What one rank holds, as text."""

    rank: str
    coords: str
    shape: str
    owns: str


def rank_rows(distribution: Distribution, limit: int) -> list[RankRow]:
    """A row for each rank, at most `limit`; one row where all ranks hold the same."""
    if everywhere(distribution):
        last = distribution.nprocs - 1
        return [RankRow(f"0 to {last}", "", by(distribution.shape) or "0-d", "holds everything")]
    ranks = range(min(distribution.nprocs, limit))
    return [_rank_row(distribution, rank) for rank in ranks]


def _rank_row(distribution: Distribution, rank: int) -> RankRow:
    piece = LocalPiece(distribution, rank)
    coords = f"({', '.join(map(str, piece.coords))})"
    return RankRow(str(rank), coords, by(piece.shape) or "0-d", _owns(piece))


def _owns(piece: LocalPiece) -> str:
    if piece.empty:
        return "owns nothing"
    if not piece.shape:
        return "owns the value"
    axes = range(len(piece.shape))
    text = "owns " + by(f"[{owned(piece, axis)}]" for axis in axes)
    if any(any(padding.copied) for padding in piece.padding):
        text += ", holds " + by(f"[{held(piece, axis)}]" for axis in axes)
    return text


def more_ranks(distribution: Distribution, shown: int) -> str:
    """What stands for the ranks that are not shown; empty if all are."""
    if everywhere(distribution) or distribution.nprocs <= shown:
        return ""
    return f"... and {counted(distribution.nprocs - shown, 'more rank')}"
