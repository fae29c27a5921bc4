"""Sorting, selection, indexing and random numbers: speedup over NumPy, and the goal.

python benches/functions.py [WORDS]: only functions whose name contains one of the words.
"""

import sys
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import compiled_c
import dappled
import numpy
from speed import row
from timing import best, compute_pending, format_time


@dataclass(frozen=True)
class Function:
    """A function to time: `work(np, *make(np))`."""

    name: str
    make: Callable[[ModuleType], list[Any]]
    work: Callable[..., Any]
    goal: float
    in_c: str = ""


def floats(np: ModuleType, *shape: int) -> list[Any]:
    """Random floats, equal for NumPy and Dappled, in memory that is not shared."""
    return [np.array(numpy.random.default_rng(1).random(shape))]


def integers_below(np: ModuleType, bound: int, size: int) -> list[Any]:
    """Random integers below a bound."""
    return [np.array(numpy.random.default_rng(2).integers(0, bound, size))]


def index_operands(np: ModuleType) -> list[Any]:
    """An array, an index array, and values to assign."""
    return [
        *floats(np, 50_000_000),
        *integers_below(np, 50_000_000, 10_000_000),
        *floats(np, 10_000_000),
    ]


def take(np: ModuleType, a: Any, index: Any, v: Any) -> Any:
    """Reads through an index array."""
    return a[index]


def put(np: ModuleType, a: Any, index: Any, v: Any) -> None:
    """Writes through an index array."""
    a[index] = v


def normal(np: ModuleType) -> Any:
    """Normal numbers: NumPy's sequential stream, or Dappled's counter-based generator."""
    parallel = {"parallel": True} if np is dappled else {}
    return np.random.default_rng(0, **parallel).normal(size=50_000_000)


def timer(function: Function, np: ModuleType) -> timeit.Timer:
    """Returns a timer of a function that includes the computation of pending results."""
    arguments = function.make(np)
    return timeit.Timer(lambda: compute_pending(function.work(np, *arguments)))


def c_timer(function: Function) -> list[timeit.Timer]:
    """Returns a timer of the C implementation, or none if there is no implementation."""
    loops = compiled_c.library() if function.in_c else None
    if loops is None:
        return []
    a, index, v = function.make(numpy)
    work = getattr(loops, function.in_c)
    return [timeit.Timer(lambda: compiled_c.call(work, a, index, v, len(index), len(a)))]


FUNCTIONS = [
    Function(
        "a[a > 0.5].sum(), 5e7",
        lambda np: floats(np, 50_000_000),
        lambda np, a: a[a > 0.5].sum(),
        10,
    ),
    Function("a[index], 1e7 of 5e7", index_operands, take, 1.5, "take"),
    Function("a[index] = v, 1e7 of 5e7", index_operands, put, 1.5, "put"),
    Function("sort, 1e7", lambda np: floats(np, 10_000_000), lambda np, a: np.sort(a), 1.6),
    Function("argsort, 1e7", lambda np: floats(np, 10_000_000), lambda np, a: np.argsort(a), 2),
    Function(
        "unique, 1e7 below 1e6",
        lambda np: integers_below(np, 1_000_000, 10_000_000),
        lambda np, a: np.unique(a),
        5,
    ),
    Function(
        "histogram, 1e7", lambda np: floats(np, 10_000_000), lambda np, a: np.histogram(a)[0], 4
    ),
    Function(
        "bincount, 1e7 below 1e6",
        lambda np: integers_below(np, 1_000_000, 10_000_000),
        lambda np, a: np.bincount(a),
        1.5,
    ),
    Function("median, 1e7", lambda np: floats(np, 10_000_000), lambda np, a: np.median(a), 2),
    Function(
        "median(axis=0), 5000 x 5000",
        lambda np: floats(np, 5000, 5000),
        lambda np, a: np.median(a, axis=0),
        2,
    ),
    Function("parallel normal, 5e7", lambda np: [], normal, 4),
]


def main() -> None:
    """Prints the table."""
    words = sys.argv[1:] or [""]
    print(f"{'':50} {'NumPy':>9} {'Dappled':>9} {'speedup':>8} {'goal':>8}")
    for function in FUNCTIONS:
        if any(word in function.name for word in words):
            timers = [timer(function, np) for np in (numpy, dappled)]
            numpy_time, dappled_time, *c_times = best(timers + c_timer(function))
            row(function.name, numpy_time, dappled_time, function.goal)
            for time in c_times:
                speedup = numpy_time / time
                print(f"{'  in C, two threads':50} {'':9} {format_time(time):>9} {speedup:8.2f}")


if __name__ == "__main__":
    main()
