"""The indices of a piece along one axis as text."""

from __future__ import annotations

from dappled.show.piece import LocalPiece, span
from dappled.show.runs import PROBES

LISTED = 8  # labels or runs written out


def owned(piece: LocalPiece, axis: int) -> str:
    """The owned global indices in local order: `0:3`, `1:8:2`, `0:2, 4:6` or `19, 1, 0`."""
    left, right = piece.padding[axis].copied
    return _text(piece, axis, left, piece.shape[axis] - right)


def held(piece: LocalPiece, axis: int) -> str:
    """The range with the communication padding."""
    return _text(piece, axis, 0, piece.shape[axis])


def _text(piece: LocalPiece, axis: int, start: int, stop: int) -> str:
    step = _step(piece, axis, start, stop)
    if step is not None:
        return span(piece.label(axis, start) or 0, stop - start, step)
    found: list[str] = []
    while start < stop and len(found) < LISTED:
        segment = piece.segment(axis, start, 1 if piece.labelled(axis) else stop - start)
        found.append(segment.text)
        start += segment.length
    return ", ".join(found + ["..."] * (start < stop))


def _step(piece: LocalPiece, axis: int, start: int, stop: int) -> int | None:
    """The distance of neighbours, where it is the same all along."""
    count = stop - start
    if count < 3:
        return None
    first, second = piece.label(axis, start), piece.label(axis, start + 1)
    if first is None or second is None:
        return None
    step = second - first
    even = (piece.label(axis, start + k) == first + k * step for k in _places(piece, axis, count))
    return step if all(even) else None


def _places(piece: LocalPiece, axis: int, count: int) -> list[int]:
    """Where evenness is looked at: what is ordered is even all along if it is at the end."""
    between = range(2, count, max(1, count // PROBES)) if piece.labelled(axis) else ()
    return [*between, count - 1]
