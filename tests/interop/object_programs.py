"""Programs with objects of other libraries and of the user beside Dappled arrays."""

import numpy
from scipy import optimize, sparse

from tests.interop import output_programs, override_programs, subclass_programs
from tests.support.compare import check_program

SIZE = 12


class Made:
    """An object that makes an array of itself, as the program's NumPy makes it."""

    def __init__(self, np):
        self.np = np

    def __array__(self, dtype=None, copy=None):
        return self.np.arange(3.0)


class Series:
    """An object with ufuncs of its own, and no word of what it was not asked."""

    def __init__(self, values):
        self.values = values

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        values = [value.values if isinstance(value, Series) else value for value in inputs]
        return "series", ufunc.__name__, method, sorted(kwargs), numpy.asarray(values[0]).tolist()


class Described:
    """An object that shows the memory of an array."""

    def __init__(self, array):
        self.array = array

    @property
    def __array_interface__(self):
        return self.array.__array_interface__


def allocated(np):
    """The sum of a column and a row in an array that the iterator makes."""
    with np.nditer([np.arange(3).reshape(3, 1), np.arange(3), None]) as it:
        for x, y, z in it:
            z[...] = x + y
        return it.operands[2]


def by_place(np):
    flags = [["readonly"], ["writeonly", "allocate"]]
    it = np.nditer([np.arange(4.0), None], [], flags)
    while not it.finished:
        it[1][...] = it[0] * 2
        it.iternext()
    return it.operands[1]


def gradient(np):
    """A minimum whose gradient is made like an array of SciPy's."""

    def slope(x):
        made = np.zeros_like(x)
        made[...] = 2 * (x - 1)
        return made

    def norm(x):
        return np.sum((x - 1) ** 2)

    return optimize.minimize(norm, np.zeros(3), jac=slope, method="L-BFGS-B").x


def masked(np):
    """A masked array of ours may be written, wherever its memory is."""
    made = np.ma.array(np.arange(6).reshape(2, 3), mask=[[0, 1, 0], [0, 0, 1]])
    made[0, 0] = 10
    return made


def matrix(np):
    made = np.asmatrix(np.eye(2))
    made[0, 1] = 3
    return made


HIDDEN = numpy.ma.array(numpy.arange(SIZE), mask=[0, 1] * (SIZE // 2))
SQUARE = numpy.asmatrix(numpy.arange(4.0).reshape(2, 2))


def written(np):
    """What a mask hides is written all the same: an array has no mask."""
    a = np.zeros(SIZE)
    a[2:] = HIDDEN[2:]
    a += HIDDEN
    return a


def domain(np):
    fit = np.polynomial.Polynomial.fit(np.arange(5.0), np.arange(5.0) ** 2, 2)
    return [*fit.domain.tolist(), *type(fit).domain.tolist()]


def converted(np):
    kinds = np.polynomial
    found = kinds.Polynomial([1, 2, 3]).convert(kind=kinds.Chebyshev)
    return isinstance(found, kinds.Chebyshev), str(found), f"{kinds.Polynomial([1, 2]):ascii}"


PROGRAMS = {
    "asarray": lambda np: np.asarray(Made(np)) + 1,
    "array of several": lambda np: np.array([Made(np), Made(np)]),
    "asanyarray": lambda np: np.asanyarray(Made(np)),
    "ascontiguousarray": lambda np: np.ascontiguousarray(Made(np)),
    "ufunc of made": lambda np: np.sqrt(Made(np)),
    "sum of made": lambda np: np.sum(Made(np)),
    "concatenate made": lambda np: np.concatenate([Made(np), [1]]),
    "dot of made": lambda np: np.dot(Made(np), Made(np)),
    "series, right": lambda np: np.arange(SIZE) * Series(numpy.ones(SIZE)),
    "series, compared": lambda np: np.arange(SIZE) < Series(numpy.ones(SIZE)),
    "series, function": lambda np: np.maximum(np.arange(SIZE), Series(numpy.ones(SIZE))),
    "series, reduced": lambda np: np.maximum.reduce(Series(numpy.ones(SIZE))),
    "series, accumulated": lambda np: np.add.accumulate(Series(numpy.ones(SIZE))),
    "sparse, right": lambda np: np.arange(SIZE) @ sparse.eye(SIZE, format="csr"),
    "sparse, left": lambda np: sparse.eye(SIZE, format="csr") @ np.arange(SIZE),
    "sparse, product": lambda np: np.ones((2, SIZE)) * sparse.eye(SIZE, format="csr"),
    "sparse, sum": lambda np: np.asarray(np.ones((SIZE, SIZE)) + sparse.eye(SIZE, format="csr")),
    "reversed": lambda np: [int(x) for x in reversed(np.arange(4))],
    "reversed rows": lambda np: np.array(list(reversed(np.arange(6).reshape(2, 3)))),
    "priority": lambda np: np.arange(3).__array_priority__,
    "interface": lambda np: [np.arange(3).__array_interface__[key] for key in ("shape", "typestr")],
    "described": lambda np: np.asarray(Described(np.arange(6.0).reshape(2, 3).T)) + 1,
    "dates": lambda np: numpy.asarray(np.arange("2020-01", "2020-09", dtype="M8[M]")),
    "nditer makes": allocated,
    "nditer by place": by_place,
    "gradient": gradient,
    "masked": masked,
    "masked, right": lambda np: np.arange(SIZE) * HIDDEN,
    "masked, left": lambda np: HIDDEN - np.ones(SIZE),
    "masked, compared": lambda np: np.arange(SIZE) < HIDDEN,
    "masked, function": lambda np: np.sqrt(HIDDEN),
    "masked, function of two": lambda np: np.maximum(np.arange(SIZE), HIDDEN),
    "masked, written": written,
    "matrix": matrix,
    "matrix, right": lambda np: np.ones((2, 2)) * SQUARE,
    "matrix, left": lambda np: SQUARE * np.ones((2, 2)),
    "matrix, function": lambda np: np.add(np.ones((2, 2)), SQUARE),
    "polynomial's domain": domain,
    "polynomial, converted": converted,
    **override_programs.PROGRAMS,
    **subclass_programs.PROGRAMS,
    **output_programs.PROGRAMS,
}


def seen(np, program):
    """The result of a program: class, dtype and values."""
    try:
        found = program(np)
    except Exception as error:
        check_program(error)
        return repr(error)
    kind = "array" if type(found) in (np.ndarray, numpy.ndarray) else type(found).__name__
    dtype = getattr(found, "dtype", None)
    return kind, dtype, found.tolist() if hasattr(found, "tolist") else found
