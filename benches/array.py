"""The same source with NumPy and with Dappled, in one run: the best of several, side by side.

Each workload is plain NumPy; `np` is one or the other. What is pending at its end is computed
within its time.
"""

import subprocess
import sys
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import dappled
import numpy

REPEATS = 4
AT_LEAST = 0.1  # seconds of one measurement
ITERATIONS = 10
LARGE = 50_000_000
IMPORT = (
    "import numpy, time; t = time.perf_counter(); import dappled; print(time.perf_counter() - t)"
)


@dataclass
class Workload:
    """What is timed: `work(np, *operands)`, which does the same thing `parts` times."""

    name: str
    work: Callable[..., Any]
    shapes: list[tuple[int, ...]]
    parts: int = 1


def laplace(np: ModuleType, u: Any) -> Any:
    for _ in range(ITERATIONS):
        u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
    return u


def squares(np: ModuleType, a: Any, b: Any) -> Any:
    return ((a - b) ** 2).sum()


def chain(np: ModuleType, a: Any, b: Any, c: Any) -> Any:
    return a * b + c * 2.0 - np.sqrt(np.abs(a))


def mean(np: ModuleType, a: Any) -> Any:
    return a.mean(axis=0)


def std(np: ModuleType, a: Any) -> Any:
    return a.std(axis=0)


def transposed(np: ModuleType, a: Any) -> Any:
    return a.T + a


WORKLOADS = [
    Workload("laplace 4000 x 4000, an iteration", laplace, [(4000, 4000)], ITERATIONS),
    Workload(f"((a-b)**2).sum(), {LARGE:,}", squares, [(LARGE,)] * 2),
    *(
        Workload(f"a*b + c*2.0 - sqrt(abs(a)), {size:,}", chain, [(size,)] * 3)
        for size in (100, 1000, 10_000, LARGE)
    ),
    Workload("a.mean(axis=0), 5000 x 5000", mean, [(5000, 5000)]),
    Workload("a.std(axis=0), 5000 x 5000", std, [(5000, 5000)]),
    Workload("a.T + a, 8000 x 8000", transposed, [(8000, 8000)]),
]


def computed(result: Any) -> Any:
    """A result with nothing pending."""
    if isinstance(result, dappled.ndarray):
        result._compute()
    return result


def timer(workload: Workload, np: ModuleType) -> timeit.Timer:
    """A timer of a workload on random operands, the same for both."""
    generator = np.random.default_rng(1)
    operands = [computed(generator.random(shape) - 0.5) for shape in workload.shapes]
    return timeit.Timer(lambda: computed(workload.work(np, *operands)))


def seconds(workload: Workload) -> tuple[float, float]:
    """The best time with NumPy and with Dappled, measured in turn."""
    timers = [timer(workload, np) for np in (numpy, dappled)]
    times = [max(1, round(AT_LEAST / t.timeit(1))) for t in timers]
    turns = [
        [t.timeit(number) / number for t, number in zip(timers, times, strict=True)]
        for _ in range(REPEATS)
    ]
    theirs, ours = (min(turn[place] for turn in turns) / workload.parts for place in (0, 1))
    return theirs, ours


def shown(time: float) -> str:
    """A time with its unit."""
    unit, factor = ("ms", 1e3) if time >= 1e-3 else ("us", 1e6)
    return f"{time * factor:,.{1 if time * factor < 100 else 0}f} {unit}"


def import_time() -> float:
    """Seconds that `import dappled` takes where NumPy is imported already."""
    command = [sys.executable, "-c", IMPORT]
    runs = (subprocess.run(command, check=True, capture_output=True) for _ in range(2 * REPEATS))
    return min(float(run.stdout) for run in runs)


def main() -> None:
    """Prints the table."""
    print(f"{'':42} {'NumPy':>9} {'Dappled':>9} {'times as fast':>14}")
    for workload in WORKLOADS:
        theirs, ours = seconds(workload)
        print(f"{workload.name:42} {shown(theirs):>9} {shown(ours):>9} {theirs / ours:14.1f}")
    print(f"\nimport dappled, beyond NumPy's own: {shown(import_time())}")


if __name__ == "__main__":
    main()
