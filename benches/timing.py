"""How a workload is timed: with NumPy and with Dappled in turn, the best of several."""

import time
import timeit
from types import ModuleType
from typing import Any

import dappled
import numpy
from workloads import Workload

REPEATS = 4
AT_LEAST = 0.1  # seconds of one measurement
# Seconds before each: threads of BLAS stay awake for a while, and may have a core of who is next.
PAUSE = 0.2


def computed(result: Any) -> Any:
    """A result with nothing pending."""
    for part in result if isinstance(result, tuple) else [result]:
        if isinstance(part, dappled.ndarray):
            part._compute()
    return result


def operands(np: ModuleType, shapes: list[tuple[int, ...]], dtype: str) -> list[Any]:
    """Random arrays, the same for both: between -0.5 and 0.5, or integers below 1000."""
    generator = np.random.default_rng(1)
    if dtype == "int64":
        return [computed(generator.integers(-1000, 1000, shape)) for shape in shapes]
    values = (generator.random(shape, numpy.dtype(dtype)) for shape in shapes)
    return [computed(value - value.dtype.type(0.5)) for value in values]


def timer(workload: Workload, np: ModuleType) -> timeit.Timer:
    """A timer of a workload; what is pending at its end is computed within its time."""
    given = operands(np, workload.shapes, workload.dtype)
    return timeit.Timer(lambda: computed(workload.work(np, *given)))


def turn(timer: timeit.Timer, number: int) -> float:
    """The time of one of so many calls, when nobody else's threads are awake."""
    time.sleep(PAUSE)
    return timer.timeit(number) / number


def best(timers: list[timeit.Timer]) -> list[float]:
    """The best time of each, measured in turn; a first call is no measure of the others."""
    times = [max(1, round(AT_LEAST / min(each.repeat(3, 1)))) for each in timers]
    turns = [
        [turn(each, number) for each, number in zip(timers, times, strict=True)]
        for _ in range(REPEATS)
    ]
    return [min(of_one) for of_one in zip(*turns, strict=True)]


def seconds(workload: Workload) -> tuple[float, float]:
    """Of one part of a workload, with NumPy and with Dappled."""
    theirs, ours = best([timer(workload, np) for np in (numpy, dappled)])
    return theirs / workload.parts, ours / workload.parts


def shown(seconds: float) -> str:
    """A time with its unit."""
    unit, factor = ("ms", 1e3) if seconds >= 1e-3 else ("us", 1e6)
    return f"{seconds * factor:,.{1 if seconds * factor < 100 else 0}f} {unit}"
