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


# Iterators over an array that the loop writes.

BASES = {
    "one axis": "np.arange(12.)",
    "two axes": "np.arange(12.).reshape(3, 4)",
    "transposed": "np.arange(12.).reshape(4, 3).T",
    "strided": "np.arange(48.).reshape(6, 8)[::2, ::2]",
    "reversed": "np.arange(12.)[::-1]",
    "partly reversed": "np.arange(24.).reshape(2, 3, 4)[:, ::-1].swapaxes(0, 2)",
}
LOOPS = {
    "flat": "for x in a.flat: found.append(float(x)); a[-1] += len(found); a[0] += 1",
    "ndenumerate": """
for at, x in np.ndenumerate(a):
    found.append((at, float(x)))
    a[-1] = 7 + len(found)
    a[0] += 1
""",
    "nditer": "for x in np.nditer(a): found.append(float(x)); a[...] = a + len(found)",
    "nditer in C order": "for x in np.nditer(a, order='C'): found.append(float(x)); a *= -1",
    "nditer of two": """
b = np.arange(a.size*1.).reshape(a.shape)
for x, y in np.nditer([a, b]):
    found.append(float(x + y))
    a += 1
    np.add(b, 1, out=b)
""",
    "indices": """
it = np.nditer(a, flags=["multi_index", "c_index"])
while not it.finished:
    found.append((it.multi_index, it.index, float(it[0])))
    a[it.multi_index] = -1
    it.iternext()
""",
    "other writes": """
it = a.flat
found.append(float(next(it)))
np.put(a, [1], -5)
found.append(float(next(it)))
a.flat[2] = 9
found.append(float(next(it)))
a[a > 3] = 1
found.append(float(next(it)))
view = a[...]
view *= 3
found.append(float(next(it)))
a.sort(axis=0)
found.append(float(next(it)))
a.fill(8)
found.append(float(next(it)))
""",
}


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
@pytest.mark.ranks(1, 2, 3)
@pytest.mark.filterwarnings("ignore::dappled.FallbackWarning")
def test_iterators_see_what_the_loop_writes(loop):
    for base in BASES.values():
        statements = f"found = []\na = {base}\n{loop}"
        mine, theirs = (run(library, statements, {}) for library in (np, numpy))
        assert mine["found"] == theirs["found"], base
        same(mine["a"], theirs["a"])


@pytest.mark.ranks(2, replicated_below=1_000_000)
def test_iterators_see_what_the_loop_writes_into_replicated_arrays():
    for base, loop in itertools.product(BASES.values(), LOOPS.values()):
        statements = f"found = []\na = {base}\n{loop}"
        mine, theirs = (run(library, statements, {}) for library in (np, numpy))
        assert mine["found"] == theirs["found"], (base, loop)


# Views without elements.

EMPTY = [
    "a[::-1][5:5]",
    "a[::-2][3:3]",
    "b[::-1][1:1]",
    "b[:, ::-1][:, 2:2]",
    "b[::-1, ::-1][2:2, 1:3]",
    "b.T[::-1][4:4]",
    "(a*2 + 1)[::-1][5:5]",
]
SCANS = ["cumsum", "cumprod", "nancumsum", "nancumprod", "add.accumulate", "maximum.accumulate"]


@pytest.mark.ranks(1, 2, 3)
@pytest.mark.filterwarnings("ignore::dappled.FallbackWarning")
def test_scans_of_empty_reversed_views():
    names = {"a": numpy.arange(12.0), "b": numpy.arange(12.0).reshape(3, 4)}
    for view, scan in itertools.product(EMPTY, SCANS):
        for axis in range(-1, "b" in view):
            statements = f"found = np.{scan}({view}, axis={axis})"
            mine, theirs = (run(library, statements, names) for library in (np, numpy))
            same(mine["found"], theirs["found"])


# What is printed.

SHAPES = [(20000,), (1001,), (2, 1000), (12, 11, 13), (0, 3), (7,)]
DTYPES = ["f8", "i1", "?", "c16", "M8[s]", "U5", [("x", "f8"), ("y", "i4")]]
PRINTED = [
    {},
    {"linewidth": 60},
    {"linewidth": 77},
    {"edgeitems": 1},
    {"edgeitems": 5, "threshold": 100},
    {"precision": 3, "suppress": True},
    {"legacy": "1.13"},
]


@pytest.mark.ranks(1, 3)
@pytest.mark.filterwarnings("ignore::dappled.FallbackWarning")
def test_text_is_numpys():
    for shape, dtype in itertools.product(SHAPES, DTYPES):
        values = numpy.arange(numpy.prod(shape))
        values = (values / 7 - 3 if dtype in ("f8", "c16") else values % 100).astype(dtype)
        theirs = values.reshape(shape)
        mine = np.array(theirs)
        for options in [*PRINTED, *[{"edgeitems": 0, "threshold": 5}] * (theirs.size < 10)]:
            with numpy.printoptions(**options):
                assert repr(mine) == repr(theirs), (shape, dtype, options)
                assert str(mine) == str(theirs), (shape, dtype, options)


@pytest.mark.ranks(1, 3)
def test_einsum_refuses_a_result_without_the_ellipsis():
    for library in (np, numpy):
        with pytest.raises(ValueError, match="ellipsis"):
            library.einsum("i...->i", library.ones((3, 4)))
