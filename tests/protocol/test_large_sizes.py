"""Very large arrays and grids, with sizes up to 2**62."""

from math import prod

import pytest
from dappled.protocol import Distribution
from hypothesis import given, settings
from hypothesis import strategies as st

HUGE = 2**62
MOST = 2**63 - 1
MANY = 10**6
each = settings(max_examples=300)
sizes = st.integers(1, MOST) | st.integers(MOST - 20, MOST) | st.integers(1, 1000)
grids = st.integers(1, 50) | st.integers(1, MANY) | st.integers(1, HUGE)
bounds = st.none() | st.integers(-(2**65), 2**65) | st.integers(-20, 20)
steps = (st.none() | bounds).filter(lambda step: step != 0)


def owner(dist: str, size: int, grid: int, block_size: int, index: int) -> tuple[int, int]:
    """The rank and the local position, by the formulas of the protocol."""
    if dist == "b":
        return divmod(index, -(-size // grid))
    block, within = divmod(index, block_size)
    return block % grid, block // grid * block_size + within


@each
@given(st.sampled_from("bc"), sizes, grids, sizes, st.data())
def test_owners(dist, size, grid, block_size, data):
    distribution = Distribution((size,), dist, nprocs=grid, block_size=block_size)
    index = data.draw(st.integers(0, size - 1))
    rank, local = owner(dist, size, grid, block_size, index)
    assert distribution.owner((index,)) == (rank, (local,))
    assert distribution.global_index(rank, (local,)) == (index,)
    assert local < distribution.local_shape(rank)[0] <= size
    start = distribution.dim_data(rank)[0]["start"]
    assert start == (rank * -(-size // grid) if dist == "b" else rank * block_size)


@each
@given(
    st.sampled_from("bc"), sizes, grids, sizes, st.builds(slice, bounds, bounds, steps), st.data()
)
def test_views(dist, size, grid, block_size, key, data):
    seen = Distribution((size,), dist, nprocs=grid, block_size=block_size).slice(key)
    chosen = range(size)[key]
    assert seen.shape == (len(chosen),) and seen.nprocs == grid
    if not chosen:
        return
    at = data.draw(st.integers(0, len(chosen) - 1) | st.just(len(chosen) - 1))
    rank, local = seen.owner((at,))
    assert rank == owner(dist, size, grid, block_size, chosen[at])[0]
    assert seen.global_index(rank, local) == (at,)
    if dist == "b":
        chunk = -(-size // grid)
        held = range(rank * chunk, min((rank + 1) * chunk, size))
        assert local == (at - first_inside(chosen, held),)


def first_inside(chosen: range, held: range) -> int:
    """The first position of `chosen` that lies in `held`, given that one does."""
    if chosen.step > 0:
        return max(0, -((chosen.start - held.start) // chosen.step))
    return max(0, -(-(chosen.start - (held.stop - 1)) // -chosen.step))


@each
@given(sizes, st.integers(1, 50), st.integers(1, 50), st.data())
def test_block_to_block_moves_what_a_rank_owns(size, grid, other, data):
    one, two = Distribution((size,), nprocs=grid), Distribution((size,), nprocs=other)
    rank = data.draw(st.integers(0, grid - 1))
    sent = sum(len(range(*box[0])) for _, boxes in one.sends(rank, two) for box in boxes)
    assert sent == one.local_shape(rank)[0]
    got = sum(len(range(*box[0])) for _, boxes in two.receives(rank, one) for box in boxes)
    assert got == one.local_shape(rank)[0]


@pytest.mark.parametrize("rank", [0, 1, 999_999, 123_456])
def test_a_million_ranks_in_three_dimensions(rank):
    shape = (2**40, 1000, 7 * 10**9)
    distribution = Distribution(shape, "bcb", grid_shape=(100, 100, 100), padding=[2, None, 1])
    coords = (rank // 10_000, rank // 100 % 100, rank % 100)
    assert distribution.coords(rank) == coords and distribution.rank(coords) == rank
    first, second, third = distribution.dim_data(rank)
    chunk = -(-(2**40) // 100)
    assert first["start"] == max(0, coords[0] * chunk - 2)
    assert first["stop"] == min(2**40, (coords[0] + 1) * chunk + 2)
    assert second["start"] == coords[1]
    assert third["proc_grid_rank"] == coords[2] and third["padding"] == (1, 1)
    assert distribution.owner((first["start"] + 2, coords[1], third["start"] + 1))[0] == rank


def test_the_grid_of_a_million_ranks():
    assert Distribution((10**6,) * 3, nprocs=MANY).grid_shape == (100, 100, 100)
    assert prod(Distribution((HUGE,) * 6, nprocs=HUGE).grid_shape) == HUGE


def test_a_start_beyond_64_bits():
    distribution = Distribution((10,), "c", nprocs=8, block_size=HUGE)
    assert distribution.dim_data(7)[0]["start"] == 7 * HUGE
    assert [distribution.local_shape(rank) for rank in (0, 7)] == [(10,), (0,)]


def test_equality_and_hash_of_huge_views():
    """Held without a table: neither needs one."""
    for dist in "bc":
        one, two = (
            Distribution((HUGE,), dist, nprocs=MANY).slice(slice(None, None, -3)) for _ in range(2)
        )
        assert one == two and hash(one) == hash(two)
        assert one != two.slice(slice(1, None))


@pytest.mark.parametrize("shape, dist", [((), ""), ((4,), "n")])
def test_more_owners_than_memory(shape, dist):
    distribution = Distribution(shape, dist, nprocs=2**61)
    assert distribution.owner((0,) * len(shape))[0] == 0
    with pytest.raises((MemoryError, ValueError, OverflowError)):
        distribution.owners((0,) * len(shape))


def test_a_huge_table_of_indices_is_refused():
    seen = Distribution((HUGE,), "c", nprocs=5).slice(slice(None, None, -1))
    with pytest.raises((MemoryError, ValueError)):
        seen.dim_data(0)
