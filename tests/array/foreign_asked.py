"""Programs in which objects have their say in NumPy's functions, or SciPy in what it is given."""

import warnings

import numpy
from scipy import sparse

HIDDEN = numpy.ma.masked_less(numpy.arange(-3.0, 13.0).reshape(4, 4), -1)
SQUARE = numpy.asmatrix(numpy.arange(16.0).reshape(4, 4) + 9 * numpy.eye(4))
# A function of two matrices, the first of them ours.
PRODUCTS = {
    "dot": lambda np, a, b: np.dot(a, b),
    "dot, turned": lambda np, a, b: np.dot(b, a),
    "method dot": lambda np, a, b: a.dot(b),
    "matmul": lambda np, a, b: np.matmul(b, a),
    "inner": lambda np, a, b: np.inner(a, b),
    "vdot": lambda np, a, b: np.vdot(a, b),
    "outer": lambda np, a, b: np.outer(a, b),
    "tensordot": lambda np, a, b: np.tensordot(a, b, 1),
    "einsum": lambda np, a, b: np.einsum("ij,jk", a, b),
    "kron": lambda np, a, b: np.kron(a, b),
    "solve": lambda np, a, b: np.linalg.solve(b, a).round(8),
    "concatenate": lambda np, a, b: np.concatenate([a, b]),
    "vstack": lambda np, a, b: np.vstack((b, a)),
    "where": lambda np, a, b: np.where(b > 1, a, b),
    "sum": lambda np, a, b: np.sum(b, axis=0),
}


class Asked:
    """An object with functions of its own."""

    def __array_function__(self, func, types, args, kwargs):
        return "asked", func.__name__, len(args), sorted(kwargs)


class Table:
    """An object with a table of functions, as NumPy's documentation has it; others it refuses."""

    def __init__(self, np):
        self.known = {np.sum: "a sum", np.roll: "a roll", np.linalg.norm: "a norm"}

    def __array_function__(self, func, types, args, kwargs):
        return self.known.get(func, NotImplemented)


def operator(np):
    """An operator that returns arrays of the program's NumPy."""

    def product(x):
        made = 3 * np.asarray(x).reshape(-1)
        made[1:] += 0.5
        return made

    return sparse.linalg.LinearOperator((6, 6), matvec=product, rmatvec=product, dtype=float)


def solved(name):
    def program(np):
        found = getattr(sparse.linalg, name)(operator(np), np.ones(6))
        return numpy.asarray(found[0]).round(6)

    return program


def dense(np):
    """A matrix is an operator by itself."""
    return sparse.linalg.cg(np.diag(np.arange(1.0, 7.0)), np.ones(6))[0].round(6)


def refused(np):
    return np.mean(Table(np))


def not_asked(np):
    """Of an argument that holds no array nobody asks, and nobody for ever."""
    try:
        return np.sum(np.ones(2), axis=Asked())
    except TypeError:
        return "refused"


ASKED = ("sum", "mean", "median", "roll", "reshape", "zeros_like", "clip", "linalg.norm", "fft.fft")
PROGRAMS = {
    f"{kind}, {name}": lambda np, other=other, product=product: product(np, np.ones((4, 4)), other)
    for name, product in PRODUCTS.items()
    for kind, other in (("masked", HIDDEN), ("matrix", SQUARE))
}
PROGRAMS |= {
    f"asked, {name}": lambda np, name=name: _function(np, name)(Asked(), keepdims=1)
    for name in ASKED
}
PROGRAMS |= {
    "asked in a list": lambda np: np.concatenate([np.ones(2), Asked()]),
    "asked beside ours": lambda np: np.dot(np.ones(2), Asked()),
    "not asked": not_asked,
    "table": lambda np: [np.sum(Table(np)), np.roll(Table(np), 1), np.linalg.norm(Table(np))],
    "table, refused": refused,
    "dense": dense,
    **{name: solved(name) for name in ("gmres", "bicgstab", "lsqr")},
}


def _function(np, name):
    for part in name.split("."):
        np = getattr(np, part)
    return np


warnings.filterwarnings("ignore", category=PendingDeprecationWarning)
