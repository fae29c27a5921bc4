"""Numba with our arrays: loops, slices, reductions, ufuncs and parallel loops."""

import math

import numpy
import pytest

from tests.interop.libraries.boundary import (
    Written,
    always,
    on_ranks,
    table_tests,
    where_distributed,
)

numba = pytest.importorskip("numba")

RNG = numpy.random.default_rng(19)
X = RNG.standard_normal(24)
Y = RNG.standard_normal(24)
TABLE = RNG.standard_normal((6, 4))
SQUARE = RNG.standard_normal((4, 4)) + 4 * numpy.eye(4)
NUMBERS = RNG.integers(0, 9, 24)
MASK = X > 0
SINGLE = X.astype("f4")
COMPLEX = X + 1j * Y
BACKWARDS = numpy.asfortranarray(TABLE)
CUBE = RNG.standard_normal((3, 4, 5))
jit = numba.njit


@jit
def total(x):
    result = 0.0
    for i in range(len(x)):
        result += x[i]
    return result


@jit
def total_of_rows(x):
    result = numpy.zeros(x.shape[0])
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            result[i] += x[i, j]
    return result


@jit
def filled(out):
    for i in range(out.size):
        out[i] = 2.0 * i


@jit
def scaled(x, out):
    for i in range(x.size):
        out[i] = 3 * x[i]
    return out


@jit
def filled_table(out):
    out[1:3, ::2] = 7.0
    out[0] += 1


@numba.vectorize
def clipped(x, y):
    return x if x > y else y


@numba.vectorize(["f8(f8, f8)"])
def typed(x, y):
    return x * y + 1


@numba.guvectorize(["f8[:], f8[:]"], "(n)->(n)")
def running(x, out):
    total = 0.0
    for i in range(len(x)):
        total += x[i]
        out[i] = total


@numba.njit(parallel=True)
def in_parallel(x):
    out = numpy.empty_like(x)
    for i in numba.prange(len(x)):
        out[i] = math.sin(x[i])
    return out


@numba.njit("f8(f8[:])")
def declared(x):
    return x[0] + x[-1]


@numba.stencil
def smoothed(x):
    return 0.5 * (x[-1] + x[1])


def compiled(function):
    return jit(function)


CASES = {
    "loop": (total, X),
    "loop, single": (total, SINGLE),
    "loop, integers": (total, NUMBERS),
    "loop, rows": (total_of_rows, TABLE),
    "loop, backwards": (total_of_rows, BACKWARDS),
    "loop, strided view": (lambda x: total(x[::2]), X),
    "loop, column": (lambda x: total(x[:, 1]), TABLE),
    "fill": (filled, Written(numpy.zeros(8))),
    "fill, table": (filled_table, Written(TABLE)),
    "out argument": (scaled, X, Written(Y)),
    "vectorize": (clipped, X, Y),
    "vectorize, typed": (typed, X, Y),
    "vectorize(out=)": (lambda x, y, out: typed(x, y, out=out), X, Y, Written(Y)),
    "guvectorize": (running, TABLE),
    "parallel": (in_parallel, X),
    "signature": (declared, X),
    "stencil": (smoothed, X),
    "x + y": (compiled(lambda x, y: x + y), X, Y),
    "x * 2 + 1": (compiled(lambda x: x * 2 + 1), X),
    "numpy.sin": (compiled(lambda x: numpy.sin(x)), X),
    "numpy.exp, complex": (compiled(lambda x: numpy.exp(x)), COMPLEX),
    "numpy.sqrt": (compiled(lambda x: numpy.sqrt(numpy.abs(x))), X),
    "numpy.sum": (compiled(lambda x: numpy.sum(x)), TABLE),
    "x.sum(axis=0)": (compiled(lambda x: x.sum(axis=0)), TABLE),
    "x.mean": (compiled(lambda x: x.mean()), X),
    "x.std": (compiled(lambda x: x.std()), X),
    "x.max": (compiled(lambda x: x.max()), X),
    "x.argmin": (compiled(lambda x: x.argmin()), X),
    "numpy.dot": (compiled(lambda x, y: numpy.dot(x, y)), X, Y),
    "x @ y": (compiled(lambda x, y: x @ y), TABLE, SQUARE),
    "numpy.linalg.solve": (compiled(lambda a, b: numpy.linalg.solve(a, b)), SQUARE, X[:4].copy()),
    "numpy.linalg.inv": (compiled(lambda a: numpy.linalg.inv(a)), SQUARE),
    "numpy.where": (compiled(lambda m, x, y: numpy.where(m, x, y)), MASK, X, Y),
    "x[mask]": (compiled(lambda x, m: x[m]), X, MASK),
    "x[places]": (compiled(lambda x, at: x[at]), X, NUMBERS),
    "x[::-1]": (compiled(lambda x: x[::-1]), X),
    "x.T": (compiled(lambda x: x.T.copy()), TABLE),
    "x.reshape": (compiled(lambda x: x.reshape(4, 6)), X),
    "x[1:, :2]": (compiled(lambda x: x[1:, :2].sum()), TABLE),
    "cube": (compiled(lambda x: x[1, 2, 3] + x.sum()), CUBE),
    "numpy.sort": (compiled(lambda x: numpy.sort(x)), X),
    "numpy.argsort": (compiled(lambda x: numpy.argsort(x)), X),
    "numpy.cumsum": (compiled(lambda x: numpy.cumsum(x)), X),
    "numpy.diff": (compiled(lambda x: numpy.diff(x)), X),
    "numpy.concatenate": (compiled(lambda x, y: numpy.concatenate((x, y))), X, Y),
    "numpy.bincount": (compiled(lambda x: numpy.bincount(x)), NUMBERS),
    "numpy.interp": (compiled(lambda x: numpy.interp(x, numpy.arange(9.0), numpy.ones(9))), X),
    "tuple of arrays": (compiled(lambda both: both[0] + both[1]), (X, Y)),
    "numpy.zeros_like": (compiled(lambda x: numpy.zeros_like(x)), TABLE),
}
# NumPy calls these.
UFUNCS = {"vectorize", "vectorize, typed", "vectorize(out=)", "guvectorize"}
PIECES = "a distributed array has no memory that a loop could run over"
WRITTEN = "on several ranks a replicated array is given to be read"
KNOWN = {name: (where_distributed, PIECES) for name in CASES if name not in UFUNCS} | {
    "fill": (on_ranks, WRITTEN),
    "fill, table": (on_ranks, WRITTEN),
    "out argument": (on_ranks, WRITTEN),
    "signature": (always, "the compiled signature takes NumPy's class alone"),
}

# A signature such as f8(f8[:]) takes no read-only array, which a.numpy() is on several ranks.
test_numba, test_remedy = table_tests(CASES, KNOWN, remedy_copies=True)
