"""The distribution of a view: NumPy's shape, and no element moves."""

from itertools import product
from math import prod

import numpy as np
import pytest
from dappled.protocol import Distribution, validate_all
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.protocol.exports import assert_plain, exports_of
from tests.protocol.oracle import Layout, view
from tests.protocol.oracle.views import canonical
from tests.protocol.strategies import keys, specs

each = settings(max_examples=400)


def numbered(shape: tuple[int, ...]) -> np.ndarray:
    return np.arange(prod(shape)).reshape(shape)


def assert_is(distribution: Distribution, layout: Layout) -> None:
    """Everything that can be asked of a view's distribution."""
    assert distribution.shape == layout.shape
    assert distribution.nprocs == layout.nprocs
    for index in product(*map(range, layout.shape)):
        owners = layout.owners(index)
        assert distribution.owners(index) == owners
        assert distribution.owner(index) == owners[0]
        for rank, local in owners:
            assert distribution.global_index(rank, local) == index
    if layout.axes:
        assert [distribution.local_shape(r) for r in range(layout.nprocs)] == [
            layout.local_shape(r) for r in range(layout.nprocs)
        ]
    if layout.axes and not layout.whole:
        assert distribution.grid_shape == layout.grid_shape
        assert prod(distribution.grid_shape) == distribution.nprocs


def assert_can_be_exported(distribution: Distribution) -> None:
    """Its dictionaries keep all rules and describe it."""
    for rank in range(distribution.nprocs):
        assert_plain(distribution.dim_data(rank))
    again = validate_all(exports_of(distribution))
    assert again == distribution and hash(again) == hash(distribution)


@each
@given(st.data(), specs(exact=True))
def test_views(data, spec):
    key = data.draw(keys(spec.shape))
    layout = view(spec.layout(), key)
    assert layout.shape == numbered(spec.shape)[key].shape
    seen = Distribution(**spec.arguments()).slice(key)
    assert_is(seen, layout)
    if not layout.whole and layout.axes:
        assert_can_be_exported(seen)


@each
@given(st.data(), specs(exact=True))
def test_views_of_views(data, spec):
    layout, seen = spec.layout(), Distribution(**spec.arguments())
    array = numbered(spec.shape)
    for _ in range(data.draw(st.integers(2, 3))):
        key = data.draw(keys(layout.shape))
        layout, seen, array = view(layout, key), seen.slice(key), array[key]
    assert seen.shape == array.shape
    assert_is(seen, layout)
    if not layout.whole and layout.axes:
        assert_can_be_exported(seen)


@each
@given(st.data(), specs(exact=True, whole=False))
def test_block_with_a_positive_step_stays_block(data, spec):
    key = data.draw(keys(spec.shape, ints=False))
    seen = Distribution(**spec.arguments()).slice(key)
    kinds = iter(spec.axes)
    for item, found in zip(canonical(key, len(spec.axes)), seen.dist, strict=True):
        axis = None if item is None else next(kinds)
        if axis is not None and axis.kind in "bn" and (item.step or 1) > 0:
            assert found in "bn"
        if axis is None:
            assert found in "bn"


@each
@given(specs(exact=True))
def test_a_full_slice_changes_nothing(spec):
    distribution = Distribution(**spec.arguments())
    keys = [..., (), *([slice(None), (slice(0, spec.shape[0]), ...)] if spec.shape else [])]
    for key in keys:
        assert distribution.slice(key) == distribution


@each
@given(st.data(), specs(whole=False))
def test_labels_must_be_exact(data, spec):
    if spec.layout().exact or 0 in spec.shape:
        return
    at = data.draw(st.sampled_from([i for i, a in enumerate(spec.layout().axes) if not a.exact]))
    key = (*[slice(None)] * at, slice(0, 1))
    with pytest.raises(ValueError):
        Distribution(**spec.arguments()).slice(key)


def test_replicated_stays_replicated():
    distribution = Distribution((4, 5), "nn", nprocs=3)
    seen = distribution.slice((slice(1, 3), 2, None))
    assert seen.is_whole and seen.shape == (2, 1)
    assert [rank for rank, _ in seen.owners((0, 0))] == [0, 1, 2]


def test_an_axis_removed_multiplies_the_next_one():
    distribution = Distribution((4, 6, 8), grid_shape=(2, 3, 2))
    assert distribution.slice(3).grid_shape == (6, 2)
    assert distribution.slice((slice(None), 5)).grid_shape == (2, 6)
    assert distribution.slice((..., 0)).grid_shape == (2, 6)
    assert distribution.slice((1, 2)).grid_shape == (12,)
    assert distribution.slice((1, None, slice(2), 0)).grid_shape == (1, 12)


def test_a_zero_dimensional_view_is_held_by_its_owner():
    distribution = Distribution((4, 6), grid_shape=(2, 3))
    seen = distribution.slice((3, 2))
    assert seen.shape == () and seen.nprocs == 6
    assert seen.owner(()) == (4, ()) and seen.owners(()) == [(4, ())]
    assert [seen.dim_data(rank) for rank in range(6)] == [()] * 6


def test_a_newaxis_beside_no_other_axis_takes_the_grid():
    seen = Distribution((4,), nprocs=4).slice((2, None, None))
    assert seen.shape == (1, 1) and prod(seen.grid_shape) == 4
    assert seen.owners((0, 0)) == [(2, (0, 0))]


def test_a_huge_view_costs_nothing():
    seen = Distribution((2**62,), "c", nprocs=10**6).slice(slice(None, None, -3))
    assert seen.shape == (-(-(2**62) // 3),)
    base = 2**62 - 1 - 3 * 10**9
    assert seen.owner((10**9,))[0] == base % 10**6


BAD = [
    4, -5, 2**70, -(2**70), (0, 0, 0), (..., ...), 1.0, "a", [0, 1], (0, 1.5), (slice(None),) * 3,
    np.array([0]), {}, b"a", object(),
]  # fmt: skip


@pytest.mark.parametrize("key", BAD, ids=lambda key: str(key)[:20])
def test_bad_keys(key):
    with pytest.raises(IndexError):
        Distribution((4, 5), nprocs=2).slice(key)


@pytest.mark.parametrize("key", [slice(None, None, 0), (slice(None), slice(1, 2, 0))])
def test_a_step_of_zero(key):
    with pytest.raises(ValueError):
        Distribution((4, 5), nprocs=2).slice(key)


@pytest.mark.parametrize("part", [1.5, "a", [], (1,)])
def test_slices_of_strangers(part):
    """NumPy says TypeError here, of all its bad keys."""
    for key in (slice(part), slice(part, None), slice(None, None, part)):
        with pytest.raises((TypeError, IndexError)):
            Distribution((4, 5), nprocs=2).slice(key)
