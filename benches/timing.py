"""Timing of workloads: NumPy and Dappled alternate, and the best round counts."""

import time
import timeit
from types import ModuleType
from typing import Any

import dappled
import numpy
from workloads import Workload

REPEATS = 4
MIN_ROUND_SECONDS = 0.1
# Pause before each round: BLAS threads spin for a while and would take a core from the next round.
PAUSE_SECONDS = 0.2


def compute_pending(result: Any) -> Any:
    """Computes a pending result, or a tuple of them."""
    for array in result if isinstance(result, tuple) else [result]:
        if isinstance(array, dappled.ndarray):
            array._compute()
    return result


def operands(np: ModuleType, shapes: list[tuple[int, ...]], dtype: str) -> list[Any]:
    """Random arrays, equal for NumPy and Dappled: -0.5 to 0.5, or integers below 1000."""
    generator = np.random.default_rng(1)
    if dtype == "int64":
        return [compute_pending(generator.integers(-1000, 1000, shape)) for shape in shapes]
    values = (generator.random(shape, numpy.dtype(dtype)) for shape in shapes)
    return [compute_pending(value - value.dtype.type(0.5)) for value in values]


def timer(workload: Workload, np: ModuleType) -> timeit.Timer:
    """Returns a timer of a workload that includes the computation of pending results."""
    arguments = operands(np, workload.shapes, workload.dtype)
    return timeit.Timer(lambda: compute_pending(workload.work(np, *arguments)))


def time_round(timer: timeit.Timer, number: int) -> float:
    """Returns the time of one call in a round of `number` calls, after a pause."""
    time.sleep(PAUSE_SECONDS)
    return timer.timeit(number) / number


def best(timers: list[timeit.Timer]) -> list[float]:
    """Returns the best time of each timer; timers alternate, after three warm-up calls."""
    counts = [max(1, round(MIN_ROUND_SECONDS / min(each.repeat(3, 1)))) for each in timers]
    rounds = [
        [time_round(each, number) for each, number in zip(timers, counts, strict=True)]
        for _ in range(REPEATS)
    ]
    return [min(column) for column in zip(*rounds, strict=True)]


def seconds(workload: Workload) -> tuple[float, float]:
    """Returns the seconds of one part of a workload, with NumPy and with Dappled."""
    numpy_time, dappled_time = best([timer(workload, np) for np in (numpy, dappled)])
    return numpy_time / workload.parts, dappled_time / workload.parts


def format_time(seconds: float) -> str:
    """Formats a time with its unit."""
    unit, factor = ("ms", 1e3) if seconds >= 1e-3 else ("us", 1e6)
    return f"{seconds * factor:,.{1 if seconds * factor < 100 else 0}f} {unit}"
