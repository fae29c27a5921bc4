"""Functions that are more than a loop: ratios to NumPy in one run, and what is asked for.

python benches/functions.py [WORDS]: those workloads whose name has one of the words.
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
from timing import best, computed, shown


@dataclass(frozen=True)
class Function:
    """What is timed: `work(np, *make(np))`."""

    name: str
    make: Callable[[ModuleType], list[Any]]
    work: Callable[..., Any]
    goal: float
    in_c: str = ""


def floats(np: ModuleType, *shape: int) -> list[Any]:
    """The same random numbers for both, in memory of their own."""
    return [np.array(numpy.random.default_rng(1).random(shape))]


def below(np: ModuleType, bound: int, size: int) -> list[Any]:
    """Random whole numbers."""
    return [np.array(numpy.random.default_rng(2).integers(0, bound, size))]


def indexed(np: ModuleType) -> list[Any]:
    """An array, numbers of its elements, and values to put there."""
    return [*floats(np, 50_000_000), *below(np, 50_000_000, 10_000_000), *floats(np, 10_000_000)]


def take(np: ModuleType, a: Any, at: Any, v: Any) -> Any:
    """Reads by an array of numbers."""
    return a[at]


def put(np: ModuleType, a: Any, at: Any, v: Any) -> None:
    """Writes by an array of numbers."""
    a[at] = v


def normal(np: ModuleType) -> Any:
    """Normal numbers: one after the other, or each by its place."""
    parallel = {"parallel": True} if np is dappled else {}
    return np.random.default_rng(0, **parallel).normal(size=50_000_000)


def timer(function: Function, np: ModuleType) -> timeit.Timer:
    """A timer of a function; what is pending at its end is computed within its time."""
    given = function.make(np)
    return timeit.Timer(lambda: computed(function.work(np, *given)))


def c_timer(function: Function) -> list[timeit.Timer]:
    """The same in C on two threads, if that is told."""
    loops = compiled_c.library() if function.in_c else None
    if loops is None:
        return []
    a, at, v = function.make(numpy)
    work = getattr(loops, function.in_c)
    return [timeit.Timer(lambda: compiled_c.call(work, a, at, v, len(at), len(a)))]


FUNCTIONS = [
    Function(
        "a[a > 0.5].sum(), 5e7",
        lambda np: floats(np, 50_000_000),
        lambda np, a: a[a > 0.5].sum(),
        10,
    ),
    Function("a[at], 1e7 of 5e7", indexed, take, 1.5, "taken"),
    Function("a[at] = v, 1e7 of 5e7", indexed, put, 1.5, "put"),
    Function("sort, 1e7", lambda np: floats(np, 10_000_000), lambda np, a: np.sort(a), 1.6),
    Function("argsort, 1e7", lambda np: floats(np, 10_000_000), lambda np, a: np.argsort(a), 2),
    Function(
        "unique, 1e7 below 1e6",
        lambda np: below(np, 1_000_000, 10_000_000),
        lambda np, a: np.unique(a),
        5,
    ),
    Function(
        "histogram, 1e7", lambda np: floats(np, 10_000_000), lambda np, a: np.histogram(a)[0], 4
    ),
    Function(
        "bincount, 1e7 below 1e6",
        lambda np: below(np, 1_000_000, 10_000_000),
        lambda np, a: np.bincount(a),
        1.5,
    ),
    Function("median, 1e7", lambda np: floats(np, 10_000_000), lambda np, a: np.median(a), 2),
    Function(
        "median of columns, 5000 x 5000",
        lambda np: floats(np, 5000, 5000),
        lambda np, a: np.median(a, axis=0),
        2,
    ),
    Function("parallel normal, 5e7", lambda np: [], normal, 4),
]


def main() -> None:
    """Prints the table."""
    words = sys.argv[1:] or [""]
    print(f"{'':50} {'NumPy':>9} {'Dappled':>9} {'ratio':>8} {'asked':>8}")
    for function in FUNCTIONS:
        if any(word in function.name for word in words):
            timers = [timer(function, np) for np in (numpy, dappled)]
            theirs, ours, *in_c = best(timers + c_timer(function))
            row(function.name, theirs, ours, function.goal)
            for time in in_c:
                print(f"{'  in C, two threads':50} {'':9} {shown(time):>9} {theirs / time:8.2f}")


if __name__ == "__main__":
    main()
