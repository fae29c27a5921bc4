"""Executes the messages that `sends` and `receives` describe, cell by cell."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from tests.protocol.oracle.maps import Place

Messages = list[tuple[int, list[Any]]]


def axis_positions(part: Any) -> list[int]:
    """One axis of a box: (start, stop, step), or the positions themselves."""
    if isinstance(part, np.ndarray):
        assert part.dtype == np.int64 and part.ndim == 1
        return part.tolist()
    assert type(part) is tuple and [type(number) for number in part] == [int] * 3
    return list(range(*part))


def cells(box: Any) -> list[tuple[int, ...]]:
    """The positions of a box in the order in which they are sent."""
    assert type(box) is tuple
    axes = [axis_positions(part) for part in box]
    assert all(axes), "an empty box"
    return list(product(*axes))


def extents(box: Any) -> list[int]:
    return [len(axis_positions(part)) for part in box]


def assert_in_order(messages: Messages) -> None:
    """Peers ascending, none twice, none without a box."""
    assert type(messages) is list
    peers = [peer for peer, _ in messages]
    assert peers == sorted(set(peers))
    assert all(boxes for _, boxes in messages)


def moves(
    sends: Callable[[int], Messages], receives: Callable[[int], Messages], ranks: int
) -> list[tuple[Place, Place]]:
    """Every cell that is sent with the cell that it is written to."""
    sent = {(rank, peer): boxes for rank in range(ranks) for peer, boxes in _asked(sends, rank)}
    got = {(peer, rank): boxes for rank in range(ranks) for peer, boxes in _asked(receives, rank)}
    assert sent.keys() == got.keys()
    found = []
    for (source, target), boxes in sent.items():
        assert len(boxes) == len(got[source, target])
        for out, into in zip(boxes, got[source, target], strict=True):
            assert extents(out) == extents(into)
            pairs = zip(cells(out), cells(into), strict=True)
            found += [((source, one), (target, other)) for one, other in pairs]
    return found


def _asked(messages: Callable[[int], Messages], rank: int) -> Messages:
    found = messages(rank)
    assert_in_order(found)
    return found
