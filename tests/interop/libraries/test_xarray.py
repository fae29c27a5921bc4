"""xarray with our arrays: labelled arrays and data sets made of them, and their methods."""

import numpy
import pytest

from tests.interop.libraries.boundary import Written, always, table_tests

xarray = pytest.importorskip("xarray")

RNG = numpy.random.default_rng(11)
VALUES = RNG.standard_normal((6, 8))
OTHERS = RNG.standard_normal((6, 8))
HOLES = numpy.where(RNG.random((6, 8)) < 0.2, numpy.nan, VALUES)
X, Y = numpy.arange(6) * 10.0, numpy.arange(8) * 0.5
DAYS = numpy.datetime64("2024-01-28") + numpy.arange(6)
KEYS = numpy.array([0, 1, 0, 2, 1, 0])
MASK = VALUES > 0
PLACES = numpy.array([3, 0, 5])


def labelled(act):
    """A program of a data array with coordinates."""

    def call(values, x, y, *others):
        return act(xarray.DataArray(values, {"x": x, "y": y}, ["x", "y"]), *others)

    return call


def _set(act):
    def call(values, others, x):
        variables = {"a": (("x", "y"), values), "b": (("x", "y"), others)}
        return act(xarray.Dataset(variables, {"x": x}))

    return call


def _written(array):
    array[0, 0] = 99.0
    array.loc[{"x": 20.0}] = 1.0
    array[{"y": 1}] = 2.0
    return array


def _both(values, others, x, y):
    first = xarray.DataArray(values, {"x": x}, ["x", "y"])
    second = xarray.DataArray(others, {"x": x + 10}, ["x", "y"])
    return first + second


def row(act, *others):
    return labelled(act), VALUES, X, Y, *others


SET = (VALUES, OTHERS, X)
CASES = {
    "DataArray": (xarray.DataArray, VALUES),
    "DataArray(coords=)": row(lambda a: a),
    "Variable": (lambda x: xarray.Variable(["x", "y"], x), VALUES),
    "Dataset": (_set(lambda a: a), *SET),
    "DataArray, then written": (labelled(_written), Written(VALUES), X, Y),
    "a.values": row(lambda a: a.values),
    "a.to_numpy": row(lambda a: a.to_numpy()),
    "a.sel": row(lambda a: a.sel(x=20.0)),
    "a.sel(method=)": row(lambda a, at: a.sel(y=at, method="nearest"), Y[:3] + 0.1),
    "a.isel": row(lambda a, at: a.isel(x=at), PLACES),
    "a.isel, slices": row(lambda a: a.isel(x=slice(1, 5, 2), y=slice(None, None, -1))),
    "a[mask]": row(lambda a, mask: a.where(xarray.DataArray(mask, a.coords)), MASK),
    "a.where(array)": row(lambda a, mask: a.where(mask, 0.0), MASK),
    "a + a": row(lambda a: a + a * 2),
    "a + array": row(lambda a, b: a + b, OTHERS),
    "array * a": row(lambda a, b: b * a, OTHERS),
    "numpy.sin(a)": row(lambda a: numpy.sin(a)),
    "a + b, aligned": (_both, VALUES, OTHERS, X, Y),
    "a.sum": row(lambda a: a.sum("x")),
    "a.mean": row(lambda a: a.mean()),
    "a.mean, holes": (labelled(lambda a: a.mean("y")), HOLES, X, Y),
    "a.std": row(lambda a: a.std("y")),
    "a.max": row(lambda a: a.max("x")),
    "a.argmax": row(lambda a: a.argmax("y")),
    "a.median": row(lambda a: a.median("y")),
    "a.quantile": row(lambda a, q: a.quantile(q, "y"), numpy.array([0.25, 0.5])),
    "a.cumsum": row(lambda a: a.cumsum("y")),
    "a.diff": row(lambda a: a.diff("x")),
    "a.shift": row(lambda a: a.shift(x=1)),
    "a.roll": row(lambda a: a.roll(y=2)),
    "a.rolling.mean": row(lambda a: a.rolling(y=3).mean()),
    "a.coarsen.mean": row(lambda a: a.coarsen(x=2).mean()),
    "a.interp": row(lambda a, at: a.interp(y=at), Y[:4] + 0.1),
    "a.fillna": (labelled(lambda a: a.fillna(0.0)), HOLES, X, Y),
    "a.dropna": (labelled(lambda a: a.dropna("x")), HOLES, X, Y),
    "a.interpolate_na": (labelled(lambda a: a.interpolate_na("y")), HOLES, X, Y),
    "a.groupby.mean": row(lambda a, k: a.assign_coords(k=("x", k)).groupby("k").mean(), KEYS),
    "a.resample": (
        lambda x, days: xarray.DataArray(x, {"t": days}, ["t", "y"]).resample(t="1ME").mean(),
        VALUES,
        DAYS,
    ),
    "a.transpose": row(lambda a: a.transpose("y", "x")),
    "a.stack": row(lambda a: a.stack(z=["x", "y"]).values),
    "a.sortby": row(lambda a, keys: a.assign_coords(k=("x", keys)).sortby("k"), KEYS),
    "a.clip": row(lambda a: a.clip(-1, 1)),
    "a.astype": row(lambda a: a.astype("f4")),
    "a.copy": row(lambda a: a.copy()),
    "a.expand_dims": row(lambda a: a.expand_dims("z")),
    "a.integrate": row(lambda a: a.integrate("y")),
    "a.polyfit": row(lambda a: a.polyfit("y", 2)),
    "a.to_pandas": row(lambda a: a.to_pandas()),
    "ds.to_dataframe": (_set(lambda ds: ds.to_dataframe()), *SET),
    "ds.mean": (_set(lambda ds: ds.mean("x")), *SET),
    "ds.sel": (_set(lambda ds: ds.sel(x=slice(10, 30))), *SET),
    "ds.assign": (_set(lambda ds: ds.assign(c=ds.a + ds.b)), *SET),
    "ds.map": (_set(lambda ds: ds.map(numpy.abs)), *SET),
    "ds.to_array": (_set(lambda ds: ds.to_array()), *SET),
    "concat": (
        lambda a, b: xarray.concat([xarray.DataArray(one) for one in (a, b)], "dim_0"),
        VALUES,
        OTHERS,
    ),
    "merge": (
        lambda a, b: xarray.merge([xarray.DataArray(a, name="a"), xarray.DataArray(b, name="b")]),
        VALUES,
        OTHERS,
    ),
    "where": (lambda m, a, b: xarray.where(xarray.DataArray(m), a, b), MASK, VALUES, OTHERS),
    "dot": (lambda a, b: xarray.dot(xarray.DataArray(a), xarray.DataArray(b)), VALUES, OTHERS),
    "corr": (lambda a, b: xarray.corr(xarray.DataArray(a), xarray.DataArray(b)), VALUES, OTHERS),
    "apply_ufunc": row(lambda a, b: xarray.apply_ufunc(numpy.hypot, a, b), OTHERS),
    "polyval": (
        lambda c, x: xarray.polyval(
            xarray.DataArray(x), xarray.DataArray(c, {"degree": [0, 1, 2]}, ["degree"])
        ),
        X[:3].copy(),
        Y,
    ),
}
KNOWN = {"a.interp": (always, "xarray looks for NumPy's class itself")}

test_xarray, test_remedy = table_tests(CASES, KNOWN)
