"""Fourier transforms and linear algebra with NumPy and with Dappled.

python benches/fft_linalg.py [WORDS]: only workloads whose name contains one of the words.
"""

import sys
import timeit
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import dappled
import numpy
from timing import best, compute_pending, format_time


class Workload(NamedTuple):
    """A workload to time, `work(np, array)`, and the goal of its speedup over NumPy."""

    name: str
    work: Callable[[ModuleType, Any], Any]
    make: Callable[[], Any]
    goal: float


def values(*shape: int) -> Any:
    return numpy.random.default_rng(1).random(shape)


def positive_definite(size: int) -> Any:
    """A symmetric positive definite matrix."""
    matrix = values(size, size)
    return matrix @ matrix.T + size * numpy.eye(size)


WORKLOADS = [
    Workload(
        "fft2 of 4096 x 4096 complex128",
        lambda np, a: np.fft.fft2(a),
        lambda: values(4096, 4096) + 0j,
        1.6,
    ),
    Workload("rfft of 1e7", lambda np, a: np.fft.rfft(a), lambda: values(10**7), 1.6),
    Workload("fft of 1e6 complex128", lambda np, a: np.fft.fft(a), lambda: values(10**6) + 0j, 1),
    Workload("rfft2 of 1000 x 1000", lambda np, a: np.fft.rfft2(a), lambda: values(1000, 1000), 1),
    Workload("fftn of 128^3", lambda np, a: np.fft.fftn(a), lambda: values(128, 128, 128), 1),
    Workload("fft of 1024", lambda np, a: np.fft.fft(a), lambda: values(1024), 0.5),
    Workload(
        "solve 2000",
        lambda np, a: np.linalg.solve(a, a[:, :1]),
        lambda: positive_definite(2000),
        0.9,
    ),
    Workload(
        "cholesky 2000",
        lambda np, a: np.linalg.cholesky(a),
        lambda: positive_definite(2000),
        0.9,
    ),
    Workload("svd 1000", lambda np, a: np.linalg.svd(a), lambda: values(1000, 1000), 0.9),
    Workload("inv 500", lambda np, a: np.linalg.inv(a), lambda: positive_definite(500), 0.9),
    Workload("inv of 2000 x 30 x 30", lambda np, a: np.linalg.inv(a), lambda: stack(2000, 30), 0.9),
    Workload(
        "eigvalsh of 500 x 30 x 30",
        lambda np, a: np.linalg.eigvalsh(a),
        lambda: stack(500, 30),
        0.9,
    ),
]


def stack(count: int, size: int) -> Any:
    return values(count, size, size) + 2 * size * numpy.eye(size)


def timer(workload: Workload, np: ModuleType) -> timeit.Timer:
    array = compute_pending(np.asarray(workload.make()))
    return timeit.Timer(lambda: compute_pending(workload.work(np, array)))


def main() -> None:
    """Prints the table."""
    words = sys.argv[1:] or [""]
    print(f"{'':40} {'NumPy':>9} {'Dappled':>9} {'speedup':>8} {'goal':>8}")
    for each in WORKLOADS:
        if any(word in each.name for word in words):
            numpy_time, dappled_time = best([timer(each, np) for np in (numpy, dappled)])
            speedup = numpy_time / dappled_time
            times = f"{format_time(numpy_time):>9} {format_time(dappled_time):>9}"
            verdict = "" if speedup >= each.goal else "  below goal"
            print(f"{each.name:40} {times} {speedup:8.2f} {each.goal:8.2f}{verdict}")


if __name__ == "__main__":
    main()
