"""Calls on small arrays that the core computes: `out`, index arrays, lists, products."""

import operator

import numpy
import pytest

from tests.support.compare import difference
from tests.support.values import NUMBERS, VIEWS, maker

EXPONENTS = [2, -1, 0.5, 2.0, -1.0, 0, 1, 3, -2, True, numpy.float64(2), numpy.int64(2)]
PLACES = [[0, 2, 1], [-1, 4, -5], [[1, 2], [3, 0]], [], [9], [-6], [[[4]]]]
LENGTHS = [(2, 2, 2), (3, 4, 5), (20, 20, 20), (1, 4, 3), (4, 1, 3), (0, 3, 2)]
ENDS = numpy.array([0.0, -1.0, 1e300, numpy.inf, numpy.nan, 2.5])


def same(program, make=lambda np: []):
    found = difference(program, make)
    assert found is None, found


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
@pytest.mark.parametrize("target", ["plain", "step", "transposed"])
def test_out(dtype, target):
    for name in ("add", "multiply", "divide", "less", "negative"):
        for view in ("plain", "transposed", "step"):

            def program(np, a, b, name=name, view=view):
                out = VIEWS[target](np, np.zeros(a.shape, a.dtype))
                given = [VIEWS[view](np, b), 2, 1.5][: 1 if name == "negative" else 3]
                given = [(a,)] if name == "negative" else [(a, each) for each in given]
                found = []
                for args in given:
                    found.append(getattr(np, name)(*args, out=out) is out)
                    found.append(out.copy())
                return found

            same(program, maker(dtype, (4, 4), "plain", 2))
    same(lambda np, a: np.add(a[1:], a[:-1], out=a[1:]), maker(dtype, (7,)))
    same(lambda np, a: np.add(a, a, out=a), maker(dtype, (7,)))
    same(lambda np, a: np.add(a, 1, out=np.broadcast_to(a, (2, 7))), maker(dtype, (7,)))


def test_out_is_written_before_it_raises():
    def program(np):
        a, out = np.array(ENDS), np.ones(6)
        try:
            with np.errstate(all="raise"):
                np.divide(a, np.zeros(6), out=out)
        except FloatingPointError as error:
            return str(error), out
        return out

    same(program)


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_index_arrays_and_masks(dtype):
    for view in VIEWS:
        for places in PLACES:
            for kind in ("i8", "i4", "u1"):
                key = numpy.array(places).astype(kind)
                same(lambda np, a, key=key: a[np.array(key)], maker(dtype, (5, 3), view))
                same(lambda np, a, key=key: a[np.array(key)], maker(dtype, (5,), view))
        same(lambda np, a: (a[a > 1], a[a != a], a[~(a != a)]), maker(dtype, (5, 3), view))
    same(lambda np, a: a[a], maker(numpy.dtype("i8"), (20,)))
    same(lambda np, a: a[np.array([True, False])], maker(dtype, (5,)))
    same(lambda np, a: a[np.array([True] * 2 + [False] * 3)], maker(dtype, (5, 3)))


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_searches_lists_and_casts(dtype):
    for shape in ((7,), (5, 3), (2, 3, 4), (), (0,), (3, 0)):
        for view in VIEWS:
            make = maker(dtype, shape, view)
            for name in ("argmax", "argmin"):
                same(lambda np, a, n=name: getattr(a, n)(), make)
                same(lambda np, a, n=name: getattr(a, n)(0), make)
                same(lambda np, a, n=name: getattr(a, n)(axis=-1, keepdims=True), make)
            same(lambda np, a: a.tolist(), make)
            same(
                lambda np, a: [(a.astype(kind), a.astype(kind).strides) for kind in "dfil?D"], make
            )


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_names_of_powers(dtype):
    with numpy.errstate(all="ignore"):
        ends = ENDS.astype(dtype)
    values = ends if dtype.kind in "fc" else numpy.arange(6).astype(dtype)
    for exponent in EXPONENTS:
        few = values if exponent == 2 else values[:4]  # with the same last digit everywhere
        for act in (operator.pow, operator.ipow):

            def warned(np, a, act=act, exponent=exponent):
                act(a, exponent)

            same(warned, lambda np, few=few: [np.array(few)])


def test_ranges_and_lists():
    numbers = [0, 1, 5, -3, 7, 100, 2**31, -(2**31) - 1]
    for start in numbers:
        same(lambda np, start=start: np.arange(min(start, 1000)))
        for stop in (0, 7, -3, 100):
            for step in (1, 2, -1, -3, 0, 50):
                if start < 2**20:
                    same(lambda np, s=start, e=stop, by=step: np.arange(max(s, -1000), e, by))
    for items in (
        [1.5, 2.5],
        [1, 2],
        [1, 2.5],
        [True, 1],
        [2**63, 1],
        [2**64],
        [1, None],
        [1, [2]],
    ):
        same(lambda np, items=items: (np.array(items), np.asarray(items), np.array(items, "f4")))


@pytest.mark.parametrize("dtype", ["d", "f", "l", "D", "?"])
def test_products(dtype):
    for rows, inner, columns in LENGTHS:
        for turns in ((1, 1), (-1, 1), (1, -1)):

            def make(np, shapes=((rows, inner), (inner, columns)), turns=turns):
                random = numpy.random.default_rng(5)
                shapes = [shape[::turn] for shape, turn in zip(shapes, turns, strict=True)]
                drawn = [(random.normal(size=shape) * 9).astype(dtype) for shape in shapes]
                first, second = map(np.array, drawn)
                return [first.T if turns[0] < 0 else first, second.T if turns[1] < 0 else second]

            same(lambda np, a, b: (a @ b, a @ b + 1, (a + a) @ b), make)
    for end in (numpy.inf, numpy.nan, 1e308):
        same(lambda np, end=end: np.full((3, 3), end) @ np.zeros((3, 3)))
        same(lambda np, end=end: np.full((3, 3), end) @ np.full((3, 3), -end))
    same(lambda np: np.ones((3, 3)) @ np.ones((2, 3)))


@pytest.mark.parametrize("size", [1, 255, 256, 257, 20_000, 300_000])
def test_min_and_max_of_booleans(size):
    """Which are seen early, or not at all."""
    for place in {0, size // 2, size - 1, size}:
        truths = numpy.arange(size) == place

        def program(np, truths=truths):
            found = []
            for mask in (np.array(truths), ~np.array(truths), np.array(truths)[::-1]):
                found += [mask.argmax(), np.argmin(mask), mask.max(), mask.min(), np.ptp(mask * 1)]
                found += [
                    np.max(mask, initial=True),
                    np.fmin.reduce(mask),
                    mask[:, None].max(axis=0),
                ]
            return found

        same(program)


@pytest.mark.parametrize("dtype", ["F", "D"])
def test_quotients_and_lengths(dtype):
    """Of complex numbers that signal nothing, and with one among them that does."""
    rng = numpy.random.default_rng(3)
    for size in (1, 7, 64, 65, 1000):
        parts = rng.standard_normal((2, 2, size)) * 10.0 ** rng.integers(-5, 5, (2, 2, size))
        for special in (None, 0, numpy.inf, numpy.nan, 1e-300, 1e300):

            def program(np, parts=parts, special=special):
                a, b = (np.array(re + 1j * im, dtype) for re, im in parts)
                if special is not None:
                    b[-1] = complex(special, 0) if special != special else special
                return [a / b, b / a, 1 / b, a / (2 + 1j), np.abs(b), np.abs(b[::2]), abs(a).sum()]

            same(program)


@pytest.mark.parametrize("dtype", ["f", "d"])
def test_casts_that_do_not_fit(dtype):
    """Not to uint32, of which NumPy's vectors say something else than what is left over by them."""
    for to in ("i4", "i2", "u1", "i8"):
        ends = [0.5, -0.5, 2.0**31, -(2.0**31), 2.0**31 - 1, -(2.0**31) - 1, 1e20, -1e20, numpy.nan]
        for given in (ends, numpy.linspace(-3e9, 3e9, 1001), numpy.linspace(-100, 100, 1001)):
            same(lambda np, given=given, to=to: np.array(given, dtype).astype(to))
