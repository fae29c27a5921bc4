"""Keys with arrays in them, and their like, in one process: as NumPy does, on all threads.

Arrays of a few elements are treated as large here. On several ranks: `pieces_stay`, `on_ranks`.
"""

import itertools

import dappled
import numpy
import pytest
from dappled import _core
from hypothesis import given
from hypothesis import strategies as st

from tests.support.compare import difference, differing
from tests.support.values import DTYPES, FEW, SHAPES, VIEWS, maker

LARGE = 1 << 17
SIZES = ["u1", "u2", "u4", "u8", "c16"]

CALLS = {
    "nonzero": lambda np, a: np.nonzero(a),
    "nonzero method": lambda np, a: a.nonzero(),
    "where": lambda np, a: np.where(a),
    "flatnonzero": lambda np, a: np.flatnonzero(a),
    "argwhere": lambda np, a: np.argwhere(a),
    "take": lambda np, a: np.take(a, np.asarray([0, -1, 0, a.size - 1])),
    "take 0": lambda np, a: a.take(np.asarray([[0, -1], [1, 0]]), axis=0),
    "take wrap": lambda np, a: np.take(a, np.asarray([-40, 40, 0]), mode="wrap"),
    "take clip": lambda np, a: np.take(a, np.asarray([-40, 40, 0]), mode="clip"),
    "take beyond": lambda np, a: np.take(a, np.asarray([0, 40])),
    "take axis": lambda np, a: np.take(a, np.asarray([0]), axis=4),
    "compress": lambda np, a: np.compress(np.asarray([True, False]), a),
    "compress 0": lambda np, a: a.compress(np.asarray([False, True]), axis=0),
    "put": lambda np, a: np.put(a, np.asarray([0, 1, 0]), a[..., :1]),
    "mask": lambda np, a: a[a == a],
    "rows": lambda np, a: a[np.asarray([0, -1, 0])],
    "parts of rows": lambda np, a: a[np.asarray([0, -1, 0]), 1:],
    "parts of rows beyond": lambda np, a: a[np.asarray([0, 99]), ::-1],
    "set rows": lambda np, a: a.__setitem__(np.asarray([0, -1, 0]), a[0]),
    "set rows 1": lambda np, a: a.__setitem__(np.asarray([0, -1, 0]), 1),
    "set beyond": lambda np, a: a.__setitem__(np.asarray([0, 99]), a[0]),
    "add.at": lambda np, a: np.add.at(a, np.asarray([0, -1, 0]), a[:1]),
}
# The same with a key that is large in fact: the core asks for that.
LARGE_CALLS = {
    "mask": lambda np, a: a[a > 3],
    "mask of none": lambda np, a: a[a > 300],
    "mask of parts": lambda np, a: a[::-2][a[::-2] > 3],
    "mask of rows": lambda np, a: a.reshape(-1, 4)[a[::4] > 3],
    "numbers": lambda np, a: a[np.arange(a.size) * 7 % a.size - 5],
    "numbers i4": lambda np, a: a[(np.arange(a.size) * 7 % a.size).astype("i4")],
    "numbers of rows": lambda np, a: a.reshape(-1, 8)[np.arange(a.size) * 7 % (a.size // 8)],
    "numbers twice": lambda np, a: a[np.arange(a.size).reshape(2, -1)[::-1]],
    "numbers beyond": lambda np, a: a[np.arange(a.size) + 1],
    "set": lambda np, a: a.__setitem__(np.arange(a.size) * 7 % 1000, a[::-1]),
    "set one": lambda np, a: a.__setitem__(np.arange(a.size) * 7 % 1000, 5),
    "set part": lambda np, a: a[::2].__setitem__(np.arange(a.size) * 7 % 1000, 5),
    "set beyond": lambda np, a: a.__setitem__(np.arange(a.size) - a.size - 1, 5),
    "set mask": lambda np, a: a.__setitem__(a > 3, 5),
    "set itself": lambda np, a: a.__setitem__(np.arange(a.size)[::-1], a),
    "nonzero": lambda np, a: np.nonzero(a.reshape(4, -1)),
    "take": lambda np, a: np.take(a, np.arange(a.size) * 7 % 1000, mode="wrap"),
}


@pytest.mark.parametrize("name", CALLS)
def test_small(name, large):
    cases = [*itertools.product(DTYPES, SHAPES, ["plain"])]
    cases += itertools.product(FEW, [(7,), (5, 3)], VIEWS)
    assert not differing(CALLS[name], {case: maker(*case) for case in cases})


@pytest.mark.parametrize("name", LARGE_CALLS)
def test_large(name):
    for kind in ["f8", "i2", "c16"] if "mask" in name else ["f8", "?", "i2", "f4", "c16"]:
        make = lambda np, kind=kind: [np.asarray((numpy.arange(LARGE) % 11).astype(kind))]  # noqa: E731
        assert not difference(LARGE_CALLS[name], make), kind


numbers = st.lists(st.integers(-9, 9), min_size=1, max_size=40)


@given(numbers, numbers, st.sampled_from(SIZES), st.integers(1, 3))
def test_rows_by_index_array(values, at, kind, width):
    source = numpy.repeat(numpy.array(values), width).astype(kind)
    rows, at = source.reshape(-1, width), numpy.array(at)
    out = numpy.zeros((len(at), width), kind)
    wrong = _core.take_rows(source, width, at, out.reshape(-1))
    beyond = (at < -len(rows)) | (at >= len(rows))
    assert wrong == (int(beyond.argmax()) if beyond.any() else None)
    if wrong is None:
        assert numpy.array_equal(out, rows[at])


@given(numbers, st.lists(st.integers(-40, 39), max_size=60), st.booleans(), st.sampled_from(SIZES))
def test_the_last_one_stays(values, at, one, kind):
    target, at = numpy.array(values).astype(kind), numpy.array(at, int) % 50 - 25
    given = numpy.arange(1 if one else len(at)).astype(kind)
    beyond = (at < -len(target)) | (at >= len(target))
    expected = target.copy()
    if not beyond.any():
        expected[at] = given
    wrong = _core.put_items(target, at, given)
    assert wrong == (int(beyond.argmax()) if beyond.any() else None)
    assert numpy.array_equal(target, expected)


@given(st.integers(0, 100_000), st.floats(0, 1), st.sampled_from(SIZES), st.integers(0, 9))
def test_mask_selection(size, share, kind, seed):
    random = numpy.random.default_rng(seed)
    mask, values = random.random(size) < share, random.integers(0, 250, size).astype(kind)
    places = numpy.empty(_core.count_chosen(mask), "i8")
    _core.places(mask, places)
    assert numpy.array_equal(places, numpy.flatnonzero(mask))
    found = _core.chosen(dappled.array(values), dappled.array(mask))
    if mask.any():
        assert [found.sum(), found.max(), found.any()] == [
            values[mask].sum(),  # pending, and then stored
            values[mask].max(),
            values[mask].any(),
        ]
    assert numpy.array_equal(found, values[mask])


FOLDS = ["sum", "mean", "prod", "min", "max", "any", "all", "std"]


@pytest.mark.parametrize("kind", ["f8", "f4", "f2", "c16", "i2", "u8", "?"])
def test_reductions_of_masked_elements(kind):
    random = numpy.random.default_rng(3)
    values = random.normal(1, 0.1, (500, 401)).astype(kind)
    for name, bound in itertools.product(FOLDS, [-1, 0.9, 1.02, 9]):
        make = lambda np, bound=bound: [np.array(values), np.array(values * 1.0)]  # noqa: E731
        chosen = lambda np, a, b, name=name, bound=bound: getattr(a[b > bound], name)()  # noqa: E731
        assert not difference(chosen, make), (name, bound)


def test_selections_keep_the_values_at_request():
    values = numpy.random.default_rng(5).normal(size=LARGE * 2)
    a = dappled.array(values)
    one, two, three = (a[a > bound] for bound in (0, 0.5, -1))
    two[:5] = 7
    a[::2] = 3
    expected = values[values > 0.5]
    expected[:5] = 7
    assert "selected by a mask" in dappled.explain(one)
    assert one.sum() == values[values > 0].sum()
    assert numpy.array_equal(two, expected)
    assert numpy.array_equal(three + three, values[values > -1] * 2)


def test_a_large_result_is_a_copy_and_ours():
    a = dappled.arange(LARGE * 2)
    found = a[a > 3]
    found[...] = 0
    assert isinstance(found, dappled.ndarray)
    assert a[5] == 5


def test_nonzero_returns_columns_of_one_array():
    a = dappled.arange(LARGE * 4).reshape(2, -1) % 3
    rows, columns = a.nonzero()
    before = columns.sum()
    columns.ravel()[...] = 9
    assert columns.sum() == before and rows.strides == (16,)
    assert not (a.reshape(-1) > 1).nonzero()[0].flags.owndata


def test_grids_of_texts_may_be_written():
    for np in (numpy, dappled):
        x, _ = np.meshgrid(np.asarray(["a", "b"]), np.asarray(["c"]), copy=False)
        x[0, 0] = "d"
        assert x.tolist() == [["d", "b"]]
