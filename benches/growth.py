"""Cost must grow as the work grows: `python benches/growth.py [sizes|loops]`.

Sizes: how many times as fast as NumPy each workload is at 1e6, 1e7 and 1e8 elements; the last may
be a third less than the first. Loops: microseconds of CPU an iteration, at the beginning and at the
end of 100,000, which are to be the same, and the memory that is left behind.
"""

import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import dappled
import numpy
from timing import computed
from workloads import chain, laplace, mean, squares, std, transposed

SIZES = [1_000_000, 10_000_000, 100_000_000]
# The work, how many operands, and of how many axes.
WORKLOADS: dict[str, tuple[Callable[..., Any], int, int]] = {
    "laplace": (laplace, 1, 2),
    "a*b + c*2.0 - sqrt(abs(a))": (chain, 3, 1),
    "((a-b)**2).sum()": (squares, 2, 1),
    "a.mean(axis=0)": (mean, 1, 2),
    "a.std(axis=0)": (std, 1, 2),
    "a.T + a": (transposed, 1, 2),
}
TURNS = {1_000_000: 7, 10_000_000: 4, 100_000_000: 2}
FEW, MANY = 100, 100_000


def operands(np: ModuleType, count: int, axes: int, size: int) -> list[Any]:
    """Random arrays of about this size."""
    shape = (size,) if axes == 1 else (round(size**0.5),) * 2
    return [np.random.default_rng(seed).random(shape) for seed in range(count)]


def seconds(np: ModuleType, work: Callable[..., Any], given: list[Any]) -> float:
    start = time.perf_counter()
    computed(work(np, *given))
    return time.perf_counter() - start


def ratio(work: Callable[..., Any], count: int, axes: int, size: int) -> float:
    """How many times as fast as NumPy; each is timed in turn, after one run that does not count."""
    both = [(np, operands(np, count, axes, size)) for np in (numpy, dappled)]
    times = [[seconds(np, work, given) for np, given in both] for _ in range(TURNS[size] + 1)][1:]
    theirs, ours = (min(turn) for turn in zip(*times, strict=True))
    return theirs / ours


def sizes() -> None:
    print(f"{'times as fast as NumPy':32}" + "".join(f"{size:>12,}" for size in SIZES))
    for name, (work, count, axes) in WORKLOADS.items():
        found = [ratio(work, count, axes, size) for size in SIZES]
        note = "" if found[-1] > found[0] * 2 / 3 else "  falls by more than a third"
        print(f"{name:32}" + "".join(f"{each:12.2f}" for each in found) + note, flush=True)


def resident() -> int:
    """Bytes that this process has in memory."""
    return 1024 * int(re.search(r"VmRSS:\s*(\d+)", Path("/proc/self/status").read_text())[1])


def chain_steps(np: ModuleType, size: int) -> Callable[[], None]:
    v = np.linspace(0, 1, size)

    def turn() -> None:
        nonlocal v
        for k in range(FEW):
            v = v * 0.5 + k

    return turn


def grid_steps(np: ModuleType, size: int) -> Callable[[], None]:
    u = np.zeros((size, size))

    def turn() -> None:
        for _ in range(FEW):
            u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4

    return turn


# The second is more than is computed at once: it stays pending until there is too much of it.
LOOPS = {
    "v = v * 0.5 + k, 100 elements": (chain_steps, 100),
    "v = v * 0.5 + k, 20,000 elements": (chain_steps, 20_000),
    "laplace, 30 x 30": (grid_steps, 30),
}


def loops() -> None:
    """Of one long loop, timed in stretches: the best of its first ones and of its last ones."""
    print(f"{'us an iteration':34}{'first':>10}{'last':>10}{'ratio':>8}{'MB left':>9}")
    for name, (make, size) in LOOPS.items():
        turn = make(dappled, size)
        times = [timed(turn) for _ in range(FEW)]
        before = resident()
        times += [timed(turn) for _ in range(MANY // FEW - FEW)]
        left = (resident() - before) / 1e6
        first, last = min(times[:FEW]) * 1e6, min(times[-FEW:]) * 1e6
        print(f"{name:34}{first:10.2f}{last:10.2f}{last / first:8.2f}{left:9.1f}")


def timed(turn: Callable[[], None]) -> float:
    start = time.process_time()
    turn()
    return (time.process_time() - start) / FEW


def main() -> None:
    """Prints both tables, or one of them."""
    wanted = sys.argv[1:] or ["sizes", "loops"]
    for table in (sizes, loops):
        if table.__name__ in wanted:
            table()


if __name__ == "__main__":
    main()
