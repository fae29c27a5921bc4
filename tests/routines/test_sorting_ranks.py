"""Sorting, searching and quantiles of distributed arrays."""

import pytest

from tests.support.distributed import changed, check_table, distributed, raised, with_order


def records(a):
    """The numbers of an array, three by three."""
    return a.reshape(-1, 3).copy().view([("x", "f8"), ("y", "f8"), ("z", "f8")]).reshape(-1)


def by_fields(order):
    """All that puts in order by fields."""

    def program(np, a):
        rows = records(a)
        changed = rows.copy()
        changed.sort(order=order)
        parted = rows[np.argpartition(rows, 99, order=order)[99]]
        found = np.sort(rows, order=order), changed, np.partition(rows, 99, order=order)[99]
        number = np.argsort(rows, order=order, kind="stable")
        planes = np.sort(rows.reshape(20, -1), axis=0, order=order)
        values = [*found, parted, planes]
        return [number, *(value[name] for value in values for name in "xyz")]

    return program


def dates(a):
    """Days of which some are NaT."""
    days = a.astype("M8[D]")
    days[3] = "NaT"
    return days


# Not of those for which NumPy has a few numbers in one place, as many as are asked for.
METHODS = """
    hazen higher interpolated_inverted_cdf linear lower median_unbiased nearest normal_unbiased
    weibull
"""
SORTING = {
    "sort": lambda np, a: np.sort(a),
    "sort 0": lambda np, a: np.sort(a, axis=0),
    "sort all": lambda np, a: np.sort(a, axis=None),
    "sort method": changed(lambda np, a: a.sort(0)),
    "sort row": changed(lambda np, a: a[:, 3].sort()),
    "sort stable": lambda np, a: np.sort(a, axis=None, kind="stable"),
    "sort long": lambda np, a: np.sort(np.arange(200_003) * 7919 % 100_003 * 0.5 - a.sum()),
    "sort long bits": lambda np, a: np.sort((np.arange(200_003) * 2**44 + a[0, 0]).view(np.uint64)),
    "sort long same": lambda np, a: np.sort(np.arange(200_003) // 150_000 + a[0, 0]),
    "sort swapped": lambda np, a: with_order(np.sort(a.astype(">f8"), axis=None)),
    "unique swapped": lambda np, a: with_order(np.unique(a.astype(">i4"))),
    "unique all swapped": lambda np, a: with_order(np.unique(a.astype(">f8"), True)[0]),
    "rows swapped": lambda np, a: with_order(a.astype(">f8")[[1, 0]]),
    "chosen swapped": lambda np, a: with_order(a.astype(">f8")[a > 3]),
    "sort few lines": lambda np, a: [np.sort(a.reshape(2, -1)), np.sort(a.T.reshape(-1, 1, 2), 0)],
    "argsort few lines": lambda np, a: np.argsort(a.reshape(2, -1), axis=1, kind="stable"),
    "sort dates": lambda np, a: np.sort(dates(a), axis=None).astype("i8"),
    "argsort dates": lambda np, a: np.argsort(dates(a), axis=None, kind="stable"),
    "unique dates": lambda np, a: [
        np.unique(dates(a), equal_nan=same).astype("i8") for same in (True, False)
    ],
    "unique all dates": lambda np, a: np.unique(dates(a), True, True, True, equal_nan=False)[1:],
    "unique texts": lambda np, a: np.unique(a.astype("S5"), True, True, True),
    "unique NaNs": lambda np, a: [
        np.unique(np.where(a > 9, np.nan, a), return_counts=True, equal_nan=same)
        for same in (True, False)
    ],
    "sort field": by_fields("y"),
    "sort fields": by_fields(["z", "x"]),
    "sort wrong fields": lambda np, a: [
        raised(lambda order=order: np.sort(records(a), order=order)) for order in ("w", ["x", "x"])
    ],
    "sort fields of numbers": lambda np, a: raised(lambda: np.sort(a, order="x")),
    "argsort wide": lambda np, a: np.argsort((a * 1009 + np.arange(42)) % 997, None, "stable"),
    "argsort same": lambda np, a: np.argsort(a.ravel() * 0, kind="stable"),
    "argsort texts": lambda np, a: np.argsort(a.ravel().astype("S5"), kind="stable"),
    "sort wide": lambda np, a: np.sort((a * 1009 + np.arange(42)) % 997, axis=None),
    "argsort": lambda np, a: np.argsort(a, axis=1, stable=True),
    "argsort all": lambda np, a: np.argsort(a, axis=None, kind="stable"),
    "argsort method": lambda np, a: a.reshape(-1).argsort(kind="stable"),
    "partition": lambda np, a: np.partition(a, 5, axis=None)[5],
    "argpartition": lambda np, a: a.reshape(-1)[np.argpartition(a, 5, axis=None)[5]],
    "lexsort": lambda np, a: np.lexsort((a[:, 0], a[:, 1])),
    "lexsort axes": lambda np, a: np.lexsort((a, a % 5, a % 3)),
    "lexsort axis": lambda np, a: np.lexsort((a % 2, a % 5), axis=0),
    "lexsort array": lambda np, a: np.lexsort(a[:3]),
    "lexsort one": lambda np, a: (np.lexsort((a[1],)), np.lexsort(a[1])),
    "searchsorted": lambda np, a: np.searchsorted(np.sort(a, axis=None), a),
    "searchsorted right": lambda np, a: np.sort(a, axis=None).searchsorted(a[0] + 0.5, "right"),
    "searchsorted small": lambda np, a: np.searchsorted([1, 2, 5], a),
    "searchsorted none": lambda np, a: np.searchsorted(a[0, :0], a),
    "digitize": lambda np, a: np.digitize(a, [-1, 0, 3]),
    "digitize down": lambda np, a: [
        np.digitize(a, np.arange(9.0)[::-1], right) for right in (False, True)
    ],
    "unique": lambda np, a: np.unique(a),
    "unique all": lambda np, a: np.unique(a, True, True, True),
    "unique counts": lambda np, a: np.unique(a, return_counts=True),
    "unique_all": lambda np, a: tuple(np.unique_all(a)),
    "unique_values": lambda np, a: np.unique_values(a),
    "unique axis": lambda np, a: np.unique(a[:, :3], axis=0),
    "median": lambda np, a: np.median(a),
    "median 0": lambda np, a: np.median(a, axis=0),
    "median 1": lambda np, a: np.median(a, axis=1, keepdims=True),
    **{
        f"percentile {method}": lambda np, a, method=method: (
            np.percentile(a, [30, 50], method=method),
            np.nanpercentile(np.where(a > 9, np.nan, a), 30, axis=0, method=method),
        )
        for method in METHODS.split()
    },
    "percentile": lambda np, a: np.percentile(a, [10, 50, 77]),
    "percentile 0": lambda np, a: np.percentile(a, 30, axis=0),
    "quantile": lambda np, a: np.quantile(a, 0.3, method="hazen"),
    "quantile 1": lambda np, a: np.quantile(a, [0.3, 0.9], axis=1),
    "quantile by place": lambda np, a: np.quantile(a, 0.3, 0, None, False, "hazen"),
    "over input": lambda np, a: [
        np.median(a.copy(), overwrite_input=True),
        np.nanmedian(a[0].copy(), None, None, True),
        np.percentile(a.copy(), 30, None, None, True),
        np.quantile(a[:5, 0].copy(), 0.3, overwrite_input=True),
    ],
    "nanmedian": lambda np, a: np.nanmedian(np.where(a > 9, np.nan, a)),
    "nanpercentile": lambda np, a: np.nanpercentile(np.where(a > 9, np.nan, a), 40),
}


@distributed
@pytest.mark.parametrize("name", SORTING)
def test_sorting(name):
    check_table(SORTING, name)
