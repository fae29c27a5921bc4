"""Histograms, convolution, tables and set operations of distributed arrays."""

import numpy
import pytest

from tests.support.distributed import FEW, MANY, check_table, distributed, raised, with_order


def interpolated(np, a, x):
    """Interpolation in distributed tables: complex, beyond the ends and periodic."""
    points, values = np.arange(42.0) / 9 - 1, a[3] / 7
    return [
        np.interp(x, points, values),
        np.interp(x, np.sort(a, axis=None) + np.arange(2520) / 1e4, a.ravel(), -1, 99),
        np.interp(x, points, values + 1j * a[4], right=2j),
        np.interp(x, (points * 7) % 5, values, period=4.5),
        np.interp(x, points.astype("f4"), a[2].astype("i4")),
    ]


def binned(np, a, rule):
    """Bins that NumPy chooses by a rule."""
    return [
        *np.histogram(a * 1.1, rule),
        *(np.histogram_bin_edges(a, rule), np.histogram_bin_edges(a, 7)),
        *np.histogram(a.astype("i4"), rule, (-2, 7), density=True),
        *np.histogram(a * 0, rule),
        raised(lambda: np.histogram(a, rule, weights=a)),
    ]


def slid(function, a, mode):
    """Convolutions of distributed arrays, the longer one first or last, complex or real."""
    row, column = a[7] * 1.1 + 1j * a[8], a[:, 3]
    return [
        *(function(column, row, mode), function(row, column[::-1], mode)),
        *(function(a.ravel(), a[3], mode), function(a[3], a.ravel(), mode)),
        *(function(a.ravel(), a.ravel(), mode), function([1, 2.5], a.ravel(), mode)),
        *(function(column > 0, column > 2, mode), function(row, column.astype("i2"), mode)),
    ]


def selected(np, a, select, q=()):
    """Order statistics of all elements, of rows and of few long lines."""
    with_nan = np.where(a == a[3, 4], np.nan, a)
    columns = a.reshape(-1, 2)
    return [
        *(select(a, *q), select(a.ravel(), *q, axis=-1), select(a[::-1, 1:], *q)),
        *(select(a, *q, axis=0), select(a.T, *q, axis=1), select(a, *q, axis=(0, 1))),
        *(select(columns, *q, axis=0), select(columns.T, *q, axis=-1)),
        *(select(with_nan, *q), select(with_nan.reshape(-1, 2), *q, axis=0)),
        *(select(a.astype(kind), *q) for kind in ("i1", "u4", "f2", "f4")),
        *(select(a, *q, keepdims=True), select(a, *q, overwrite_input=True)),
    ]


COUNTING = {
    "medians": lambda np, a: selected(np, a.copy(), np.median),
    "quantiles": lambda np, a: selected(np, a.copy(), np.quantile, ([0.1, 0.75, 1],)),
    "percentile": lambda np, a: selected(np, a.copy(), np.percentile, (33.3,)),
    "many quantiles": lambda np, a: np.quantile(a, np.linspace(0, 1, 50)),
    "quantile methods": lambda np, a: [
        np.quantile(a, [0, 0.3, 1], method=method)
        for method in ("inverted_cdf", "hazen", "lower", "nearest", "closest_observation")
    ],
    "bad quantiles": lambda np, a: [
        raised(lambda: np.quantile(a, 1.5)),
        raised(lambda: np.quantile(a, 0.5, method="middle")),
        raised(lambda: np.quantile(a + 1j, 0.5)),
    ],
    "bincount": lambda np, a: np.bincount(np.abs(a).astype(int).reshape(-1)),
    "bincount weights": lambda np, a: np.bincount(FEW, a[:, 1], 50),
    "histogram": lambda np, a: np.histogram(a),
    "histogram edges": lambda np, a: np.histogram(a, [-5, 0, 1.5, 9]),
    "histogram range": lambda np, a: np.histogram(a, 7, (-2, 9), density=True),
    "histogram weights": lambda np, a: np.histogram(a, 7, weights=a * 2),
    "histogram swapped": lambda np, a: [
        with_order(np.histogram(a, 7, weights=a.astype(kind))[0])
        for kind in (">f8", ">i4", ">c16", "g", "G")
    ],
    **{
        f"histogram {rule}": lambda np, a, rule=rule: binned(np, a, rule)
        for rule in ("auto", "sturges", "fd", "scott", "rice", "sqrt", "doane", "stone")
    },
    "histogram between": lambda np, a: np.histogram(a, np.sort(a[:, 1])),
    "histogram in between": lambda np, a: np.histogram(a[0], np.arange(-5, 12, 0.01), density=True),
    "histogram weights between": lambda np, a: np.histogram(a, np.sort(a[1]), weights=a * 0.1),
    "histogram2d": lambda np, a: np.histogram2d(a[:, 0], a[:, 1], 5),
    **{
        f"{name} {mode}": lambda np, a, name=name, mode=mode: slid(getattr(np, name), a, mode)
        for name in ("convolve", "correlate")
        for mode in ("full", "same", "valid")
    },
    "interp": lambda np, a: interpolated(np, a, a / 3),
    "interp of few": lambda np, a: interpolated(np, a, [-9.0, 0.5, 3.0]),
    "interp at one": lambda np, a: interpolated(np, a, 3.3),
    "interp no numbers": lambda np, a: [
        np.nan_to_num(one, nan=77) for one in interpolated(np, a, np.where(a > 3, np.nan, a))
    ],
    "interp infinite": lambda np, a: np.interp(
        a, np.arange(60.0), np.where(a[:, 0] > 3, 9, -np.inf)
    ),
    "interp wrong": lambda np, a: raised(lambda: np.interp(a, np.arange(60.0), a[0])),
    "polyval": lambda np, a: (np.polyval(a[:5, 1], a[0] / 9), np.polyval(a[0], numpy.ones(3))),
    "take_along_axis all": lambda np, a: np.take_along_axis(a, np.array(MANY), None),
    "array of flat": lambda np, a: (np.array(a.flat), np.asarray(a.T.flat, dtype="f4")),
    "apply_along_axis": lambda np, a: np.apply_along_axis(np.diff, 1, a[:, :7]),
    "apply_along_axis 2": lambda np, a: np.apply_along_axis(
        lambda row: np.outer(row, row), 1, a[:5]
    ),
    "apply_along_axis 3": lambda np, a: np.apply_along_axis(
        lambda row: row[:8].reshape(2, 1, 4), 0, a
    ),
    "isin": lambda np, a: np.isin(a, [1, 3]),
    "isin all": lambda np, a: np.isin(a.astype(int), np.abs(a).astype(int)),
    "intersect1d": lambda np, a: np.intersect1d(a, a[0] + 1),
    "union1d": lambda np, a: np.union1d(a, a[0] + 1.5),
    "setdiff1d": lambda np, a: np.setdiff1d(a, [1, 3]),
    "setxor1d": lambda np, a: np.setxor1d(a, a[0] + 1),
}


@distributed
@pytest.mark.parametrize("name", COUNTING)
def test_counting(name):
    check_table(COUNTING, name)
