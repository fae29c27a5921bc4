"""Sorting, indexing, FFT and linear algebra on two threads, on two ranks and with NumPy.

Two ranks should reach 0.8 of the speedup that is the goal of one process (`functions.py`). The
speed of two ranks relative to one process is printed too.
"""

import dappled
from functions import normal
from rank_comparison import compare

SMALL = 10_000_000
LARGE = 50_000_000


def floats(np, *shape):
    return np.asarray(dappled.random.default_rng(1, parallel=True).uniform(size=shape))


def integers_below(np, bound, size):
    return np.asarray(dappled.random.default_rng(2, parallel=True).integers(0, bound, size))


def workload(goal, make, work):
    """A workload of one part that computes the results of a function, and its goal."""

    def prepare(np):
        arguments = make(np)

        def run_round():
            results = work(np, *arguments)
            results = results if isinstance(results, tuple) else (results,)
            for result in results:
                if isinstance(result, dappled.ndarray):
                    result._compute()

        return run_round, 1

    return prepare, 1e3, "ms", goal


def index_operands(np):
    return floats(np, LARGE), integers_below(np, LARGE, SMALL), floats(np, SMALL)


def small_floats(np):
    return (floats(np, SMALL),)


def small_integers(np):
    return (integers_below(np, 1_000_000, SMALL),)


def linear_system(np):
    a = floats(np, 2000, 2000)
    return a @ a.T + 2000 * np.eye(2000), floats(np, 2000)


WORKLOADS = {
    "a[a > 0.5].sum(), 5e7": workload(
        10, lambda np: (floats(np, LARGE),), lambda np, a: a[a > 0.5].sum()
    ),
    "a[index], 1e7 of 5e7": workload(1.5, index_operands, lambda np, a, index, v: a[index]),
    "a[index] = v, 1e7 of 5e7": workload(
        1.5, index_operands, lambda np, a, index, v: a.__setitem__(index, v)
    ),
    "sort, 1e7": workload(1.6, small_floats, lambda np, a: np.sort(a)),
    "argsort, 1e7": workload(2, small_floats, lambda np, a: np.argsort(a)),
    "unique, 1e7 below 1e6": workload(5, small_integers, lambda np, a: np.unique(a)),
    "histogram, 1e7": workload(4, small_floats, lambda np, a: np.histogram(a)[0]),
    "bincount, 1e7 below 1e6": workload(1.5, small_integers, lambda np, a: np.bincount(a)),
    "median, 1e7": workload(2, small_floats, lambda np, a: np.median(a)),
    "median(axis=0), 5000 x 5000": workload(
        2, lambda np: (floats(np, 5000, 5000),), lambda np, a: np.median(a, axis=0)
    ),
    "fft2 of 4096 x 4096": workload(
        1.6, lambda np: (floats(np, 4096, 4096) + 0j,), lambda np, a: np.fft.fft2(a)
    ),
    "rfft of 1e7": workload(1.6, small_floats, lambda np, a: np.fft.rfft(a)),
    "solve, 2000": workload(0.9, linear_system, lambda np, a, b: np.linalg.solve(a, b)),
    "cholesky, 2000": workload(0.9, linear_system, lambda np, a, b: np.linalg.cholesky(a)),
    "svd, 1000": workload(
        0.9, lambda np: (floats(np, 1000, 1000),), lambda np, a: np.linalg.svd(a)[1]
    ),
    "normal, 5e7": workload(4, lambda np: (), normal),
}


if __name__ == "__main__":
    compare(__file__, WORKLOADS, 2)
