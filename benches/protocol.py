"""Cost of distributions over 100 and over 1,000,000 ranks, which should be equal.

Each figure is the best of several runs, in microseconds per call; `ratio` is that of 1,000,000 to
100 ranks. Pieces are 64 x 64 x 64, blocks of the block-cyclic distribution are 32.
"""

import timeit
from collections.abc import Callable

from dappled.protocol import Distribution

PIECE, BLOCK = 64, 32
GRIDS = {100: (5, 5, 4), 1_000_000: (100, 100, 100)}
REPEATS = 7


def microseconds(work: Callable[[], object]) -> float:
    """Returns the best time of one call."""
    timer = timeit.Timer(work)
    number, _ = timer.autorange()
    return min(timer.repeat(REPEATS, max(1, number // 10))) / max(1, number // 10) * 1e6


def workloads(grid: tuple[int, ...]) -> dict[str, Callable[[], object]]:
    """The calls to time, with local pieces of one size on a process grid."""
    shape = tuple(PIECE * ranks for ranks in grid)
    nprocs = grid[0] * grid[1] * grid[2]
    inner = tuple(ranks // 2 for ranks in grid)
    block = Distribution(shape, grid_shape=grid)
    padded = Distribution(shape, grid_shape=grid, padding=1)
    cyclic = Distribution(shape, "ccc", grid_shape=grid, block_size=BLOCK)
    rank = block.rank(inner)
    index = tuple(size // 2 + 1 for size in shape)
    return {
        "create, grid chosen": lambda: Distribution(shape, nprocs=nprocs),
        "create, padded": lambda: Distribution(shape, grid_shape=grid, padding=1),
        "owner, block": lambda: block.owner(index),
        "owner, block-cyclic": lambda: cyclic.owner(index),
        "halo_sends": lambda: padded.halo_sends(rank),
        "halo_receives": lambda: padded.halo_receives(rank),
        "sends, block to block-cyclic": lambda: block.sends(rank, cyclic),
        "receives, block to block-cyclic": lambda: block.receives(rank, cyclic),
        "slice": lambda: block.slice((slice(1, -1), slice(None, None, -2), 3)),
        "dim_data": lambda: block.dim_data(rank),
    }


def main() -> None:
    """Prints the table."""
    small, large = (workloads(grid) for grid in GRIDS.values())
    print(f"{'microseconds per call':34} {'100 ranks':>10} {'1,000,000':>10} {'ratio':>6}")
    for name in small:
        few, many = microseconds(small[name]), microseconds(large[name])
        print(f"{name:34} {few:10.2f} {many:10.2f} {many / few:6.2f}")


if __name__ == "__main__":
    main()
