"""Every example of the protocol's documents is accepted and mapped as documented."""

from itertools import product

import numpy as np
import pytest
from dappled.protocol import Distribution, num_owned_indices, validate, validate_all

from tests.protocol.document_examples import EXAMPLES, Example
from tests.protocol.exports import assert_plain, canonical, comparable
from tests.protocol.oracle import Layout, halo, pieces

each = pytest.mark.parametrize("example", EXAMPLES, ids=str)


def layout_of(example: Example) -> Layout:
    """What the oracle makes of the dictionaries."""
    shapes = [offered["buffer"].shape for offered in example.exports]
    dim_data = [offered["dim_data"] for offered in example.exports]
    return pieces(dim_data, shapes, example.old)


@each
def test_every_export_is_accepted(example):
    for offered in example.exports:
        assert validate(offered) is None


@each
def test_together_they_are_the_stated_distribution(example):
    distribution = validate_all(example.exports)
    assert distribution.shape == tuple(example.raw["shape"])
    assert distribution.dist == example.raw["dist"]
    assert distribution.grid_shape == tuple(example.raw["grid_shape"])
    assert distribution.nprocs == len(example.exports)


@each
def test_every_process_is_where_it_says(example):
    distribution = validate_all(example.exports)
    for rank, process in enumerate(example.raw["processes"]):
        assert distribution.local_shape(rank) == tuple(process["local_shape"])
        if "coords" in process:
            assert distribution.coords(rank) == tuple(process["coords"])
            assert distribution.rank(process["coords"]) == rank


@each
def test_every_element_is_owned_as_stated(example):
    distribution, layout = validate_all(example.exports), layout_of(example)
    buffers = [offered["buffer"] for offered in example.exports]
    for index in product(*map(range, distribution.shape)):
        rank, local = distribution.owner(index)
        assert [(rank, local)] == layout.owners(index) == distribution.owners(index)
        assert distribution.global_index(rank, local) == index
        if example.full_array is not None:
            assert buffers[rank][local] == example.full_array[index]


@each
def test_pieces_hold_the_mapped_elements(example):
    distribution = validate_all(example.exports)
    for rank, offered in enumerate(example.exports):
        buffer = offered["buffer"]
        for local in product(*map(range, buffer.shape)):
            index = distribution.global_index(rank, local)
            owner, place = distribution.owner(index)
            assert buffer[local] == example.exports[owner]["buffer"][place]
            if example.full_array is not None:
                assert buffer[local] == example.full_array[index]


@each
def test_arguments_make_the_same_distribution(example):
    distribution = validate_all(example.exports)
    made = Distribution(**example.raw["arguments"])
    assert made == distribution
    assert hash(made) == hash(distribution)


@each
def test_dim_data_gives_back_what_was_read(example):
    distribution = validate_all(example.exports)
    for rank, offered in enumerate(example.exports):
        if not example.old:
            found = distribution.dim_data(rank)
            assert_plain(found)
            assert comparable(found) == canonical(offered["dim_data"])


@each
def test_dim_data_alone_makes_the_same_distribution(example):
    distribution = validate_all(example.exports)
    dim_data = [offered["dim_data"] for offered in example.exports]
    made = Distribution.from_dim_data(dim_data, version=example.raw["version"])
    assert made == distribution


@each
def test_owned_counts_sum_to_the_size(example):
    version = example.raw["version"]
    dims = [offered["dim_data"] for offered in example.exports]
    for axis, size in enumerate(example.raw["shape"]):
        row = {d[axis].get("proc_grid_rank", 0): d[axis] for d in dims}
        counts = [num_owned_indices(entries, version=version) for entries in row.values()]
        assert sum(counts) == size
        assert len(counts) == example.raw["grid_shape"][axis]


@pytest.mark.parametrize("source", ["000 §2.2", "002 Block with padding", "003 7.2"])
def test_padding_copies_what_the_neighbour_owns(source):
    example = next(e for e in EXAMPLES if e.raw["source"].startswith(source))
    buffers = [offered["buffer"] for offered in example.exports]
    sources = halo(layout_of(example))
    assert sources == {(0, (9,)): (1, (1,)), (1, (0,)): (0, (8,))}
    for (rank, local), (owner, place) in sources.items():
        assert buffers[rank][local] == buffers[owner][place]


def test_the_old_padded_example_is_the_new_one():
    """0.9 writes 0..9 and 9..18 where 0.10 writes 0..10 and 8..18."""
    new, _, old = (
        validate_all(e.exports) for e in EXAMPLES if e.raw["title"] == "Block with padding"
    )
    assert new == old
    assert [old.dim_data(rank)[0]["start"] for rank in range(2)] == [0, 8]
    assert [new.dim_data(rank, version="0.9.0")[0]["start"] for rank in range(2)] == [0, 9]


def test_the_table_of_paddings():
    distribution = Distribution((40,), "b", nprocs=4, padding=[[4, 1, 2, 3, 0]])
    widths = [distribution.dim_data(rank)[0]["padding"] for rank in range(4)]
    assert widths == [(4, 1), (1, 2), (2, 3), (3, 0)]
    bounds = [(d["start"], d["stop"]) for d in (distribution.dim_data(r)[0] for r in range(4))]
    assert bounds == [(0, 11), (9, 22), (18, 33), (27, 40)]


def test_the_partial_block_goes_to_the_next_in_turn():
    distribution = Distribution((7,), "c", nprocs=2, block_size=2)
    dims = [distribution.dim_data(rank)[0] for rank in range(2)]
    assert [num_owned_indices(entries) for entries in dims] == [4, 3]


def test_block_size_may_be_absent():
    entries = {"dist_type": "c", "size": 7, "proc_grid_size": 2, "proc_grid_rank": 1, "start": 1}
    assert num_owned_indices(entries) == 3


@pytest.mark.parametrize("extent", [0, 7, np.int64(3), 2**62])
def test_an_empty_dictionary_owns_the_buffer(extent):
    assert num_owned_indices({}, extent) == extent
