"""Programs with subclasses of the array, and objects that take over an operation."""

import copy
import functools

import numpy


@functools.cache
def info_array(np):
    """The class of NumPy's documentation: a view with a word about it, which results inherit."""

    class InfoArray(np.ndarray):
        def __new__(cls, values, info=None):
            made = np.asarray(values).view(cls)
            made.info = info
            return made

        def __array_finalize__(self, other):
            if other is not None:
                self.info = getattr(other, "info", None)

        def __getitem__(self, key):
            return super().__getitem__(key)

    return InfoArray


@functools.cache
def raw_array(np):
    """A class that makes its memory itself, by either way."""

    class RawArray(np.ndarray):
        def __new__(cls, shape, dtype=float, by_name=False):
            made = np.ndarray.__new__(cls, shape, dtype) if by_name else super().__new__(cls, shape)
            made[...] = 2
            return made

    return RawArray


@functools.cache
def filled_array(np):
    """A class that writes into its memory as soon as it is made."""

    class FilledArray(np.ndarray):
        def __array_finalize__(self, other):
            self.fill(99)

    return FilledArray


@functools.cache
def counting_array(np):
    """A class with ufuncs of its own, which it hands on to NumPy's as plain arrays."""

    class CountingArray(np.ndarray):
        def __array_ufunc__(self, ufunc, method, *inputs, out=(), **kwargs):
            plain = [x.view(np.ndarray) if isinstance(x, CountingArray) else x for x in inputs]
            if out:
                kwargs["out"] = tuple(x.view(np.ndarray) for x in out)
            made = super().__array_ufunc__(ufunc, method, *plain, **kwargs)
            return np.asarray(out[0] if out else made).view(CountingArray)

    return CountingArray


class Left:
    """An object to which arrays leave an operation, by its priority."""

    __array_priority__ = 5

    def __init__(self, np):
        self.np = np

    def __array__(self, dtype=None, copy=None):
        return self.np.asarray([1.0, 2.0, 3.0], dtype)

    def _answer(self, other):
        return "left", type(other) is self.np.ndarray, other.tolist()

    __radd__ = __rmul__ = __rmatmul__ = __rpow__ = __lt__ = __eq__ = _answer
    __hash__ = None


class NotLeft(Left):
    """One that stands below arrays, and is made an array."""

    __array_priority__ = -5


def about(made):
    kind = "ndarray" if "ndarray" in type(made).__name__ else type(made).__name__
    return kind, getattr(made, "info", None), numpy.asarray(made).tolist()


def derived(expression):
    def program(np):
        made = info_array(np)(np.arange(4.0), "word")
        return about(expression(np, made, np.arange(4.0)))

    return program


def written(np):
    """What is written through either is seen through both; on several ranks a view is a copy."""
    i = info_array(np)(np.arange(4.0), "word")
    i[1:3] += 5
    i *= 2
    np.add(i, 1, out=i)
    x = np.zeros(4)
    x[:2] = i[2:]
    x += i
    return about(i), about(x)


def counted(np):
    a, x = np.arange(3.0).view(counting_array(np)), np.arange(3.0)
    a += 1
    return [about(made) for made in (a, a + 1, x + a, np.add.reduce(a), np.sqrt(a[1:]), a @ x)]


def left(expression):
    return lambda np: [expression(np, np.ones(3), kind(np)) for kind in (Left, NotLeft)]


def listed(values):
    return values.tolist() if hasattr(values, "tolist") else values


DERIVED = {
    "itself": lambda np, i, x: i,
    "slice": lambda np, i, x: i[1:],
    "mask": lambda np, i, x: i[i > 1],
    "element": lambda np, i, x: i[1],
    "plus number": lambda np, i, x: 2 - i,
    "plus ours": lambda np, i, x: i + x,
    "ours plus it": lambda np, i, x: x + i,
    "matmul": lambda np, i, x: x @ i,
    "comparison": lambda np, i, x: x == i,
    "ufunc": lambda np, i, x: np.sqrt(i),
    "ufunc of two": lambda np, i, x: np.hypot(x, i).astype(int),
    "sum": lambda np, i, x: i.sum(),
    "mean": lambda np, i, x: np.mean(i),
    "reshape": lambda np, i, x: np.reshape(i, (2, 2)).T,
    "concatenate": lambda np, i, x: np.concatenate([i, x]),
    "insert": lambda np, i, x: np.insert(i, 0, 1),
    "zeros_like": lambda np, i, x: np.zeros_like(i),
    "asarray": lambda np, i, x: np.asarray(i) + 1,
    "asanyarray": lambda np, i, x: np.asanyarray(i),
    "view as plain": lambda np, i, x: i.view(np.ndarray) + 1,
    "view by name": lambda np, i, x: i.view(type=np.ndarray),
    "view as bytes": lambda np, i, x: i.view("u1")[:9],
    "copied": lambda np, i, x: copy.deepcopy(i) + i.copy(),
    "norm": lambda np, i, x: np.linalg.norm(i),
    "median": lambda np, i, x: np.median(i),
}
LEFT = {
    "plus": lambda np, a, b: listed(a + b),
    "times": lambda np, a, b: listed(a * b),
    "product": lambda np, a, b: listed(a @ b),
    "power": lambda np, a, b: listed(a**b),
    "greater": lambda np, a, b: listed(a > b),
    "equal": lambda np, a, b: listed(a == b),
    "function": lambda np, a, b: listed(np.add(a, b)),
}
PROGRAMS = {
    **{f"derived, {name}": derived(program) for name, program in DERIVED.items()},
    **{f"left, {name}": left(program) for name, program in LEFT.items()},
    "derived, written": written,
    "derived, ufuncs of its own": counted,
    "derived, filled": lambda np: about(np.zeros((50, 50)).copy().view(type=filled_array(np))),
    "derived, memory of its own": lambda np: about(raw_array(np)((2, 3)) + 1),
    "derived, memory by name": lambda np: about(raw_array(np)(3, int, True).T),
}
