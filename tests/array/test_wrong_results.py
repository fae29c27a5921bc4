"""Programs that once gave a wrong result or an internal error, compared with NumPy."""

import itertools

import dappled as np
import numpy
import pytest


def same(mine, theirs):
    """Whether a result is NumPy's, to rounding, with the same shape and dtype."""
    mine, theirs = numpy.asarray(mine), numpy.asarray(theirs)
    assert (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype)
    numpy.testing.assert_allclose(mine, theirs, rtol=1e-12)


def run(library, statements, names):
    """The names that are left after some statements, run with NumPy or with Dappled."""
    names = {"np": library, **{name: library.array(value) for name, value in names.items()}}
    exec(statements, names)
    return names


# A deferred write, and a reduction that reads what is written through a view of another dtype.

WRITES = {
    "complex": [
        "a[1:-1] = a[1:-1]*0.5",
        "a[1:-1] = a[:-2]*a.real[2:]",
        "a.real[1:-1] = a.imag[:-2] + a.imag[2:]",
        "a.imag[:] = a.real*2",
        "a.view('f8')[1:-1] = a.view('f8')[:-2]*2",
    ],
    "float": [
        "a[1:-1] = a[2:] + a[:-2]",
        "a.view('c16')[1:-1] = a.view('c16')[:-2]*2j",
        "a[1:-1] = a.view('i8')[1:-1]*0.5",
        "a.view('f4')[1:-1] = a.view('f4')[1:-1]*0.5",
    ],
    "fields": ["a['x'][1:-1] = a['x'][1:-1]*0.5", "a['y'][1:-1] = a['y'][2:]*2"],
}
READS = {
    "complex": [
        "(a.real**2 + a.imag**2).sum()",
        "np.angle(a).sum()",
        "np.isreal(a).sum()",
        "(a*a.real).sum()",
        "(a.view('f8')*2).sum()",
        "(a.view('i8') >> 3).sum()",
        "a.real[a.imag > 0].sum()",
        "np.cumsum(a.real*2)",
    ],
    "float": [
        "(a.view('c16')*2).sum()",
        "(a.view('i8') >> 3).sum()",
        "abs(a.view('c16').real).sum()",
    ],
    "fields": ["(a['x']*2).sum()", "(a['x']*a['y']).max()"],
}


@pytest.mark.parametrize("kind", WRITES)
@pytest.mark.parametrize("count", [400, 40_000])
@pytest.mark.ranks(1, 3)
def test_views_of_another_dtype_see_deferred_writes(kind, count):
    values = (numpy.arange(count) % 97 - 40) / 8
    if kind == "complex":
        values = values.view("c16")
    elif kind == "fields":
        values, plain = numpy.zeros(count, dtype=[("x", "f8"), ("y", "i4")]), values
        values["x"], values["y"] = plain, numpy.arange(count) % 5
    for write, read in itertools.product(WRITES[kind], READS[kind]):
        statements = f"{write}; found = {read}"
        mine, theirs = (run(library, statements, {"a": values}) for library in (np, numpy))
        same(mine["found"], theirs["found"])
        assert numpy.asarray(mine["a"]).tobytes() == theirs["a"].tobytes(), statements
