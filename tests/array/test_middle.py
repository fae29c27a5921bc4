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
def test_chains_on_both_sides_of_what_is_computed_at_once(size, dtype):
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


def test_what_waits_at_these_sizes_warns_of_its_line():
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
def test_what_chooses_has_no_part_in_the_dtype(size, dtype):
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


FLOATING = ["arctan2", "hypot", "copysign", "nextafter", "heaviside", "logaddexp", "logaddexp2"]


@pytest.mark.parametrize("name", FLOATING)
def test_whole_numbers_of_two_kinds_meet_in_the_first_loop_for_both(name):
    for one, other in itertools.product("?bBhHiIlLe", repeat=2):
        for size in (3, 20_000):
            made = [
                getattr(np, name)(np.ones(size, one), np.ones(size, other))
                for np in (numpy, dappled)
            ]
            assert made[0].dtype == made[1].dtype, (one, other, size)


def test_nothing_may_lie_anywhere():
    nothing = numpy.zeros(9, "u1")[1:].view("f8")[:0]
    ours = dappled.asarray(nothing)
    assert (ours + 1).tolist() == [] and (ours * ours).sum() == 0
    assert dappled.asarray(nothing.reshape(2, 0)).var(axis=0).tolist() == []
