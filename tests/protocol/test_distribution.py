"""Distributions against the oracle: owners and local indices."""

import copy
import pickle
from itertools import product

import numpy as np
import pytest
from dappled.protocol import Dimension, Distribution, ProtocolError, validate_all
from hypothesis import given, settings

from tests.protocol.exports import assert_plain, comparable, exports_of
from tests.protocol.specs import Spec
from tests.protocol.strategies import specs

each = settings(max_examples=250)


def made(spec: Spec) -> Distribution:
    return Distribution(**spec.arguments())


def whole(spec: Spec) -> bool:
    """No description in the protocol: every rank holds all."""
    return spec.copies > 1 and bool(spec.axes)


@each
@given(specs())
def test_repr_shows_the_constructor(spec):
    distribution = made(spec)
    assert distribution.shape == spec.shape and type(distribution.shape) is tuple
    assert distribution.dist == spec.dist and type(distribution.dist) is str
    assert distribution.nprocs == spec.nprocs and type(distribution.nprocs) is int
    if not whole(spec):
        assert distribution.grid_shape == spec.grid_shape
    if spec.axes:
        assert distribution.is_whole is whole(spec)


@each
@given(specs())
def test_coords_and_rank_are_inverse(spec):
    distribution, layout = made(spec), spec.layout()
    if whole(spec) or not spec.axes:
        return
    for rank in range(spec.nprocs):
        assert distribution.coords(rank) == layout.coords(rank)
        assert distribution.rank(distribution.coords(rank)) == rank


@each
@given(specs())
def test_local_shapes(spec):
    distribution, layout = made(spec), spec.layout()
    for rank in range(spec.nprocs):
        assert distribution.local_shape(rank) == layout.local_shape(rank)


@each
@given(specs())
def test_owners(spec):
    distribution, layout = made(spec), spec.layout()
    for index in layout.indices():
        owners = layout.owners(index)
        assert distribution.owners(index) == owners
        assert distribution.owner(index) == owners[0]
        for rank, local in owners:
            assert distribution.global_index(rank, local) == index


@each
@given(specs())
def test_global_index_of_every_cell(spec):
    distribution, layout = made(spec), spec.layout()
    for rank in range(spec.nprocs):
        rows = layout.rows(rank)
        for local in product(*(range(len(row)) for row in rows)):
            index = tuple(row[at][0] for row, at in zip(rows, local, strict=True))
            assert distribution.global_index(rank, local) == index


@each
@given(specs())
def test_missing_elements_raise_index_error(spec):
    distribution, layout = made(spec), spec.layout()
    for rank in range(spec.nprocs):
        shape = layout.local_shape(rank)
        for axis, extent in enumerate(shape):
            for wrong in (-1, extent, 2**70):
                local = tuple(wrong if i == axis else 0 for i in range(len(shape)))
                with pytest.raises(IndexError):
                    distribution.global_index(rank, local)
    for axis, found in enumerate(layout.axes):
        for wrong in {-1, found.size, 2**62, -(2**70)} - set(found.holders):
            index = [next(iter(a.holders), 0) for a in layout.axes]
            with pytest.raises(IndexError):
                distribution.owner([wrong if i == axis else v for i, v in enumerate(index)])
            with pytest.raises(IndexError):
                distribution.owners([wrong if i == axis else v for i, v in enumerate(index)])


@each
@given(specs())
def test_dim_data_is_canonical(spec):
    distribution = made(spec)
    for rank in range(spec.nprocs):
        if whole(spec):
            with pytest.raises(ProtocolError, match="C02"):
                distribution.dim_data(rank)
            continue
        found = distribution.dim_data(rank)
        assert_plain(found)
        assert comparable(found) == comparable(spec.dim_data(rank))


@each
@given(specs())
def test_dim_data_makes_it_again(spec):
    distribution = made(spec)
    if whole(spec):
        return
    dim_data = [distribution.dim_data(rank) for rank in range(spec.nprocs)]
    assert validate_all(exports_of(distribution)) == distribution
    again = Distribution.from_dim_data(dim_data)
    assert again == distribution and hash(again) == hash(distribution)
    shapes = [distribution.local_shape(rank) for rank in range(spec.nprocs)]
    assert Distribution.from_dim_data(dim_data, local_shapes=shapes) == distribution


@each
@given(specs())
def test_the_old_form(spec):
    distribution = made(spec)
    if whole(spec):
        return
    if not spec.old:
        with pytest.raises(ProtocolError):
            [distribution.dim_data(rank, version="0.9.0") for rank in range(spec.nprocs)]
        return
    dim_data = [distribution.dim_data(rank, version="0.9.0") for rank in range(spec.nprocs)]
    for rank, dims in enumerate(dim_data):
        assert_plain(dims)
        written = [d for d, axis in zip(dims, spec.axes, strict=True) if axis.kind != "n"]
        meant = [
            d
            for d, axis in zip(spec.dim_data(rank, old=True), spec.axes, strict=True)
            if axis.kind != "n"
        ]
        assert comparable(written) == comparable(meant)
    assert Distribution.from_dim_data(dim_data, version="0.9.0") == distribution
    assert validate_all(exports_of(distribution, "0.9.0")) == distribution


@each
@given(specs())
def test_copies_are_equal(spec):
    distribution = made(spec)
    for again in (
        made(spec),
        copy.copy(distribution),
        copy.deepcopy(distribution),
        pickle.loads(pickle.dumps(distribution)),
    ):
        assert again == distribution
        assert (again != distribution) is False
        assert hash(again) == hash(distribution)
        assert (again.dist, again.nprocs) == (distribution.dist, distribution.nprocs)
    assert repr(distribution).startswith("Distribution(")
    assert str(spec.shape) in repr(distribution)


@each
@given(specs(), specs())
def test_equality_compares_dictionaries(one, other):
    if whole(one) or whole(other):
        return
    same = (one.shape, one.grid_shape, one.nprocs) == (other.shape, other.grid_shape, other.nprocs)
    same = same and all(
        comparable(one.dim_data(rank)) == comparable(other.dim_data(rank))
        for rank in range(one.nprocs)
    )
    assert (made(one) == made(other)) is same


@each
@given(specs(whole=False))
def test_one_dimension(spec):
    for axis in spec.axes:
        for coordinate in range(axis.grid):
            assert_dimension(axis, coordinate)


def assert_dimension(axis, coordinate):
    """`Dimension` maps the positions of the buffer, padding included."""
    cells = axis.axis().cells[coordinate]
    dimension = Dimension(axis.entries(coordinate), len(cells))
    assert dimension.size == axis.size
    assert dimension.owned == len(axis.owned(coordinate))
    for local, (index, _) in enumerate(cells):
        assert dimension.global_index(local) == index
        assert dimension.local_index(index) == local
    for wrong in (-1, len(cells), 2**70):
        with pytest.raises(IndexError):
            dimension.global_index(wrong)
    held = {index for index, _ in cells}
    for index in set(range(-2, axis.size + 2)) - held | {2**70}:
        with pytest.raises(IndexError):
            dimension.local_index(np.int64(index) if abs(index) < 2**40 else index)
