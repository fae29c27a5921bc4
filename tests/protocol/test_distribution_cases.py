"""Distributions by hand: equality, errors and defaults."""

import numpy as np
import pytest
from dappled.protocol import Dimension, Distribution, ProtocolError, num_owned_indices


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"shape": (4,), "dist": "n"}, {"shape": (4,), "dist": "b"}),
        ({"shape": (4, 6), "nprocs": 2, "dist": "bn"}, {"shape": (4, 6), "grid_shape": (2, 1)}),
        ({"shape": (5,), "nprocs": 4}, {"shape": (5,), "bounds": [[0, 2, 4, 5, 5]]}),
        ({"shape": (7,), "nprocs": 2, "padding": 1}, {"shape": (7,), "padding": [[1, 1, 1]]}),
        ({"shape": (7,), "nprocs": 2, "padding": 0}, {"shape": (7,), "nprocs": 2}),
        (
            {"shape": (7,), "nprocs": 2, "dist": ["c"]},
            {"shape": [7], "grid_shape": [2], "dist": "c"},
        ),
        ({"shape": (), "nprocs": 3}, {"shape": (), "dist": "", "nprocs": 3}),
        (
            {"shape": (3,), "dist": "n", "nprocs": 3},
            {"shape": (3,), "dist": ["n"], "nprocs": 3},
        ),
        ({"shape": np.array([4, 4])}, {"shape": (np.int8(4), 4)}),
    ],
)
def test_equal(one, other):
    assert Distribution(**one) == Distribution(**other)
    assert hash(Distribution(**one)) == hash(Distribution(**other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"shape": (4,), "nprocs": 2}, {"shape": (4,), "nprocs": 2, "dist": "c"}),
        ({"shape": (4,), "nprocs": 2}, {"shape": (4,), "nprocs": 1}),
        ({"shape": (4,), "nprocs": 2}, {"shape": (4,), "nprocs": 2, "padding": 1}),
        ({"shape": (4,), "nprocs": 2}, {"shape": (4,), "nprocs": 2, "periodic": True}),
        ({"shape": (4, 4), "grid_shape": (2, 1)}, {"shape": (4, 4), "grid_shape": (1, 2)}),
        ({"shape": (4,), "nprocs": 2}, {"shape": (4,), "bounds": [[0, 1, 4]]}),
        ({"shape": (), "nprocs": 3}, {"shape": (), "nprocs": 2}),
        ({"shape": (3,), "dist": "n", "nprocs": 3}, {"shape": (3,), "dist": "b", "nprocs": 3}),
        (
            {"shape": (2,), "dist": "u", "indices": [[[0, 1]]]},
            {"shape": (2,), "dist": "u", "indices": [[[1, 0]]]},
        ),
        (
            {"shape": (2,), "dist": "u", "indices": [[[0, 1]]]},
            {"shape": (2,), "dist": "u", "indices": [[[0, 1]]], "one_to_one": True},
        ),
    ],
)
def test_not_equal(one, other):
    assert Distribution(**one) != Distribution(**other)


def test_not_equal_to_strangers():
    assert Distribution((4,)) != (4,)
    assert Distribution((4,)) is not None and Distribution((4,)) != None  # noqa: E711


REFUSED = [
    ({"shape": (4,), "dist": "bb"}, None),
    ({"shape": (4,), "dist": "x"}, "L06"),
    ({"shape": (-1,)}, "L07"),
    ({"shape": (4.0,)}, "L07"),
    ({"shape": (True,)}, "L07"),
    ({"shape": (4,), "nprocs": 0}, None),
    ({"shape": (4,), "nprocs": 3, "grid_shape": (2,)}, "C02"),
    ({"shape": (4,), "grid_shape": (0,)}, "L08"),
    ({"shape": (4,), "grid_shape": (2, 2)}, None),
    ({"shape": (4, 4), "dist": "nb", "grid_shape": (2, 1)}, None),
    ({"shape": (4,), "dist": "c", "block_size": 0}, "L14"),
    ({"shape": (4,), "dist": "c", "nprocs": 2, "periodic": True}, "L13"),
    ({"shape": (4,), "dist": "u", "indices": [[[0, 1, 2, 3]]], "periodic": True}, "L13"),
    ({"shape": (4,), "periodic": 1}, "L13"),
    ({"shape": (4,), "padding": -1}, "L12"),
    ({"shape": (4,), "padding": 3}, "L12"),
    ({"shape": (4,), "nprocs": 4, "padding": 2}, "C05"),
    ({"shape": (4,), "nprocs": 2, "padding": [[0, 3, 0]]}, "C05"),
    ({"shape": (4,), "nprocs": 2, "padding": [[0, 1]]}, None),
    ({"shape": (4,), "nprocs": 2, "bounds": [[0, 4]]}, None),
    ({"shape": (4,), "bounds": [[0, 2, 5]]}, None),
    ({"shape": (4,), "bounds": [[1, 2, 4]]}, None),
    ({"shape": (4,), "bounds": [[0, 3, 2, 4]]}, None),
    ({"shape": (4,), "bounds": [[0, 2.0, 4]]}, None),
    ({"shape": (4,), "dist": "u"}, "L17"),
    ({"shape": (4,), "dist": "u", "indices": [[[0, 1, 1]]]}, "L17"),
    ({"shape": (0,), "dist": "u", "indices": [[[0]]]}, "L17"),
    ({"shape": (4,), "dist": "u", "indices": [[[0, 1], [1, 2]]], "one_to_one": True}, "C07"),
    ({"shape": (4,), "dist": "u", "indices": [[[0, 1], [2]]], "one_to_one": True}, "C07"),
    ({"shape": (4,), "dist": "u", "indices": [[[0]]], "one_to_one": 1}, "L18"),
    ({"shape": (4, 4), "dist": "bc", "block_size": [2, 2]}, None),
    ({"shape": (4, 4), "dist": "bc", "padding": [None, 1]}, None),
    ({"shape": (4, 4), "dist": "bc", "nprocs": 2**70}, None),
]


@pytest.mark.parametrize("arguments, rule", REFUSED, ids=lambda value: str(value))
def test_refused(arguments, rule):
    with pytest.raises(ProtocolError) as caught:
        Distribution(**arguments)
    assert rule is None or caught.value.rule == rule


@pytest.mark.parametrize(
    ("arguments", "grid"),
    [
        ({"shape": (4,)}, (1,)),
        ({"shape": (9,), "bounds": [[0, 1, 4, 9]]}, (3,)),
        ({"shape": (3,), "dist": "u", "indices": [[[0], [1], [2]]]}, (3,)),
        ({"shape": (9, 9), "padding": [[0, 1, 2, 0], None]}, (3, 1)),
        ({"shape": (100, 100), "nprocs": 16}, (4, 4)),
        ({"shape": (64, 64, 64), "nprocs": 64}, (4, 4, 4)),
        ({"shape": (100, 100), "dist": "nb", "nprocs": 6}, (1, 6)),
        ({"shape": (8, 8), "dist": "nc"}, (1, 1)),
    ],
)
def test_the_grid_is_chosen(arguments, grid):
    distribution = Distribution(**arguments)
    assert distribution.grid_shape == grid
    assert distribution.nprocs == int(np.prod(grid))


def test_scalar_options_are_for_the_axes_that_know_them():
    distribution = Distribution((8, 8), "bc", grid_shape=(2, 2), block_size=2, padding=1)
    first, second = distribution.dim_data(0)
    assert first["padding"] == (1, 1) and "block_size" not in first
    assert second["block_size"] == 2 and "padding" not in second


def test_padding_is_none_towards_and_on_an_empty_rank():
    distribution = Distribution((5,), nprocs=4, padding=1)
    widths = [distribution.dim_data(rank)[0].get("padding") for rank in range(4)]
    assert widths == [(1, 1), (1, 1), (1, 0), None]


def test_the_old_form_writes_padding_on_all_ranks_or_on_none():
    padded = Distribution((5,), nprocs=4, padding=1)
    widths = [padded.dim_data(rank, version="0.9.0")[0]["padding"] for rank in range(4)]
    assert widths == [(1, 1), (1, 1), (1, 0), (0, 0)]
    alone = Distribution((2,), bounds=[[0, 0, 2, 2]], padding=1)  # only one rank owns anything
    assert alone == Distribution((2,), bounds=[[0, 0, 2, 2]])
    assert not any("padding" in alone.dim_data(rank, version="0.9.0")[0] for rank in range(3))


def test_from_dim_data_reads_empty_dictionaries_with_shapes():
    block = {"dist_type": "b", "size": 5, "proc_grid_size": 2}
    per_rank = [
        ({}, {**block, "proc_grid_rank": 0, "start": 0, "stop": 3}),
        [{}, {**block, "proc_grid_rank": 1, "start": 3, "stop": 5}],
    ]
    made = Distribution.from_dim_data(per_rank, local_shapes=[(4, 3), [4, 2]])
    assert made == Distribution((4, 5), grid_shape=(1, 2))
    for shapes, rule in ((None, "L05"), ([(4, 3), (4, 3)], "L11"), ([(4, 3), (5, 2)], "C01")):
        with pytest.raises(ProtocolError) as caught:
            Distribution.from_dim_data(per_rank, local_shapes=shapes)
        assert caught.value.rule == rule


def test_from_dim_data_of_zero_dimensions():
    made = Distribution.from_dim_data([(), (), ()])
    assert made == Distribution((), nprocs=3)


BAD_INDICES = [(4,), (-1,), (1.0,), ("1",), (None,), (), (1, 1), (2**70,), None, "1", range(2**62)]


@pytest.mark.parametrize("index", BAD_INDICES)
def test_bad_indices(index):
    distribution = Distribution((4,), nprocs=2)
    for ask in (
        lambda: distribution.owner(index),
        lambda: distribution.owners(index),
        lambda: distribution.global_index(0, index),
        lambda: distribution.rank(index),
    ):
        with pytest.raises(IndexError):
            ask()


@pytest.mark.parametrize("rank", [-1, 2, 2**70, 1.0, "1", None])
def test_bad_ranks(rank):
    distribution = Distribution((4,), nprocs=2)
    for ask in (
        distribution.coords,
        distribution.local_shape,
        distribution.dim_data,
        distribution.halo_sends,
        distribution.halo_receives,
        lambda rank: distribution.global_index(rank, (0,)),
        lambda rank: distribution.sends(rank, distribution),
        lambda rank: distribution.receives(rank, distribution),
    ):
        with pytest.raises(IndexError):
            ask(rank)


@pytest.mark.parametrize("index", [1.0, "1", None, 2**70])
def test_bad_dimension_indices(index):
    dimension = Dimension({}, 4)
    for ask in (dimension.local_index, dimension.global_index):
        with pytest.raises(IndexError):
            ask(index)


@pytest.mark.parametrize("version", ["0.8.0", "2.0.0", "", "0.9", 9, None, b"0.10.0"])
def test_unknown_versions(version):
    distribution = Distribution((4,))
    for ask in (
        lambda: distribution.dim_data(0, version=version),
        lambda: Distribution.from_dim_data([({},)], local_shapes=[(4,)], version=version),
        lambda: Dimension({}, 4, version=version),
        lambda: num_owned_indices({}, 4, version=version),
    ):
        with pytest.raises(ProtocolError) as caught:
            ask()
        assert caught.value.rule == "L02"


def test_labels_are_not_positions():
    distribution = Distribution((4,), "u", indices=[[[-3, 7], [7, 0, 2**40]]])
    assert distribution.owner((-3,)) == (0, (0,))
    assert distribution.owners((7,)) == [(0, (1,)), (1, (0,))]
    assert distribution.owner((2**40,)) == (1, (2,))
    with pytest.raises(IndexError):
        distribution.owner((1,))


def test_a_zero_dimensional_value_is_everywhere():
    distribution = Distribution((), nprocs=3)
    assert distribution.owner(()) == (0, ())
    assert distribution.owners(()) == [(0, ()), (1, ()), (2, ())]
    assert [distribution.dim_data(rank) for rank in range(3)] == [()] * 3
