"""Redistribution: every element moves once, to the right place."""

from math import prod

import numpy as np
import pytest
from dappled.protocol import Distribution
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.protocol.messages import moves
from tests.protocol.oracle import Layout, exchange, filled, view
from tests.protocol.strategies import keys, shapes, specs

each = settings(max_examples=400)
Made = tuple[Distribution, Layout]


@st.composite
def distributions(draw, shape: tuple[int, ...]) -> Made:
    """Any distribution of this shape, sometimes a view of a larger one."""
    if draw(st.booleans()):
        spec = draw(specs(shape=shape, exact=True))
        return Distribution(**spec.arguments()), spec.layout()
    key = tuple(draw(covering(size)) for size in shape)
    base = tuple(most for most, _ in key)
    at = draw(st.integers(0, len(shape)))
    spec = draw(specs(shape=(*base[:at], 3, *base[at:]), exact=True))
    items = [part for _, part in key]
    whole_key = (*items[:at], draw(st.integers(-3, 2)), *items[at:])
    return Distribution(**spec.arguments()).slice(whole_key), view(spec.layout(), whole_key)


@st.composite
def covering(draw, size: int) -> tuple[int, slice]:
    """A longer axis, and a slice of it with `size` elements."""
    step, before, after = draw(st.integers(1, 3)), draw(st.integers(0, 2)), draw(st.integers(0, 2))
    last = before + (size - 1) * step
    base = max(last, 0) + 1 + after
    if draw(st.booleans()):
        return base, slice(before, last + 1 if size else before, step)
    return base, slice(last, before - 1 if before else None, -step) if size else slice(0, 0, -1)


def anywhere(layout: Layout) -> bool:
    """Does every rank hold every element?"""
    return layout.whole or (not layout.axes and layout.holder is None)


@each
@given(st.data(), shapes(most_dims=3))
def test_every_element_moves_once(data, shape):
    one, one_layout = data.draw(distributions(shape))
    two, two_layout = data.draw(distributions(shape))
    ranks = max(one.nprocs, two.nprocs)
    found = moves(lambda r: one.sends(r, two), lambda r: one.receives(r, two), ranks)
    meant = [(sender, place) for _, sender, place in exchange(one_layout, two_layout)]
    if anywhere(one_layout):
        found = [((0, cell), place) for (_, cell), place in found]
    assert sorted(found) == sorted(meant)


@settings(max_examples=150)
@given(st.data(), specs(exact=True))
def test_data_arrives(data, spec):
    array = np.random.default_rng(prod(spec.shape)).random(spec.shape)
    other = data.draw(specs(shape=spec.shape, exact=True))
    one, two = Distribution(**spec.arguments()), Distribution(**other.arguments())
    source = [filled(spec.layout(), array, rank) for rank in range(one.nprocs)]
    target = [np.full(two.local_shape(rank), -1.0) for rank in range(two.nprocs)]
    ranks = max(one.nprocs, two.nprocs)
    for (sender, cell), (rank, place) in moves(
        lambda r: one.sends(r, two), lambda r: one.receives(r, two), ranks
    ):
        target[rank][place] = source[sender][cell]
    for rank, piece in enumerate(target):
        np.testing.assert_array_equal(piece, filled(other.layout(), array, rank))


@settings(max_examples=150)
@given(st.data(), shapes(most_dims=3))
def test_a_view_is_exchanged_with_itself_at_home(data, shape):
    one, layout = data.draw(distributions(shape))
    for rank in range(one.nprocs):
        for messages in (one.sends(rank, one), one.receives(rank, one)):
            assert {peer for peer, _ in messages} <= {rank} or anywhere(layout)


@each
@given(st.data(), specs(exact=True))
def test_views_of_both_sides(data, spec):
    """The same key on both sides keeps the exchange right."""
    other = data.draw(specs(shape=spec.shape, exact=True))
    key = data.draw(keys(spec.shape))
    one = Distribution(**spec.arguments()).slice(key)
    two = Distribution(**other.arguments()).slice(key)
    ranks = max(one.nprocs, two.nprocs)
    found = moves(lambda r: one.sends(r, two), lambda r: one.receives(r, two), ranks)
    targets = view(other.layout(), key)
    owned = [place for index in targets.indices() for place in targets.owners(index)]
    assert sorted(place for _, place in found) == sorted(owned)


def test_ranks_of_the_other_side_have_no_part():
    few, many = Distribution((4,), nprocs=2), Distribution((4,), nprocs=4)
    assert few.sends(3, many) == [] and many.receives(3, few) == []
    assert few.receives(3, many) != [] and many.sends(3, few) != []
    for ask in (few.sends, few.receives):
        with pytest.raises(IndexError):
            ask(4, many)


def test_other_shapes_and_inexact_labels_are_refused():
    four = Distribution((4,), nprocs=2)
    labelled = Distribution((4,), "u", indices=[[[0, 1, 2, 3], [3, 4]]])
    for one, two in ((four, Distribution((5,))), (four, labelled), (labelled, four)):
        for ask in (one.sends, one.receives):
            with pytest.raises(ValueError):
                ask(0, two)


def test_strangers_are_refused():
    distribution = Distribution((4,))
    for stranger in (None, 4, (4,), "b"):
        with pytest.raises((TypeError, ValueError)):
            distribution.sends(0, stranger)


@pytest.mark.parametrize("rank", [0, 17, 999_999])
def test_a_huge_exchange_costs_what_one_rank_moves(rank):
    """A million ranks with 64 cubed each: block to block-cyclic and back."""
    shape, grid = (6400,) * 3, (100,) * 3
    one = Distribution(shape, grid_shape=grid)
    two = Distribution(shape, "ccc", grid_shape=grid, block_size=32)
    for source, target in ((one, two), (two, one)):
        sent = source.sends(rank, target)
        cells = sum(prod(len(range(*part)) for part in box) for _, boxes in sent for box in boxes)
        assert cells == 64**3
