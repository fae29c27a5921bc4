"""Cost must be proportional to the work: `python benches/growth.py [sizes|loops]`.

Sizes: speedup over NumPy at 1e6, 1e7 and 1e8 elements; the last may be a third less than the first.
Loops: CPU microseconds per iteration at the start and at the end of 100,000 iterations, which
should be equal, and the growth of resident memory.
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
from timing import compute_pending
from workloads import chain, laplace, mean, squares, std, transposed

SIZES = [1_000_000, 10_000_000, 100_000_000]
# Function, number of operands, number of axes.
WORKLOADS: dict[str, tuple[Callable[..., Any], int, int]] = {
    "laplace": (laplace, 1, 2),
    "a*b + c*2.0 - sqrt(abs(a))": (chain, 3, 1),
    "((a-b)**2).sum()": (squares, 2, 1),
    "a.mean(axis=0)": (mean, 1, 2),
    "a.std(axis=0)": (std, 1, 2),
    "a.T + a": (transposed, 1, 2),
}
REPEATS = {1_000_000: 7, 10_000_000: 4, 100_000_000: 2}
CHUNK, ITERATIONS = 100, 100_000  # iterations of one measurement, and of the whole loop
COMPARED = 100  # measurements at the start and at the end that are compared


def operands(np: ModuleType, count: int, axes: int, size: int) -> list[Any]:
    """Random arrays of about `size` elements."""
    shape = (size,) if axes == 1 else (round(size**0.5),) * 2
    return [np.random.default_rng(seed).random(shape) for seed in range(count)]


def seconds(np: ModuleType, work: Callable[..., Any], arguments: list[Any]) -> float:
    start = time.perf_counter()
    compute_pending(work(np, *arguments))
    return time.perf_counter() - start


def speedup(work: Callable[..., Any], count: int, axes: int, size: int) -> float:
    """Speedup over NumPy: both are timed alternately, after one warm-up run."""
    both = [(np, operands(np, count, axes, size)) for np in (numpy, dappled)]
    times = [[seconds(np, work, each) for np, each in both] for _ in range(REPEATS[size] + 1)][1:]
    numpy_time, dappled_time = (min(column) for column in zip(*times, strict=True))
    return numpy_time / dappled_time


def sizes() -> None:
    print(f"{'speedup over NumPy':32}" + "".join(f"{size:>12,}" for size in SIZES))
    for name, (work, count, axes) in WORKLOADS.items():
        speedups = [speedup(work, count, axes, size) for size in SIZES]
        note = "" if speedups[-1] > speedups[0] * 2 / 3 else "  falls by more than a third"
        print(f"{name:32}" + "".join(f"{each:12.2f}" for each in speedups) + note, flush=True)


def resident_bytes() -> int:
    """Resident memory of this process."""
    return 1024 * int(re.search(r"VmRSS:\s*(\d+)", Path("/proc/self/status").read_text())[1])


def chain_steps(np: ModuleType, size: int) -> Callable[[], None]:
    v = np.linspace(0, 1, size)

    def chunk() -> None:
        nonlocal v
        for k in range(CHUNK):
            v = v * 0.5 + k

    return chunk


def grid_steps(np: ModuleType, size: int) -> Callable[[], None]:
    u = np.zeros((size, size))

    def chunk() -> None:
        for _ in range(CHUNK):
            u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4

    return chunk


# 20,000 elements exceed the eager limit: the operations stay pending until there are too many.
LOOPS = {
    "v = v * 0.5 + k, 100 elements": (chain_steps, 100),
    "v = v * 0.5 + k, 20,000 elements": (chain_steps, 20_000),
    "laplace, 30 x 30": (grid_steps, 30),
}


def loops() -> None:
    """Times one long loop in chunks; prints the best of the first and of the last chunks."""
    print(f"{'us per iteration':34}{'first':>10}{'last':>10}{'ratio':>8}{'MB left':>9}")
    for name, (make, size) in LOOPS.items():
        chunk = make(dappled, size)
        times = [cpu_seconds(chunk) for _ in range(COMPARED)]
        before = resident_bytes()
        times += [cpu_seconds(chunk) for _ in range(ITERATIONS // CHUNK - COMPARED)]
        left = (resident_bytes() - before) / 1e6
        first, last = min(times[:COMPARED]) * 1e6, min(times[-COMPARED:]) * 1e6
        print(f"{name:34}{first:10.2f}{last:10.2f}{last / first:8.2f}{left:9.1f}")


def cpu_seconds(chunk: Callable[[], None]) -> float:
    start = time.process_time()
    chunk()
    return (time.process_time() - start) / CHUNK


def main() -> None:
    """Prints the requested tables."""
    wanted = sys.argv[1:] or ["sizes", "loops"]
    for table in (sizes, loops):
        if table.__name__ in wanted:
            table()


if __name__ == "__main__":
    main()
