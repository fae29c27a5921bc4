"""Runs programs in NumPy with every source copied first, and in Dappled as they are written.

A write has one meaning: as if every source, mask and index had been read before anything is
written. In the oracle each expression between « and » is therefore copied before it is used.
"""

import warnings
from contextlib import contextmanager
from functools import cache

import numpy

DAYS = numpy.datetime64("2000-02-28")


@contextmanager
def quietly():
    """Floating-point errors are no matter of these programs."""
    with numpy.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def for_oracle(statement):
    """A statement in which every source is copied first."""
    return statement.replace("«", "_c(").replace("»", ")")


def for_dappled(statement):
    """A statement as a user writes it."""
    return statement.replace("«", "").replace("»", "")


@cache
def _data(seed, shape, kind):
    size = int(numpy.prod(shape))
    state = numpy.random.RandomState(seed)
    whole = state.randint(-9, 10, size)
    dtype = numpy.dtype(kind)
    if dtype.kind == "b":
        values = whole > 0
    elif dtype.kind in "fc":
        values = (whole / 4).astype(dtype)
        if dtype.kind == "c":
            values = values + (1j * (whole[::-1] / 2)).astype(dtype)
        if seed < 2:
            values[3::11], values[5::13] = numpy.nan, numpy.inf
    elif dtype.kind == "u":
        values = abs(whole).astype(dtype)
    elif dtype.kind == "M":
        values = DAYS + whole.astype("m8[D]")
    else:
        values = whole.astype(dtype)
    values = values.reshape(shape)
    values.flags.writeable = False
    return values


def data(seed, shape, kind):
    """Small numbers, the same in every run; with the first seeds also NaN and infinity."""
    return _data(seed, shape, kind)


@cache
def _places(seed, count, limit, kind):
    values = numpy.random.RandomState(seed).randint(0, limit, count).astype(kind)
    values.flags.writeable = False
    return values


def places(seed, count, limit, kind):
    """Indices below a limit, with duplicates."""
    return _places(seed, count, limit, kind)


def copied(value):
    return numpy.array(value) if isinstance(value, numpy.ndarray) else value


class Near:
    """A value that may differ in rounding."""

    def __init__(self, value):
        self.value = value


class Run:
    """The names and the log of one run of a program."""

    def __init__(self, np, **others):
        self.log = []
        self.names = {
            "np": np,
            "numpy": numpy,
            "data": data,
            "places": places,
            "log": lambda value: self.log.append(kept(value)),
            "near": lambda value: self.log.append(Near(kept(value))),
            **others,
        }
        self.fixed = set(self.names)

    def arrays(self):
        """The variables of the program, by name."""
        return {
            name: value
            for name, value in self.names.items()
            if name not in self.fixed and not name.startswith("_") and name not in ("f", "x")
        }


class Oracle(Run):
    """NumPy, with sources copied first."""

    def __init__(self):
        super().__init__(numpy, _c=copied, at=lambda array, dist: array)

    def run(self, statement):
        """Runs a statement; whether it raised nothing."""
        try:
            exec(for_oracle(statement), self.names)
        except Exception as error:
            self.log.append(error)
            return False
        return True

    def evaluate(self, text):
        return eval(for_dappled(text), self.names)

    def state(self):
        return {name: described(value) for name, value in self.arrays().items()}


def kept(value):
    """A value as it is now."""
    if isinstance(value, numpy.ndarray):
        return value.copy()
    if hasattr(value, "__array_namespace__") and hasattr(value, "shape"):
        return numpy.array(value)
    return value


def run_dappled(dappled, statements, in_function=False):
    """Runs a program in Dappled; returns its variables and its log."""
    run = Run(dappled, at=lambda array, dist: array.redistribute(dist))
    lines = []
    for statement in statements:
        lines.append("try:")
        lines.append(f"    {for_dappled(statement)}")
        lines.append("except Exception as _error: _failed(_error)")
    run.names["_failed"] = run.log.append
    run.fixed.add("_failed")
    text = "\n".join(lines)
    with quietly():
        if in_function:
            body = "\n".join(f"    {line}" for line in lines)
            text = f"def _program():\n{body}\n    return locals()\n"
            exec(compile(text, "<program>", "exec"), run.names)
            made = run.names.pop("_program")()
            run.names.update(made)
        else:
            exec(compile(text, "<program>", "exec"), run.names)
    return run


def described(value):
    if isinstance(value, memoryview):
        value = numpy.asarray(value)
    if isinstance(value, numpy.ndarray):
        return str(value.dtype), value.shape, bits(value)
    return type(value).__name__, repr(value)


def bits(array):
    if array.dtype.kind == "O":
        return repr(array.tolist())
    if array.dtype.char in "gG" and numpy.finfo("g").nmant == 63:
        items = numpy.array(array, order="C").reshape(-1).view("u1")
        return items.reshape(-1, numpy.dtype("g").itemsize)[:, :10].tobytes()  # without padding
    return array.tobytes()


def _shown(value):
    """A value as text, of a long one its beginning."""
    text = repr(value)
    return text if len(text) < 500 else f"{text[:500]}…"


def difference(oracle, run, statements=()):
    """The difference between the oracle's and Dappled's run, or None."""
    left_open = LeftOpen(statements)
    if len(oracle.log) != len(run.log):
        return f"NumPy logged {len(oracle.log)} values, Dappled {len(run.log)}: {run.log}"
    for place, (theirs, ours) in enumerate(zip(oracle.log, run.log, strict=True)):
        if text := unlike(theirs, ours, left_open):
            return f"log {place}: {text}"
    theirs, ours = oracle.arrays(), run.arrays()
    if theirs.keys() != ours.keys():
        return f"names: NumPy {sorted(theirs)}, Dappled {sorted(ours)}"
    for name in theirs:
        if text := unlike(theirs[name], ours[name], left_open):
            return f"{name}: {text}"
    return None


class LeftOpen:
    """Parts of a program that NumPy leaves undefined, where the oracle may differ."""

    def __init__(self, statements=()):
        text = " ".join(statements)
        # Extremes and sorts choose one of 0.0 and -0.0 as they like.
        self.signs = any(word in text for word in ("max", "min", "sort", "clip"))
        # Bits of products and absolute values of complex numbers depend on strides, and those of
        # the oracle are others. They may be cast to a dtype with more bits.
        self.rounding = "absolute" in text and ("'F'" in text or "'D'" in text)
        self.precision = 1e-4 if "'F'" in text else 1e-9


def unlike(theirs, ours, left_open=None):
    left_open = left_open or LeftOpen()
    nearly = isinstance(theirs, Near)
    if nearly and isinstance(ours, Near):
        theirs, ours = theirs.value, ours.value
    nearly = nearly or left_open.rounding
    if isinstance(theirs, Exception) or isinstance(ours, Exception):
        if _kind(theirs) == _kind(ours):
            return None
        return f"NumPy {_shown(theirs)}, Dappled {_shown(ours)}"
    if isinstance(theirs, list | tuple):
        if type(theirs) is not type(ours) or len(theirs) != len(ours):
            return f"NumPy {_shown(theirs)}, Dappled {_shown(ours)}"
        return next(filter(None, map(unlike, theirs, ours)), None)
    if not isinstance(theirs, numpy.ndarray | numpy.generic | memoryview):
        alike = type(theirs) is type(ours) and repr(theirs) == repr(ours)
        return None if alike else f"NumPy {_shown(theirs)}, Dappled {_shown(ours)}"
    one, other = numpy.asarray(theirs), numpy.asarray(ours)
    if one.dtype != other.dtype or one.shape != other.shape:
        return f"NumPy {one.dtype} {one.shape}, Dappled {other.dtype} {other.shape}"
    if bits(one) == bits(other) or same(one, other, nearly, left_open):
        return None
    different = numpy.argwhere(~numpy.atleast_1d(numpy.asarray(_equal(one, other))))
    where = different[:3].tolist()
    first = [(one[tuple(at)], other[tuple(at)]) for at in where] if one.ndim else (one, other)
    return f"{len(different)} of {one.size} elements differ, at {where} NumPy and Dappled {first}"


def _equal(one, other):
    if one.dtype.kind in "fc":
        return (one == other) | ((one != one) & (other != other))
    return one == other


def same(one, other, nearly, left_open):
    if one.dtype.names:
        fields = ((one[name], other[name]) for name in one.dtype.names)
        return all(bits(a) == bits(b) or same(a, b, nearly, left_open) for a, b in fields)
    if one.dtype.kind in "SUOV" or one.dtype.char in "gG":
        return repr(one.tolist()) == repr(other.tolist())
    if bool(numpy.all(_equal(one, other))):
        exact = one.dtype.kind == "f" and not left_open.signs and not nearly
        return not exact or _same_signs(one, other)
    if one.dtype.kind == "c" and not nearly:
        return _close(one, other, left_open.precision)
    if not nearly or one.dtype.kind not in "fc":
        return False
    finite = numpy.isfinite(one) & numpy.isfinite(other)
    precision = PRECISION.get(one.dtype.char, left_open.precision)
    with numpy.errstate(all="ignore"):
        scale = max(1, numpy.abs(one[finite]).max(initial=0))
        # Sums that overflow in one order need not in another.
        return bool(numpy.all(numpy.abs(one - other)[finite] <= precision * scale))


PRECISION = {"e": 2e-2, "f": 1e-4, "F": 1e-4}


def _close(one, other, precision):
    """Bits of complex products depend on strides in NumPy, and those of the oracle are others."""
    with numpy.errstate(all="ignore"):
        limit = PRECISION.get(one.dtype.char, precision) * numpy.maximum(1, numpy.abs(one))
        return bool(numpy.all((numpy.abs(one - other) <= limit) | _equal(one, other)))


def _same_signs(one, other):
    """Signs of zeros."""

    def signs(array):
        parts = numpy.ascontiguousarray(array).reshape(-1).view(array.real.dtype)
        return numpy.where(numpy.isnan(parts), False, numpy.signbit(parts))

    return bool(numpy.array_equal(signs(one), signs(other)))


def _kind(error):
    """The class of an error; a name that is missing is another one inside a function."""
    return "NameError" if isinstance(error, NameError) else type(error).__name__.strip("_")
