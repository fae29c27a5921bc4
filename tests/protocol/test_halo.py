"""Halo exchange: every padding cell gets its value, corners and periodic axes included."""

from itertools import product
from math import prod

import numpy as np
import pytest
from dappled.protocol import Distribution
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.protocol.messages import moves
from tests.protocol.oracle import Layout, halo, pieces
from tests.protocol.specs import AxisSpec, Spec
from tests.protocol.strategies import axis_specs, block_axes, specs

each = settings(max_examples=400)


@st.composite
def padded_specs(draw) -> Spec:
    """One to three axes, most of them padded block."""
    axes: list[AxisSpec] = []
    for _ in range(draw(st.integers(1, 3))):
        room = 12 // prod(axis.grid for axis in axes)
        size = draw(st.integers(2, (12, 7, 4)[len(axes)]))
        if draw(st.integers(0, 3)):
            axes.append(draw(block_axes(size, draw(st.integers(1, min(room, 4))), padded=True)))
        else:
            axes.append(draw(axis_specs(size, min(room, 3), exact=True)))
    return Spec(tuple(axes))


def numbered(layout: Layout) -> list[np.ndarray]:
    """Pieces whose every cell, padding included, has a number of its own."""
    pieces, used = [], 0
    for rank in range(layout.nprocs):
        shape = layout.local_shape(rank)
        pieces.append(np.arange(used, used + prod(shape)).reshape(shape))
        used += prod(shape)
    return pieces


def assert_updates(distribution: Distribution, layout: Layout) -> None:
    found = moves(distribution.halo_sends, distribution.halo_receives, layout.nprocs)
    targets = [target for _, target in found]
    assert len(set(targets)) == len(targets), "a cell is written twice"
    before, after = numbered(layout), numbered(layout)
    for (sender, cell), (rank, place) in found:
        after[rank][place] = before[sender][cell]
    sources = halo(layout)
    for rank, piece in enumerate(after):
        for local in product(*map(range, piece.shape)):
            origin, cell = sources.get((rank, local), (rank, local))
            assert piece[local] == before[origin][cell], (rank, local)


@each
@given(padded_specs())
def test_every_padding_cell_is_brought_up_to_date(spec):
    assert_updates(Distribution(**spec.arguments()), spec.layout())


@settings(max_examples=100)
@given(specs(exact=True, whole=False))
def test_any_distribution_has_a_halo(spec):
    assert_updates(Distribution(**spec.arguments()), spec.layout())


@st.composite
def wrapped_axes(draw) -> list[dict]:
    """0.9, periodic: outer padding lies outside the array, as wide as both ends allow."""
    grid, counts = draw(st.integers(1, 4)), []
    for _ in range(grid):
        counts.append(draw(st.integers(1, 4)))
    edges = [draw(st.integers(0, min(counts[i - 1], counts[i]))) for i in range(grid)]
    edges.append(edges[0])
    bounds = [sum(counts[:i]) for i in range(grid + 1)]
    common = {"dist_type": "b", "size": bounds[-1], "proc_grid_size": grid, "periodic": True}
    return [
        {**common, "proc_grid_rank": i, "start": bounds[i], "stop": bounds[i + 1],
         "padding": (edges[i], edges[i + 1])}
        for i in range(grid)
    ]  # fmt: skip


@settings(max_examples=200)
@given(st.lists(wrapped_axes(), min_size=1, max_size=2))
def test_the_old_wrap(axes):
    """`from_dim_data` of 0.9, in one and two dimensions."""
    per_rank = list(product(*axes))
    shapes = [tuple(d["stop"] - d["start"] + sum(d["padding"]) for d in dims) for dims in per_rank]
    layout = pieces(per_rank, shapes, old=True)
    distribution = Distribution.from_dim_data(per_rank, local_shapes=shapes, version="0.9.0")
    assert [distribution.local_shape(r) for r in range(layout.nprocs)] == shapes
    assert_updates(distribution, layout)


def test_the_old_wrap_cannot_be_said_now():
    common = {"dist_type": "b", "size": 4, "proc_grid_size": 1, "proc_grid_rank": 0}
    old = {**common, "start": 0, "stop": 4, "padding": (1, 1), "periodic": True}
    distribution = Distribution.from_dim_data([(old,)], version="0.9.0")
    with pytest.raises(ValueError):
        distribution.dim_data(0)
    assert distribution.dim_data(0, version="0.9.0")[0]["padding"] == (1, 1)


def test_an_empty_interior_is_not_filled():
    distribution = Distribution((4,), padding=2, periodic=True)
    assert distribution.halo_sends(0) == distribution.halo_receives(0) == []


def test_by_hand():
    """Example 2.2 of the document: cell 9 of rank 0 is cell 1 of rank 1, and so on."""
    distribution = Distribution((18,), nprocs=2, padding=1)
    assert distribution.halo_receives(0) == [(1, [((9, 10, 1),)])]
    assert distribution.halo_sends(1) == [(0, [((1, 2, 1),)])]


def test_a_huge_halo_costs_what_one_rank_moves():
    distribution = Distribution((6400,) * 3, grid_shape=(100,) * 3, padding=1)
    sent = distribution.halo_sends(505_050)
    assert len(sent) == 26
    cells = sum(prod(len(range(*part)) for part in box) for _, boxes in sent for box in boxes)
    assert cells == 66**3 - 64**3
