"""The workloads with Numba, as parallel loops written by hand."""

from collections.abc import Callable
from math import exp, log, sqrt
from typing import Any

import numpy as np
from numba import njit, prange
from workloads import ITERATIONS, Workload

compiled = njit(parallel=True)


@compiled
def laplace(u, v):
    for _ in range(ITERATIONS):
        for i in prange(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                v[i, j] = (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]) / 4
        u, v = v, u


@compiled
def paper_laplace(u, v):
    dx2 = dy2 = (1.0 / (len(u) - 1)) ** 2
    inverse = 0.5 / (dx2 + dy2)
    error = 0.0
    for _ in range(ITERATIONS):
        square = 0.0
        for i in prange(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                new = (
                    (u[i - 1, j] + u[i + 1, j]) * dy2 + (u[i, j - 1] + u[i, j + 1]) * dx2
                ) * inverse
                change = new - u[i, j]
                v[i, j] = new
                square += change * change
        u, v = v, u
        error = sqrt(square)
    return error


@compiled
def chain(a, b, c, out):
    for i in prange(len(a)):
        out[i] = a[i] * b[i] + c[i] * 2.0 - sqrt(abs(a[i]))
    return out


@compiled
def squares(a, b):
    total = 0.0
    for i in prange(len(a)):
        total += (a[i] - b[i]) ** 2
    return total


@compiled
def mean(a):
    out = np.empty(a.shape[1])
    for j in prange(a.shape[1]):
        out[j] = a[:, j].sum() / a.shape[0]
    return out


@compiled
def std(a):
    out = np.empty(a.shape[1])
    for j in prange(a.shape[1]):
        out[j] = a[:, j].std()
    return out


@njit(inline="always")
def normal(x):
    k = 1 / (1 + 0.2316419 * abs(x))
    tail = 0.31938153 + k * (
        -0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))
    )
    below = k * tail * exp(-x * x / 2) * 0.3989422804014327
    return 1 - below if x > 0 else below


@compiled
def black_scholes(price, strike, years):
    rate, volatility = 0.02, 0.3
    call, put = np.empty_like(price), np.empty_like(price)
    for i in prange(len(price)):
        p, s, t = 10 + 40 * abs(price[i]), 10 + 40 * abs(strike[i]), 0.1 + abs(years[i])
        spread = volatility * sqrt(t)
        d1 = (log(p / s) + (rate + volatility * volatility / 2) * t) / spread
        discounted = s * exp(-rate * t)
        call[i] = p * normal(d1) - discounted * normal(d1 - spread)
        put[i] = call[i] - p + discounted
    return call, put


@compiled
def forces(position):
    out = np.empty_like(position)
    for i in prange(len(position)):
        fx = fy = fz = 0.0
        for j in range(len(position)):
            x, y = position[j, 0] - position[i, 0], position[j, 1] - position[i, 1]
            z = position[j, 2] - position[i, 2]
            square = x * x + y * y + z * z + 0.01
            cube = square * sqrt(square)
            fx += x / cube
            fy += y / cube
            fz += z / cube
        out[i, 0], out[i, 1], out[i, 2] = fx, fy, fz
    return out


@compiled
def transposed(a):
    out = np.empty_like(a)
    for rows in prange((len(a) + 31) // 32):
        for columns in range(0, len(a), 32):
            for i in range(32 * rows, min(32 * rows + 32, len(a))):
                for j in range(columns, min(columns + 32, len(a))):
                    out[i, j] = a[j, i] + a[i, j]
    return out


def runner(workload: Workload, arrays: list[np.ndarray]) -> Callable[[], Any] | None:
    """Returns the workload on these operands, or None if it is not written here."""
    function = globals().get(workload.work.__name__)
    if function is None:
        return None
    if "laplace" in workload.work.__name__:
        arrays = [arrays[0].copy(), arrays[0].copy()]
    if workload.work.__name__ == "chain":
        arrays = [*arrays, np.empty(len(arrays[0]), np.result_type(workload.dtype, np.float32))]
    return lambda: function(*arrays)
