"""Arrays of some thousand elements: several tiles, rows of all lengths, steps backwards."""

import itertools

import dappled
import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

SHAPES = [(9000,), (100, 3), (3, 100), (70, 5, 2), (3, 300, 4), (2, 2, 2500), (65, 15), (65, 17)]
STEPS = [1, -1, 2, -3]
DTYPES = ["?", "u1", "i2", "i4", "i8", "f4", "f8", "c16"]


def _values(shape, dtype):
    generator = numpy.random.default_rng(len(shape))
    return generator.integers(-9, 9, tuple(3 * length for length in shape)).astype(dtype)


@st.composite
def views(draw):
    """A function that makes the same view of any array, of one of the shapes with axes permuted."""
    shape = draw(st.sampled_from(SHAPES))
    axes = draw(st.permutations(range(len(shape))))
    steps = [draw(st.sampled_from(STEPS)) for _ in shape]
    crop = tuple(slice(length) for length in shape)
    return shape, lambda a: a[tuple(slice(None, None, step) for step in steps)][crop].transpose(
        axes
    )


@pytest.mark.filterwarnings("ignore:Casting complex values to real")
@settings(max_examples=150, deadline=None)
@given(view=views(), dtype=st.sampled_from(DTYPES), other=st.sampled_from(DTYPES))
def test_one_operation_in_any_direction(view, dtype, other):
    shape, seen = view
    theirs = _values(shape, dtype)
    a, b = seen(theirs), seen(dappled.array(theirs))
    for act in (
        lambda np, a: a.copy(),
        lambda np, a: a.astype(other),
        lambda np, a: a + a,
        lambda np, a: a == a[..., :1],
        lambda np, a: np.abs(a) * 2,
        lambda np, a: np.concatenate([a, a[::-1]]),
        lambda np, a: np.add(a, True, out=np.empty_like(a, order="F")),
    ):
        with numpy.errstate(all="ignore"):
            wanted, found = act(numpy, a), numpy.asarray(act(dappled, b))
        assert wanted.dtype == found.dtype and wanted.strides == found.strides
        assert wanted.tobytes() == found.tobytes()


@settings(max_examples=60, deadline=None)
@given(view=views(), dtype=st.sampled_from(DTYPES))
def test_written_in_any_direction(view, dtype):
    shape, seen = view
    theirs = _values(shape, dtype)
    ours = dappled.array(theirs)
    for values in (theirs, ours):
        seen(values)[...] = seen(values)[::-1]
        seen(values)[1:] = seen(values)[:-1] + seen(values)[1:]
    assert numpy.asarray(ours).tobytes() == theirs.tobytes()


# Sizes around the thresholds of eager computation and of copying.
SIDES = [(98, 101), (130, 126), (131, 126), (300, 200), (370, 360)]
LAYOUTS = {
    "in order": lambda a, h, w: a.reshape(-1)[: h * w].reshape(h, w),
    "part of rows": lambda a, h, w: a[:h, 1 : w + 1],
    "every second": lambda a, h, w: a[::2, ::2],
    "every third, backwards": lambda a, h, w: a[h:0:-1, 3 * w - 1 :: -3],
    "in F order": lambda a, h, w: a.reshape(-1)[: h * w].reshape(w, h).T,
    "transposed": lambda a, h, w: a.reshape(-1)[: 3 * h * w].reshape(w, 3 * h)[::-1, 5 : 5 + h].T,
    "transposed backwards": lambda a, h, w: a.reshape(-1)[: h * w].reshape(w, h)[:, ::-1].T,
    "a column": lambda a, h, w: a[:h, 2:3],
    "a row backwards": lambda a, h, w: a[3, w:0:-1],
}


def _one_layout(np, a, kind):
    return [
        a.copy(),
        a.copy("K"),
        a.astype(kind),
        np.ravel(a),
        a.reshape(-1, 1),
        a + 1,
        abs(a),
        (a + 3) * a - 1,
        a.any(),
        a.sum(axis=0),
        a.max(axis=-1),
    ]


def _two_layouts(np, a, b):
    target = np.zeros((a + b).shape, a.dtype)
    target[...] = b
    target[..., ::-2] = (a * b + a)[..., ::-2]
    return [a + b, a * b - a, (a + b) * (b - 1) + a, a < b, np.where(a > b, a, b), target]


def _assert_alike(wanted, found):
    for one, other in zip(wanted, found, strict=True):
        other = numpy.asarray(other)
        assert one.dtype == other.dtype and one.strides == other.strides
        assert one.tobytes() == other.tobytes()


def _seen(sides, dtype, layout):
    h, w = sides
    theirs = numpy.random.default_rng(h).integers(-9, 9, (2 * h, 3 * w)).astype(dtype)
    theirs = theirs if layout != "every second" else theirs[:, : 2 * w].copy()
    return [LAYOUTS[layout](np.array(theirs), h, w) for np in (numpy, dappled)]


@pytest.mark.filterwarnings("ignore:Casting complex values to real")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("sides", SIDES, ids=str)
def test_operands_in_any_layout(sides, layout):
    for dtype, kind in zip(["f8", "f4", "i4", "u1", "c16", "i2"], "idfdDd", strict=True):
        theirs, ours = _seen(sides, dtype, layout)
        with numpy.errstate(all="ignore"):
            _assert_alike(_one_layout(numpy, theirs, kind), _one_layout(dappled, ours, kind))


@pytest.mark.parametrize("layouts", list(itertools.product(LAYOUTS, repeat=2)), ids=" and ".join)
@pytest.mark.parametrize("sides", SIDES[::2], ids=str)
def test_two_operands_in_different_layouts(sides, layouts):
    for dtype in ("f8", "u1", "c8"):
        (a, ours), (b, other) = (_seen(sides, dtype, layout) for layout in layouts)
        with numpy.errstate(all="ignore"):
            _assert_alike(_two_layouts(numpy, a, b), _two_layouts(dappled, ours, other))


@pytest.mark.parametrize("shape", [(20_000,), (200, 100), (2, 10_000)])
@pytest.mark.parametrize("dtype", ["?", "f8", "i4"])
@pytest.mark.parametrize("usual", [0, 1])
def test_all_and_any_look_at_every_element(shape, dtype, usual):
    for at in [0, 5, 4095, 4096, 8191, 10_000, 19_999, None]:
        values = numpy.full(20_000, usual, dtype)
        if at is not None:
            values[at] = 1 - usual
        for seen in (lambda a: a, lambda a: a[..., ::-1], lambda a: a.T):
            theirs, ours = (seen(np.array(values.reshape(shape))) for np in (numpy, dappled))
            assert (ours.any(), ours.all()) == (theirs.any(), theirs.all())
            kept = numpy.asarray(ours.any(keepdims=True))
            assert kept.tolist() == theirs.any(keepdims=True).tolist()


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1", "c16", "?"])
def test_the_first_of_equals_is_found(dtype):
    generator = numpy.random.default_rng(3)
    for size, most in itertools.product([31, 2047, 2049, 40_000, 100_001], [1, 2, 50]):
        values = generator.integers(0, most + 1, size).astype(dtype)
        rows = values[: size // 7 * 7].reshape(7, -1)
        for one in (values, values[::-1], -values if dtype != "?" else ~values):
            ours = dappled.array(one)
            assert (ours.argmax(), ours.argmin()) == (one.argmax(), one.argmin())
        for axis in (0, 1):
            assert (numpy.asarray(dappled.array(rows).argmax(axis)) == rows.argmax(axis)).all()
        if dtype in ("f8", "f4", "c16") and size > 2000:
            values[[1900, size - 3]] = numpy.nan
            assert dappled.array(values).argmax() == values.argmax() == 1900


EDGES = [8191, 8192, 8193, 10_000, 16_384, 16_385, 40_000]


@pytest.mark.parametrize("size", EDGES)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1", "?"])
def test_chains_around_the_eager_threshold(size, dtype):
    theirs = [_values((size,), dtype)[:size] for _ in range(2)]
    ours = [dappled.array(array) for array in theirs]

    def program(np, a, b):
        before = a * b + 1
        mixed = np.sqrt(np.abs(before * 2)) + (a < b)
        b[:] = a | b if dtype in ("i8", "u1", "?") else a - b
        a += b
        return before, mixed, a + b[::-1], a[1:] * b[:-1], (2 - a) * 3, np.where(a > b, a, mixed)

    with numpy.errstate(all="ignore"):
        if dtype == "?":
            wanted, found = (each[0] & each[1] | each[0] for each in (theirs, ours))
            wanted, found = [wanted], [found]
        else:
            wanted, found = program(numpy, *theirs), program(dappled, *ours)
    for one, other in zip(wanted, found, strict=True):
        assert one.dtype == other.dtype and one.tobytes() == numpy.asarray(other).tobytes()


def test_deferred_warnings_name_the_line():
    a = dappled.zeros(9000)
    with pytest.warns(RuntimeWarning, match="divide by zero encountered in divide") as caught:
        b = 1 / a
        b._compute()
    assert caught[0].filename == __file__
    with numpy.errstate(divide="raise"), pytest.raises(FloatingPointError):
        1 / a
    with numpy.errstate(divide="ignore"):
        assert numpy.isinf(numpy.asarray(1 / a)).all()


CONDITIONS = ["i8", "f8", "i1", "c16", "?"]


@pytest.mark.parametrize("size", [5, 20_000])
@pytest.mark.parametrize("dtype", CONDITIONS)
def test_where_condition_does_not_affect_dtype(size, dtype):
    def chosen(np):
        condition = np.asarray(numpy.arange(size) % 3).astype(dtype)
        ones = np.ones(size, "f4")
        return [
            np.where(condition, ones, ones * 2),
            np.where(condition, ones, 1j),
            np.where(condition, np.full(size, 2**53 + 1), 0),
            np.where(condition, ones < 2, True),
            np.where(2.5, ones, 2),
        ]

    for wanted, found in zip(chosen(numpy), chosen(dappled), strict=True):
        assert wanted.dtype == found.dtype
        numpy.testing.assert_array_equal(wanted, numpy.asarray(found))


@pytest.mark.parametrize("size", [5, 9000, 40_000])
@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u4", "i8", "u8"])
def test_division_by_a_scalar(size, dtype):
    generator, info = numpy.random.default_rng(size), numpy.iinfo(dtype)
    theirs = generator.integers(info.min, info.max, size, dtype, endpoint=True)
    theirs[:3] = info.min, info.max, 0
    ours = dappled.array(theirs)
    for by in {1, 2, 3, 7, 10, 64, 127, info.max, info.max - 1, -info.max // 2, -1}:
        if by >= info.min:
            with numpy.errstate(all="ignore"):
                assert ((theirs // by) == numpy.asarray(ours // by)).all(), by


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_lengths_of_complex_numbers(dtype):
    parts = [0.0, -0.0, 1.5, 3e-320, 1e300, -7e200, numpy.inf, -numpy.inf, numpy.nan, 4.0]
    with numpy.errstate(all="ignore"):
        theirs = numpy.array([complex(a, b) for a in parts for b in parts] * 97, dtype)
        for some in (theirs, theirs[:7], theirs[1::2], theirs[::-1]):
            # Of a copy: with AVX-512 the last bit of NumPy's depends on the stride.
            wanted = numpy.abs(some.copy())
            found = numpy.asarray(dappled.abs(dappled.array(some)))
            assert wanted.tobytes() == found.tobytes()


@pytest.mark.parametrize("size", [9, 10_000, 40_000])
def test_invalid_casts_to_integers_warn(size):
    for kind, value in itertools.product(["i8", "i4", "i2", "u8"], [1e30, numpy.nan, -3e9]):
        theirs = numpy.linspace(-5.5, 5, size)
        theirs[size // 2] = value
        with numpy.errstate(invalid="raise"):
            told = []
            for array in (theirs, dappled.array(theirs)):
                try:
                    numpy.asarray(array.astype(kind))
                    told.append("")
                except FloatingPointError as error:
                    told.append(str(error))
        assert told[0] == told[1]
        with numpy.errstate(all="ignore"):
            found = numpy.asarray(dappled.array(theirs).astype(kind))
            assert found.tolist() == theirs.astype(kind).tolist()


FLOATING = ["arctan2", "hypot", "copysign", "nextafter", "heaviside", "logaddexp", "logaddexp2"]


@pytest.mark.parametrize("name", FLOATING)
def test_mixed_integers_use_the_first_common_loop(name):
    for one, other in itertools.product("?bBhHiIlLe", repeat=2):
        for size in (3, 20_000):
            made = [
                getattr(np, name)(np.ones(size, one), np.ones(size, other))
                for np in (numpy, dappled)
            ]
            assert made[0].dtype == made[1].dtype, (one, other, size)


def test_empty_arrays_have_any_layout():
    nothing = numpy.zeros(9, "u1")[1:].view("f8")[:0]
    ours = dappled.asarray(nothing)
    assert (ours + 1).tolist() == [] and (ours * ours).sum() == 0
    assert dappled.asarray(nothing.reshape(2, 0)).var(axis=0).tolist() == []
