"""Where every value comes from: between two layouts, and into the padding of one."""

from itertools import product

import numpy as np

from tests.protocol.oracle.maps import Layout, Place


def filled(layout: Layout, array: np.ndarray, rank: int, blank: float = -1) -> np.ndarray:
    """The buffer of one rank: the owned cells from the array, `blank` in the padding."""
    piece = np.full(layout.local_shape(rank), blank, array.dtype)
    if not layout.axes and layout.holder not in (None, rank):
        return piece
    for local in product(*(range(extent) for extent in piece.shape)):
        cells = [row[at] for row, at in zip(layout.rows(rank), local, strict=True)]
        if all(owned for _, owned in cells):
            piece[local] = array[tuple(index for index, _ in cells)]
    return piece


def exchange(source: Layout, target: Layout) -> list[tuple[tuple[int, ...], Place, Place]]:
    """Each element with the place it is read from and each place it is written to.

    Where the source is whole any rank may send; the place of the lowest is given.
    """
    moves = []
    for index in product(*(range(size) for size in source.shape)):
        first = source.owners(index)[0]
        moves += [(index, first, place) for place in target.owners(index)]
    return moves


def halo(layout: Layout) -> dict[Place, Place]:
    """Every cell that an update of padding writes, with the owned cell it takes the value of."""
    sources = {}
    for rank in range(layout.nprocs):
        rows = layout.rows(rank)
        for local in product(*(range(len(row)) for row in rows)):
            index = [row[at][0] for row, at in zip(rows, local, strict=True)]
            origin = [axis.source(i) for axis, i in zip(layout.axes, index, strict=True)]
            source = layout.owners(origin)[0]
            if source != (rank, local):
                sources[rank, local] = source
    return sources
