"""Programs with `__array_function__` and `__array_ufunc__` overrides, and with SciPy."""

import warnings

import numpy
from scipy import sparse

HIDDEN = numpy.ma.masked_less(numpy.arange(-3.0, 13.0).reshape(4, 4), -1)
SQUARE = numpy.asmatrix(numpy.arange(16.0).reshape(4, 4) + 9 * numpy.eye(4))
# A function of two matrices, the first of them ours.
PRODUCTS = {
    "dot": lambda np, a, b: np.dot(a, b),
    "dot, transposed": lambda np, a, b: np.dot(b, a),
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


def like(np):
    """A class like an array, as NumPy's documentation has it: of others than numbers and the
    program's arrays it knows nothing.
    """

    class Like(numpy.lib.mixins.NDArrayOperatorsMixin):
        def __init__(self, value):
            self.value = np.asarray(value)

        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            given = (*inputs, *kwargs.get("out", ()))
            if not all(isinstance(one, (np.ndarray, int, float, Like)) for one in given):
                return NotImplemented
            plain = [one.value if isinstance(one, Like) else one for one in inputs]
            if "out" in kwargs:
                outs = [one.value if isinstance(one, Like) else one for one in kwargs["out"]]
                kwargs["out"] = tuple(outs)
            found = getattr(ufunc, method)(*plain, **kwargs)
            named = ufunc == np.add, ufunc in (np.matmul, np.multiply), method
            return named, None if found is None else numpy.asarray(found).tolist()

    return Like


def added(np):
    a = b = np.arange(3.0)
    a += like(np)([1.0, 2.0, 3.0])
    return b


LIKE = {
    "no axes": lambda np, one: np.array(2) + one(3),
    "left": lambda np, one: np.arange(3.0) * one([1, 2, 3]),
    "right": lambda np, one: one([1, 2, 3]) - np.arange(3),
    "compared": lambda np, one: np.arange(3) < one([1, 0, 3]),
    "matmul": lambda np, one: np.matmul(one([1.0, 2.0]), np.ones((2, 2))),
    "@": lambda np, one: np.ones((2, 2)) @ one([1.0, 2.0]),
    "at": lambda np, one: np.add.at(one([1, 2, 3]), np.array([0, 1]), 5),
    "reduce": lambda np, one: np.add.reduce(one([1, 2, 3])),
    "outer": lambda np, one: np.multiply.outer(np.arange(2), one([1, 2])),
    "out": lambda np, one: np.add(np.arange(2), 1, out=one([0, 0])),
    "where": lambda np, one: np.add(np.arange(2), one([1, 1]), where=np.array([True, True])),
    "two": lambda np, one: np.modf(one([1.5, 2.5])),
    "large": lambda np, one: (np.arange(30_000.0) + one(1.0))[0],
}


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
    "table, wrong function": refused,
    "like, in place": added,
    **{f"like, {name}": lambda np, act=act: act(np, like(np)) for name, act in LIKE.items()},
    "dense": dense,
    **{name: solved(name) for name in ("gmres", "bicgstab", "lsqr")},
}


def _function(np, name):
    for part in name.split("."):
        np = getattr(np, part)
    return np


warnings.filterwarnings("ignore", category=PendingDeprecationWarning)
