"""Functions that are more than a loop, on two threads, on two ranks and with NumPy: side by side.

Two ranks are to reach 0.8 of what is asked of one process as times NumPy's speed (`functions.py`).
How much of one process' own speed they keep is shown too.
"""

import dappled
from functions import normal
from launches import beside

FEW = 10_000_000
MANY = 50_000_000


def floats(np, *shape):
    return np.asarray(dappled.random.default_rng(1, parallel=True).uniform(size=shape))


def below(np, bound, size):
    return np.asarray(dappled.random.default_rng(2, parallel=True).integers(0, bound, size))


def workload(goal, make, work):
    """A turn that computes what a function gives; and what is asked of it."""

    def prepared(np):
        given = make(np)

        def turn():
            found = work(np, *given)
            found = found if isinstance(found, tuple) else (found,)
            for one in found:
                if isinstance(one, dappled.ndarray):
                    one._compute()

        return turn, 1

    return prepared, 1e3, "ms", goal


def taken(np):
    return floats(np, MANY), below(np, MANY, FEW), floats(np, FEW)


def few(np):
    return (floats(np, FEW),)


def numbers(np):
    return (below(np, 1_000_000, FEW),)


def symmetric(np):
    a = floats(np, 2000, 2000)
    return a @ a.T + 2000 * np.eye(2000), floats(np, 2000)


WORKLOADS = {
    "a[a > 0.5].sum(), 5e7": workload(
        10, lambda np: (floats(np, MANY),), lambda np, a: a[a > 0.5].sum()
    ),
    "a[at], 1e7 of 5e7": workload(1.5, taken, lambda np, a, at, v: a[at]),
    "a[at] = v, 1e7 of 5e7": workload(1.5, taken, lambda np, a, at, v: a.__setitem__(at, v)),
    "sort, 1e7": workload(1.6, few, lambda np, a: np.sort(a)),
    "argsort, 1e7": workload(2, few, lambda np, a: np.argsort(a)),
    "unique, 1e7 below 1e6": workload(5, numbers, lambda np, a: np.unique(a)),
    "histogram, 1e7": workload(4, few, lambda np, a: np.histogram(a)[0]),
    "bincount, 1e7 below 1e6": workload(1.5, numbers, lambda np, a: np.bincount(a)),
    "median, 1e7": workload(2, few, lambda np, a: np.median(a)),
    "median of columns, 5000 x 5000": workload(
        2, lambda np: (floats(np, 5000, 5000),), lambda np, a: np.median(a, axis=0)
    ),
    "fft2 of 4096 x 4096": workload(
        1.6, lambda np: (floats(np, 4096, 4096) + 0j,), lambda np, a: np.fft.fft2(a)
    ),
    "rfft of 1e7": workload(1.6, few, lambda np, a: np.fft.rfft(a)),
    "solve, 2000": workload(0.9, symmetric, lambda np, a, b: np.linalg.solve(a, b)),
    "cholesky, 2000": workload(0.9, symmetric, lambda np, a, b: np.linalg.cholesky(a)),
    "svd, 1000": workload(
        0.9, lambda np: (floats(np, 1000, 1000),), lambda np, a: np.linalg.svd(a)[1]
    ),
    "normal, 5e7": workload(4, lambda np: (), normal),
}


if __name__ == "__main__":
    beside(__file__, WORKLOADS, 2)
