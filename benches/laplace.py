"""Laplace 4000 x 4000 in NumPy and in the lazy arrays' Rust example, in one run."""

import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "target" / "dappled" / "examples" / "array_laplace"
MPIEXEC = [str(Path(sys.prefix) / "bin" / "mpiexec"), "-n", "2", "env", "RAYON_NUM_THREADS=1"]
SIZE, TIMES, REPEATS = 4000, 30, 3


def with_numpy() -> float:
    """Milliseconds of the average iteration, as the example counts."""
    u = np.zeros((SIZE, SIZE))
    u[0] = 1
    start = time.perf_counter()
    for _ in range(TIMES):
        u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
    return (time.perf_counter() - start) / TIMES * 1e3


def with_arrays(launcher: list[str]) -> float:
    """The same, as the example prints it."""
    command = [*launcher, str(EXAMPLE), str(SIZE), str(TIMES)]
    shown = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout
    return float(re.search(r"([\d.]+) ms", shown)[1])


def main() -> None:
    """Prints the best of several, and how many times NumPy's speed it is."""
    numpy = min(with_numpy() for _ in range(REPEATS))
    print(f"laplace {SIZE} x {SIZE}: NumPy {numpy:.1f} ms an iteration")
    for name, launcher in {"1 process, 2 threads": [], "2 ranks, 1 thread each": MPIEXEC}.items():
        ours = min(with_arrays(launcher) for _ in range(REPEATS))
        print(f"  {name}: {ours:.1f} ms, {numpy / ours:.1f} times NumPy")


if __name__ == "__main__":
    main()
