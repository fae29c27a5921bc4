"""Sorting, searching and counting in one process: as NumPy does, on all threads.

Arrays of a few elements are treated as large here. On several ranks: `pieces_stay`, `on_ranks`.
"""

import itertools

import dappled
import numpy
import pytest
from dappled import _core
from dappled._routines._distributed.counting_sort import counting_sort
from hypothesis import given
from hypothesis import strategies as st

from tests.support.compare import differing
from tests.support.values import DTYPES, FEW, SHAPES, VIEWS, maker

CALLS = {
    "sort": lambda np, a: np.sort(a),
    "sort 0": lambda np, a: np.sort(a, 0),
    "sort all": lambda np, a: np.sort(a, axis=None),
    "sort stable": lambda np, a: np.sort(a, axis=None, kind="stable"),
    "sort method": lambda np, a: a.sort(axis=0),
    "sort wrong": lambda np, a: np.sort(a, axis=5),
    "sort kind": lambda np, a: np.sort(a, kind="none"),
    "sort both": lambda np, a: np.sort(a, kind="stable", stable=True),
    "argsort": lambda np, a: np.argsort(a, stable=True),
    "argsort 0": lambda np, a: a.argsort(0, kind="stable"),
    "argsort all": lambda np, a: np.argsort(a, axis=None, kind="mergesort"),
    "partition": lambda np, a: np.partition(a, 1)[..., 1],
    "searchsorted": lambda np, a: np.searchsorted(np.sort(a, axis=None), a),
    "searchsorted right": lambda np, a: np.sort(a, axis=None).searchsorted(a, "right"),
    "searchsorted side": lambda np, a: np.searchsorted(a, a, side="middle"),
    "unique": lambda np, a: np.unique(a),
    "unique all": lambda np, a: np.unique(a, True, True, True),
    "unique axis": lambda np, a: np.unique(a, axis=0),
    "median": lambda np, a: np.median(a),
    "median 0": lambda np, a: np.median(a, axis=0),
    "median last": lambda np, a: np.median(a, axis=-1),
    "median axes": lambda np, a: np.median(a, axis=(0, 1)),
    "median wrong": lambda np, a: np.median(a, axis=9),
    "percentile": lambda np, a: np.percentile(a, [5, 50]),
    "percentile 0": lambda np, a: np.percentile(a, [[5, 50]], axis=0),
    "percentile wrong": lambda np, a: np.percentile(a, 101, axis=0),
    "quantile last": lambda np, a: np.quantile(a, 0.3, axis=-1, method="hazen"),
    "quantile kept": lambda np, a: np.quantile(a, 0.3, axis=-1, keepdims=True),
    "quantile axis": lambda np, a: np.quantile(a, 0.3, axis=7),
    "partition 0": lambda np, a: np.partition(a, [0, -1], axis=0),
    "partition method": lambda np, a: a.partition(1, axis=-1),
    "partition beyond": lambda np, a: np.partition(a, 99),
    "argpartition": lambda np, a: np.argpartition(a, 1, axis=0),
    "lexsort": lambda np, a: np.lexsort((a.ravel(), a.ravel()[::-1])),
    "bincount": lambda np, a: np.bincount(a),
    "bincount length": lambda np, a: np.bincount(a, minlength=20),
    "histogram": lambda np, a: np.histogram(a),
    "histogram bins": lambda np, a: np.histogram(a, 7, (-3, 9)),
    "histogram edges": lambda np, a: np.histogram(a, [-3, 0, 1, 9], density=True),
    "histogram wrong": lambda np, a: np.histogram(a, 0),
}


@pytest.mark.parametrize("name", CALLS)
def test_small(name, large):
    cases = [*itertools.product(DTYPES, SHAPES, ["plain"])]
    cases += itertools.product(FEW, [(7,), (5, 3), (2, 3, 4)], VIEWS)
    assert not differing(CALLS[name], {case: maker(*case) for case in cases})


@pytest.mark.parametrize("kind", "bhilBHILfd")
def test_large(kind):
    values = (numpy.random.default_rng(3).normal(size=300_001) * 50).astype(kind)
    if kind in "fd":
        values[7::1001], values[8::1001], values[9::1001] = numpy.nan, 0.0, -0.0
    ours = dappled.asarray(values)
    for stable in (False, True):
        found = dappled.sort(ours, stable=stable)
        expected = numpy.sort(values, stable=stable)
        assert numpy.array_equal(found, expected, equal_nan=kind in "fd")
        if stable and kind in "fd":
            assert numpy.array_equal(numpy.signbit(found), numpy.signbit(expected))
    order = numpy.asarray(dappled.argsort(ours, stable=True))
    assert numpy.array_equal(order, numpy.argsort(values, stable=True))
    assert numpy.array_equal(dappled.unique(ours), numpy.unique(values), equal_nan=kind in "fd")
    assert numpy.array_equal(dappled.median(ours), numpy.median(values), equal_nan=True)
    clean = values[values == values]
    assert dappled.median(dappled.asarray(clean)) == numpy.median(clean)


@pytest.mark.parametrize("values", ["ramp", "equal", "two", "outliers", "periodic"])
def test_medians_of_values_that_a_sample_is_wrong_about(values):
    size = 400_000
    made = {
        "ramp": numpy.arange(size, dtype=float),
        "equal": numpy.ones(size),
        "two": numpy.arange(size) // (size // 2) * 1.0,
        "outliers": numpy.where(numpy.arange(size) % 1000, 0.5, 1e300),
        "periodic": numpy.where(numpy.arange(size) % (size >> 14), 5.0, -numpy.arange(size)),
    }[values]
    assert dappled.median(dappled.asarray(made)) == numpy.median(made)
    assert dappled.median(dappled.asarray(made[:-1])) == numpy.median(made[:-1])


floats = st.lists(st.floats(allow_subnormal=False) | st.sampled_from([0.0, -0.0]), max_size=50)


@given(floats, floats, st.sampled_from("fdilbH"))
def test_merge(a, b, kind):
    with numpy.errstate(all="ignore"):
        one, other = (numpy.sort(numpy.array(x).astype(kind), stable=True) for x in (a, b))
    out = numpy.empty(len(one) + len(other), kind)
    _core.merge_sorted(one, other, out)
    expected = numpy.sort(numpy.concatenate([one, other]), stable=True)
    assert numpy.array_equal(out, expected, equal_nan=kind in "fd")
    assert numpy.array_equal(numpy.signbit(out), numpy.signbit(expected))


@given(floats, st.sampled_from("fdilIL"))
def test_order(values, kind):
    with numpy.errstate(all="ignore"):
        given = numpy.array(values).astype(kind)
    room, order = numpy.empty(4 * len(given), numpy.uint64), numpy.empty(len(given), numpy.int64)
    _core.argsort(given, room, order)
    assert numpy.array_equal(order, numpy.argsort(given, stable=True))


@given(floats, st.floats(0, 1))
def test_order_statistics(values, share):
    given = numpy.array([*values, 0.5])
    position = int(share * (len(given) - 1))
    found = _core.order_statistics(dappled.array(given), [position, 0])
    ordered = numpy.sort(given)
    assert numpy.array_equal(found, ordered[[position, 0]], equal_nan=True)


@given(st.lists(st.integers(-5, 30), min_size=1, max_size=300), st.integers(0, 9))
def test_counts(values, more):
    given = numpy.array(values)
    low, high = _core.extent(given)
    assert (low, high) == (given.min(), given.max())
    counts = _core.count_numbers(given, low, high - low + 1 + more)
    assert numpy.array_equal(counts, numpy.bincount(given - low, minlength=len(counts)))


@given(
    st.sampled_from("?bhilBHIL"),
    st.sampled_from(["low", "high", "middle"]),
    st.lists(st.integers(0, 40), min_size=1, max_size=5),
    st.integers(0, 400),
)
def test_near(kind, where, steps, times):
    ends = numpy.iinfo(kind) if kind != "?" else numpy.iinfo(numpy.int8)
    start = {"low": ends.min, "high": ends.max - 40, "middle": max(ends.min, -20)}[where]
    given = numpy.array([start + step for step in steps] * times, object).astype(kind)
    out = numpy.zeros_like(given)
    is_sorted = counting_sort(given, out)
    assert numpy.array_equal(out, numpy.sort(given) if is_sorted else numpy.zeros_like(given))
    span = int(given.max()) - int(given.min()) if times else 0
    # Values beyond int64 are tested elsewhere.
    assert is_sorted == (times > 0 and span * 8 < len(given) and int(given.max()) < 1 << 63)


def test_far_from_all_others():
    given = numpy.zeros(1 << 17, numpy.int64)
    given[[77, 1234]] = 1 << 62, -(1 << 63)
    assert not counting_sort(given, given.copy())
    assert numpy.array_equal(dappled.sort(dappled.array(given)), numpy.sort(given))


@given(
    st.lists(st.floats(-20, 20, width=16) | st.just(numpy.nan), max_size=200),
    st.integers(1, 40),
    st.floats(-15, 15),
    st.floats(0.001, 30),
)
def test_histogram(values, bins, low, width):
    edges = numpy.histogram_bin_edges([], bins, (low, low + width))
    given = numpy.array(
        [*values, *edges, *numpy.nextafter(edges, 99), *numpy.nextafter(edges, -99)]
    )
    expected, _ = numpy.histogram(given, bins, (low, low + width))
    counts = _core.histogram_uniform(dappled.array(given), edges)
    assert numpy.array_equal(counts, expected)
