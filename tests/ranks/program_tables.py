"""Programs to run on several ranks, by name, with their operands and distributions."""

import itertools
import operator
import os

import numpy

from tests.support import programs
from tests.support.values import FEW, NUMBERS, SHAPES, VIEWS, numbers

UNARY = "negative absolute square sqrt rint isnan sign logical_not invert conjugate reciprocal"
UNARY += " floor degrees signbit isfinite spacing positive bitwise_count modf frexp"
BINARY = "add subtract multiply divide floor_divide remainder maximum fmin less equal divmod"
BINARY += " copysign logical_xor bitwise_and left_shift gcd heaviside"
OPERATORS = "add sub mul truediv floordiv mod lt eq and_ or_ xor iadd isub imul itruediv iand"
# Functions whose last bits may differ: they are compared to 8 units of precision.
CLOSE = "exp log sin cos tan tanh exp2 expm1 log2 log1p cbrt arcsin arctan sinh"
CLOSE_OF_TWO = "power arctan2 hypot logaddexp"


def ufunc(name):
    return lambda np, *arrays: getattr(np, name)(*arrays)


def close(name):
    def program(np, *arrays):
        found = getattr(np, name)(*arrays)
        expected = getattr(numpy, name)(*map(numpy.asarray, arrays))
        kind = found.dtype.kind in "fc"
        rounding = 8 * numpy.finfo(found.dtype).eps if kind else 0
        return found.dtype, found.shape, np.isclose(found, expected, rounding, 0, equal_nan=True)

    return program


def by_operator(name):
    return lambda np, *arrays: getattr(operator, name)(*arrays)


def named(make, names):
    return {name: make(name) for name in names.split()}


ONE = {**named(ufunc, UNARY), **named(close, CLOSE)}
TWO = {**named(ufunc, BINARY), **named(close, CLOSE_OF_TWO)}
TWO |= {f"operator {name}": program for name, program in named(by_operator, OPERATORS).items()}
TWO |= {
    "scalar": lambda np, a, b: (a + 1, 2 * b, a - 1.5, True + a, a * numpy.float32(3)),
    "chain": lambda np, a, b: (a * 2 + b) * a - abs(b),
    "where": lambda np, a, b: np.where(a > b, a, b),
    "where scalar": lambda np, a, b: np.where(a > 2, a, 7),
    "row": lambda np, a, b: a + b[:1],
    "column": lambda np, a, b: a * b[..., :1],
    "shifted": lambda np, a, b: a[1:] + b[:-1],
    "stepped": lambda np, a, b: a[::2] - b[::-2],
    "transposed": lambda np, a, b: a.T + b.T,
    "new axes": lambda np, a, b: a[None] + b[:, None],
    "mixed": lambda np, a, b: (a + numpy.asarray(b), numpy.asarray(a) * b),
    "dtype": lambda np, a, b: np.add(a, b, dtype="f8"),
    "out": lambda np, a, b: np.add(a, b, out=b, casting="unsafe"),
    "out part": lambda np, a, b: np.multiply(a[1:], b[:-1], out=b[1:]),
    "where=": lambda np, a, b: np.add(a, b, where=a > b, out=b),
    "outer": lambda np, a, b: np.multiply.outer(a, b),
    "wrong shape": lambda np, a, b: a + np.ones((11, 13)),
    "wrong dtype": lambda np, a, b: np.bitwise_and(a, 1.5),
    "wrong cast": lambda np, a, b: np.add(a, 1.5, out=np.zeros(a.shape, "i4")),
    "third party": lambda np, a, b: numpy.ldexp(a, 3),
    "frompyfunc": lambda np, a, b: np.frompyfunc(lambda x, y: x, 2, 1)(a, b),
    "vectorize": lambda np, a, b: np.vectorize(lambda x, y: x if x == x else y)(a, b),
}

# These write; `a` is shown afterwards, too.
CHANGES = {
    "all": lambda np, a, b: a.__setitem__(Ellipsis, b),
    "scalar": lambda np, a, b: a.__setitem__((slice(1, -1)), 3),
    "element": lambda np, a, b: a.__setitem__((-1,) * a.ndim, 5),
    "row": lambda np, a, b: a.__setitem__(1, b[0]),
    "reversed": lambda np, a, b: a[::-1].__setitem__(slice(None), b),
    "transposed": lambda np, a, b: a.T.__setitem__(Ellipsis, b.T),
    "forwards": lambda np, a, b: a.__setitem__(slice(1, None), a[:-1]),
    "backwards": lambda np, a, b: a.__setitem__(slice(None, -1), a[1:]),
    "over itself": lambda np, a, b: a.__setitem__(Ellipsis, a[::-1]),
    "add over itself": lambda np, a, b: operator.iadd(a[1:], a[:-1]),
    "stepped": lambda np, a, b: operator.imul(a[::2], 3),
    "old values": lambda np, a, b: [a + b, a.__setitem__(Ellipsis, 0)],
    "copy": lambda np, a, b: [a.copy(), a.__setitem__(Ellipsis, 1)],
    "view of view": lambda np, a, b: a[1:][::-1].T.__setitem__(Ellipsis, 4),
    "flat row": lambda np, a, b: a.reshape(-1).__setitem__(slice(1, 4), 2),
    "mask": lambda np, a, b: a.__setitem__(a == b, 1),
    "fancy": lambda np, a, b: a.__setitem__([0, -1], b[:2]),
    "fancy get": lambda np, a, b: (a[[0, 1, 0]], b[b > 2], a[..., [0]]),
    "at": lambda np, a, b: np.add.at(a, [0, 0, 1], 1),
    "real": lambda np, a, b: setattr(a, "real", b.real),
    "imag": lambda np, a, b: setattr(a, "imag", 3),
    "shape": lambda np, a, b: [setattr(a, "shape", (-1, 1)), a],
    "too long": lambda np, a, b: a.__setitem__(slice(0, 1), np.ones((5, 3))),
    "read only": lambda np, a, b: [a.setflags(write=False), a.__setitem__(0, 1)],
}

LEAVES = {
    "repr": lambda np, a: (repr(a), str(a), f"{a}"),
    "parts": lambda np, a: [repr(a[1:]), repr(a.T), repr(a + 1)],
    "long repr": lambda np, a: repr(np.broadcast_to(a[..., None], (*a.shape, 2000)) * 2),
    "numpy": lambda np, a: [numpy.asarray(a).tolist(), numpy.array(a, dtype="c16").tolist()],
    "element": lambda np, a: (a[(0,) * a.ndim], a[(-1,) * a.ndim].item(), a.flat[1]),
    "one": lambda np, a: [float(a.real.max()), bool(a.any()), int(a.real.min() == 0), a.tolist()],
    "bytes": lambda np, a: (a.tobytes(), a[::-1].tobytes("F")),
    "iterate": lambda np, a: [row * 2 for row in a],
    "create": lambda np, a: (np.zeros_like(a), np.full((3, 4), 7, a.dtype), np.eye(4, 3, 1)),
    "ranges": lambda np, a: (np.arange(17), np.linspace(0, 1, 9), np.arange(12.0).reshape(3, 4)),
    "grids": lambda np, a: (np.meshgrid(np.arange(3), a.reshape(-1)), np.indices((2, 3))),
    "random": lambda np, a: np.random.default_rng(3).normal(size=a.shape) + a,
    "numpy's functions": lambda np, a: (numpy.sum(a, axis=0), numpy.concatenate([a, a])),
    "out of range": lambda np, a: a[99],
    "wrong axis": lambda np, a: a.sum(axis=9),
    "wrong shape": lambda np, a: a.reshape(11, 13),
}

ON_TWO = {**TWO, **{f"change {name}": program for name, program in CHANGES.items()}}

# Everything that all kinds of distributions go through.
LAID_OUT = {
    **{
        f"two {name}": TWO[name]
        for name in ("add", "chain", "row", "shifted", "stepped", "transposed")
    },
    **{f"two {name}": TWO[name] for name in ("mixed", "where", "out part", "divmod", "outer")},
    **{f"change {name}": program for name, program in CHANGES.items() if name != "shape"},
    "sum": lambda np, a, b: (a.sum(), a.sum(axis=0), b.sum(axis=-1, keepdims=True)),
    "max": lambda np, a, b: (a.max(), b.min(axis=0), (a > 0).any(), b.argmax()),
    "cumsum": lambda np, a, b: a.cumsum(axis=0),
    "mean": lambda np, a, b: ((a + 1).mean(axis=0), np.var(b, axis=-1)),
    "concatenate": lambda np, a, b: np.concatenate([a, b, a[1:]]),
    "roll": lambda np, a, b: (np.roll(a, 2, axis=0), np.flip(b), np.tile(a, 2)),
    "reshape": lambda np, a, b: (a.reshape(-1), b.T.reshape(-1), a.ravel("F")),
    "repr": lambda np, a, b: (repr(a), repr(b[::-1])),
    "copy": lambda np, a, b: (a.copy(), a.astype("f4"), np.array(b, order="F")),
    "matmul": lambda np, a, b: quiet_product(np, a.T, b),
}


def quiet_product(np, a, b):
    """BLAS's flags for NaN and infinity depend on the CPU and on the distribution of rows."""
    with np.errstate(invalid="ignore"):
        return np.round(a @ b, 6)


# Matrix products are equal to rounding.
REDUCING = {
    **programs.REDUCING,
    "cov": lambda np, a: np.round(np.cov(a), 6),
    "corrcoef": lambda np, a: np.round(np.corrcoef(a), 6),
}


def kwargs_of(layout, shape, ranks):
    """How a distribution of this kind is asked for: on the first axis, and no other."""
    length = shape[0]
    indices = numpy.random.RandomState(length).permutation(length)
    bounds = [0, *(min(length, 2 * rank) for rank in range(1, ranks)), length]
    return {
        "blocks": {"dist": "b"},
        "cyclic": {"dist": "c"},
        "block-cyclic": {"dist": "c", "block_size": 2},
        "irregular": {"dist": "b", "bounds": [bounds]},
        "padded": {"dist": "b", "padding": 1},
        "periodic": {"dist": "b", "padding": 1, "periodic": True},
        "unstructured": {"dist": "u", "indices": [list(map(sorted, deal(indices, ranks)))]},
        "whole": {"dist": "n"},
    }[layout]


def deal(indices, ranks):
    return [indices[rank::ranks].tolist() for rank in range(ranks)]


LAYOUTS = ["blocks", "cyclic", "block-cyclic", "irregular"]
LAYOUTS += ["padded", "periodic", "unstructured", "whole"]


def laid_out(np, array, layout):
    """An array of ours in a distribution; NumPy's is left as it is."""
    if np is numpy:
        return array
    options = kwargs_of(layout, array.shape, np.comm.size)
    options["dist"] += "n" * (array.ndim - 1)
    for name in ("bounds", "indices"):
        if name in options:
            options[name] += [None] * (array.ndim - 1)
    for name in ("padding", "periodic", "block_size"):
        if name in options:
            options[name] = [options[name], *[None] * (array.ndim - 1)]
    distribution = np.protocol.Distribution(array.shape, nprocs=np.comm.size, **options)
    return array.redistribute(distribution)


def maker(dtype, shape, count, view="plain", layout=None, other=None):
    """A function of the namespace that makes arrays there, the same in every one."""

    def make(np):
        made = []
        for seed in range(count):
            array = np.array(numbers(other if other and seed else dtype, shape, seed))
            array = laid_out(np, array, layout if seed == 0 else "blocks") if layout else array
            made.append(VIEWS[view](np, array))
        return made

    return make


def in_turn(programs, cases, count):
    """For each program some of the cases, `TIMES` times as many: all of them have their turn."""
    turns = itertools.cycle(cases)
    for name, program in programs.items():
        yield name, program, [next(turns) for _ in range(count * TIMES)]


TIMES = int(os.environ.get("DAPPLED_TEST_TIMES", "1"))
PLAIN = [(dtype, shape, "plain") for dtype in NUMBERS for shape in SHAPES[3:]]
SOME = [(dtype, (5, 3), view) for dtype in map(numpy.dtype, "dlDe?") for view in VIEWS]
SOME += [(dtype, shape, "plain") for dtype in FEW for shape in SHAPES]
PAIRS = [("d", "d"), ("l", "d"), ("f", "e"), ("D", "d"), ("?", "b"), ("B", "h"), ("L", "l")]


def tables():
    """All programs: the name, the program, and its cases, each with a maker of its arrays."""
    for name, program, cases in in_turn(ONE, PLAIN, 2):
        yield f"one {name}", program, [(case, maker(case[0], case[1], 1)) for case in cases]
    pairs = [(*pair, shape) for pair in PAIRS for shape in SHAPES[3:]]
    for name, program, cases in in_turn(ON_TWO, pairs, 2):
        makers = [maker(numpy.dtype(a), shape, 2, other=numpy.dtype(b)) for a, b, shape in cases]
        yield f"two {name}", program, list(zip(cases, makers, strict=True))
    for table in (programs.SHAPING, programs.JOINING, REDUCING, programs.WRITING, LEAVES):
        for name, program, cases in in_turn(table, SOME, 1):
            yield name, program, [(case, maker(case[0], case[1], 1, case[2])) for case in cases]
    laid = itertools.product(map(numpy.dtype, "dlD"), [(5, 3), (8,), (2, 3, 4)], LAYOUTS)
    for name, program, cases in in_turn(LAID_OUT, laid, 3):
        made = [(case, maker(case[0], case[1], 2, layout=case[2])) for case in cases]
        yield f"laid out {name}", program, made
