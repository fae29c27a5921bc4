"""Programs that once gave a wrong result or an internal error, compared with NumPy."""

import itertools
import warnings

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


def outcome(library, statement, names):
    """What a statement raises, warns of, and leaves in arrays."""
    names = {name: library.array(value) for name, value in names.items()}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            exec(statement, {**globals(), **names, "np": library})
            raised = None
        except Exception as error:
            raised = type(error)
    texts = [str(one.message) for one in told if one.category is not np.FallbackWarning]
    return raised, texts, {name: numpy.asarray(value).tolist() for name, value in names.items()}


# A ufunc that writes into no elements.

INTO_NOTHING = [
    f"np.{ufunc}({argument}, out={out})"
    for ufunc in ("sqrt", "log", "arccos", "reciprocal")
    for argument in ("-4", "0.0", "[-4]", "i[:1]", "a[:1] - 9", "np.array(-4)", "np.int64(0)")
    for out in ("a[5:5]", "np.empty((2, 0))", "np.empty(0, 'c16')", "np.empty(0, 'i4')")
] + [
    f"np.{ufunc}({arguments}, out={out})"
    for ufunc in ("divide", "floor_divide", "remainder", "power", "multiply", "arctan2")
    for arguments in ("1, 0", "i[:1], 0", "a[:1], a[:1]", "1e308, [1e308]", "i[:2], a[:3]")
    for out in ("a[5:5]", "np.empty((2, 0))")
]


@pytest.mark.ranks(1, 2, 3)
def test_ufuncs_into_no_elements_give_no_warning():
    names = {"a": numpy.arange(12.0), "i": numpy.arange(12) - 100}
    for statement in INTO_NOTHING:
        assert outcome(np, statement, names) == outcome(numpy, statement, names), statement


# Numbers that do not fit, by each way to write them.

VALUES = [
    "70000",
    "-1",
    "np.int32(70000)",
    "np.int64(2**40 + 3)",
    "np.float64(1e10)",
    "1.5",
    "1j",
    "np.datetime64(5, 's')",
    "None",
    "2**70",
    "[70000]",
    "[np.int32(70000), 1, 2]",
    "np.array(70000, dtype='i4')",
    "np.array([70000], dtype='i4')",
    "np.array([1e10])",
    "v[:3]",
    "numpy.array([70000], dtype='i4')",
]
WAYS = [
    "np.put(a, [0, 1], {})",
    "np.put(a, i, {}, mode='wrap')",
    "np.place(a, m, {})",
    "np.putmask(a, m, {})",
    "a[0] = {}",
    "a[1:4] = {}",
    "a[m] = {}",
    "a[i] = {}",
    "a[[0, 1, 2]] = {}",
    "a.fill({})",
    "np.copyto(a, {})",
    "a.flat[1] = {}",
    "a.flat[[0, 2]] = {}",
    "np.put_along_axis(a, i, {}, 0)",
]


@pytest.mark.parametrize("dtype", ["i2", "u1", "f4", "?"])
@pytest.mark.ranks(1, 3)
def test_integers_out_of_range(dtype):
    names = {
        "a": numpy.arange(6).astype(dtype),
        "i": numpy.arange(3),
        "m": numpy.arange(6) % 2 == 0,
    }
    names["v"] = numpy.arange(6, dtype="i4") * 70000
    for way, value in itertools.product(WAYS, VALUES):
        statement = way.format(value)
        mine, theirs = outcome(np, statement, names), outcome(numpy, statement, names)
        assert (mine[0], str(mine[2])) == (theirs[0], str(theirs[2])), statement


# Objects that write while they are converted.


class Writing:
    def __init__(self, array):
        self.array = array

    def __float__(self):
        self.array[3] = 99
        return 5.0


CONVERTED = [
    "a[1] = Writing(a)",
    "a[1:3] = Writing(a)",
    "a[1:3] = [Writing(a), Writing(a)]",
    "a[[1, 2]] = Writing(a)",
    "a[a < 2] = Writing(a)",
    "a.put([1], Writing(a))",
    "a.flat[1] = Writing(a)",
    "np.putmask(a, a < 2, Writing(a))",
    "a.fill(Writing(a))",
]


@pytest.mark.ranks(1, 2, 3)
def test_a_write_while_a_value_is_converted_stays():
    for statement in CONVERTED:
        mine, theirs = (outcome(lib, statement, {"a": numpy.arange(12.0)}) for lib in (np, numpy))
        assert mine == theirs, statement


@pytest.mark.ranks(1, 2, 3)
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::dappled.FallbackWarning")
def test_products_of_segments_are_in_order():
    rng = numpy.random.default_rng(1)
    for count in range(1, 60):
        dtype = ["f8", "f4", "c16"][count % 3]
        values = rng.choice([0, 1e300, 1e-300, 3, 1e38, 1e-38, numpy.inf], count).astype(dtype)
        places = rng.integers(0, count, 5)
        places = numpy.sort(places) if count % 4 else places
        theirs = numpy.multiply.reduceat(values, places)
        mine = numpy.asarray(np.multiply.reduceat(np.array(values), places))
        numpy.testing.assert_array_equal(mine, theirs)


# Offered pieces of which no array can be made.


class Offered:
    def __init__(self, labels, one_to_one=True):
        self.labels, self.one_to_one = labels, one_to_one

    def __distarray__(self):
        ranks, rank = np.comm.size, np.comm.rank
        dimension = {"dist_type": "u", "size": 3 * ranks, "indices": self.labels}
        dimension |= {"proc_grid_size": ranks, "proc_grid_rank": rank}
        dimension |= {"one_to_one": self.one_to_one}
        return {"__version__": "0.10.0", "buffer": numpy.ones(3), "dim_data": (dimension,)}


@pytest.mark.parametrize("first, step", [(1, 1), (0, 10), (-1, -1), (2**40, 1)])
@pytest.mark.ranks(1, 2, 3)
def test_labels_that_are_not_indices_are_refused(first, step):
    labels = first + step * (3 * np.comm.rank + numpy.arange(3))
    with pytest.raises(np.protocol.ProtocolError, match=r"C07.*expected exactly 0 to") as error:
        np.from_distarray(Offered(labels))
    assert (error.value.rule, error.value.dimension, error.value.key) == ("C07", 0, "indices")


@pytest.mark.ranks(1, 2, 3)
def test_a_wrong_piece_of_one_rank_is_refused_on_all():
    labels = 3 * np.comm.rank + numpy.arange(3)
    if np.comm.rank == np.comm.size - 1:
        labels = labels[:2]
    with pytest.raises(np.protocol.ProtocolError, match="L17"):
        np.from_distarray(Offered(labels))
    same(np.from_distarray(Offered(3 * np.comm.rank + numpy.arange(3))).sum(), 3.0 * np.comm.size)


@pytest.mark.ranks(2)
@pytest.mark.parametrize("member", ["local", "distribution", "update_padding"])
def test_a_view_says_that_it_is_one(member):
    text = r"shape \(9,\) is a view of another array, of shape \(10,\)"
    with pytest.raises(ValueError, match=text):
        getattr(np.arange(10.0)[1:], member)()
