"""Steps of random programs: sorting, searching, counting, sets."""

KINDS = [None, "quicksort", "stable", "heapsort", "mergesort"]
METHODS = "linear lower higher midpoint nearest hazen weibull inverted_cdf median_unbiased"
BINS = [3, 10, [0, 2, 5], [0.5, 1, 4, 9], "auto"]


def partitioned(np, d, a, b):
    """What is promised of a partition: the element, and what is before and behind it."""
    axis = d.axis(a)
    length = a.shape[axis] if a.ndim else 1
    at = d.number(0, max(length - 1, 0))
    parts = np.moveaxis(np.partition(a, at, axis), axis, -1)
    return np.sort(parts[..., :at]), parts[..., at], np.sort(parts[..., at:])


def unique(np, d, a, b):
    asked = {f"return_{name}": d.one([True, False]) for name in ("index", "inverse", "counts")}
    return np.unique(a, axis=d.one([None, None, d.axis(a)]), **asked)


def histogram(np, d, a, b):
    options = {"range": d.one([None, None, (0, 5)]), "density": d.one([None, True])}
    return np.histogram(a, d.one(BINS), weights=d.one([None, None, b]), **options)


def quantile(np, d, a, b):
    q = d.one([0.3, 1, [0.1, 0.5], [[0.2], [0.9]]])
    options = {"keepdims": d.one([False, True]), "method": d.one(METHODS)}
    return getattr(np, d.one("quantile nanquantile"))(a, q, d.axes(a), **options)


def searched(np, d, a, b):
    return np.searchsorted(np.sort(a, None), b, d.one("left right"))


def sort_part(np, d, a, b):
    a[d.bounds()].sort(d.axis(a), kind=d.one(KINDS))


SORTING = {
    "sort": lambda np, d, a, b: np.sort(a, axis=d.axis_or_none(a), kind=d.one(KINDS)),
    "sort in place": lambda np, d, a, b: a.sort(d.axis(a), kind=d.one(KINDS)),
    "sort part": sort_part,
    "sort reversed": lambda np, d, a, b: a[::-1].sort(0),
    "argsort": lambda np, d, a, b: np.argsort(a, axis=d.axis_or_none(a), stable=True),
    "argsort method": lambda np, d, a, b: a.argsort(d.axis(a), kind="stable"),
    "partition": partitioned,
    "argpartition": lambda np, d, a, b: a.ravel()[np.argpartition(a, 0, None)[0]],
    "lexsort": lambda np, d, a, b: np.lexsort((a, a % 3), axis=d.axis(a)),
    "lexsort two": lambda np, d, a, b: np.lexsort((a, b)),
    "searchsorted": searched,
    "searchsorted sorter": lambda np, d, a, b: np.searchsorted(
        a.ravel(), b, sorter=np.argsort(a, None, kind="stable")
    ),
    "digitize": lambda np, d, a, b: np.digitize(a, d.one([[1, 3, 5], [5, 3, 1], [2], []])),
    "digitize by another": lambda np, d, a, b: np.digitize(a, b, right=d.one([True, False])),
    "arg": lambda np, d, a, b: getattr(np, d.one("argmax argmin nanargmax nanargmin"))(
        a, d.axis_or_none(a), keepdims=d.one([False, True])
    ),
    "median": lambda np, d, a, b: getattr(np, d.one("median nanmedian"))(
        a, d.axes(a), keepdims=d.one([True, False])
    ),
    "percentile": lambda np, d, a, b: np.percentile(a, d.one([0, 33, [10, 90]]), d.axes(a)),
    "quantile": quantile,
    "unique": unique,
    "unique_all": lambda np, d, a, b: tuple(np.unique_all(a)),
    "unique_counts": lambda np, d, a, b: tuple(np.unique_counts(a)),
    "isin": lambda np, d, a, b: np.isin(a, d.one([b, [1, 3], 4]), invert=d.one([True, False])),
    "sets": lambda np, d, a, b: getattr(np, d.one("intersect1d union1d setdiff1d setxor1d"))(a, b),
    "intersect1d": lambda np, d, a, b: np.intersect1d(a, b, return_indices=True),
    "histogram": histogram,
    "histogram2d": lambda np, d, a, b: np.histogram2d(a, b, d.one([2, 5, [0, 3, 9]])),
    "histogramdd": lambda np, d, a, b: np.histogramdd(a, d.one([2, 3])),
    "bin edges": lambda np, d, a, b: np.histogram_bin_edges(a, d.one(BINS)),
    "bincount": lambda np, d, a, b: np.bincount(a, minlength=d.number(-1, 9)),
    "bincount of lengths": lambda np, d, a, b: np.bincount(abs(a.astype("l")).ravel() % 7),
    "bincount weights": lambda np, d, a, b: np.bincount(abs(a.astype("l")).ravel() % 7, b),
    "count_nonzero": lambda np, d, a, b: np.count_nonzero(
        a, axis=d.axes(a), keepdims=d.one([True, False])
    ),
    "sort_complex": lambda np, d, a, b: np.sort_complex(a),
    "trim_zeros": lambda np, d, a, b: np.trim_zeros(a, d.one("f b fb")),
}
