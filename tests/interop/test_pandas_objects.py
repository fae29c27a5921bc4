"""pandas with Dappled arrays: its objects own their values; masks and indices select."""

import warnings

import dappled
import numpy
import pytest

pandas = pytest.importorskip("pandas")
VALUES = numpy.arange(6.0)


def first(series):
    series.iloc[0] = 99


def element(frame, column=0):
    frame.iloc[0, column] = 99


def column_of(frame, put):
    put(frame)
    element(frame, 1)


def frame():
    return pandas.DataFrame({"a": range(6), "c": VALUES * 2})


OWNING = {
    "Series": lambda y: first(pandas.Series(y)),
    "item": lambda y: pandas.Series(y).__setitem__(0, 99),
    "index": lambda y: first(pandas.Series(y, index=list("abcdef"))),
    "dtype": lambda y: first(pandas.Series(y, dtype=float)),
    "view": lambda y: first(pandas.Series(y[::-1])),
    "in place": lambda y: pandas.Series(y).__iadd__(1),
    "DataFrame": lambda y: element(pandas.DataFrame(y)),
    "2-D": lambda y: element(pandas.DataFrame(y.reshape(3, 2))),
    "dict": lambda y: element(pandas.DataFrame({"a": y})),
    "column": lambda y: column_of(frame(), lambda df: df.__setitem__("a", y)),
    "insert": lambda y: column_of(frame(), lambda df: df.insert(1, "b", y)),
    "assign": lambda y: element(frame().assign(a=y)),
    "loc": lambda y: column_of(frame(), lambda df: df.loc.__setitem__((slice(None), "c"), y)),
    "array": lambda y: pandas.array(y).__setitem__(0, 99.0),
    "concat": lambda y: first(pandas.concat([pandas.Series(y)])),
}


@pytest.mark.parametrize("name", OWNING)
def test_writes_to_pandas_objects_do_not_change_the_array(name):
    for np in (numpy, dappled):
        y = np.array(VALUES)
        OWNING[name](y)
        assert y.tolist() == VALUES.tolist()


def series():
    return pandas.Series(VALUES, index=list("abcdef"))


def written(target, put):
    put(target)
    return target


SELECTING = {
    "df[mask]": lambda np, x: frame()[x > 2],
    "df.loc[mask]": lambda np, x: frame().loc[x > 2],
    "df.loc[mask, column]": lambda np, x: frame().loc[x > 2, "a"],
    "df.iloc[mask]": lambda np, x: frame().iloc[x > 2],
    "df.iloc[indices]": lambda np, x: frame().iloc[np.array([1, 3])],
    "df.iloc[rows, columns]": lambda np, x: frame().iloc[np.array([1, 3]), np.array([0])],
    "df.loc[labels]": lambda np, x: frame().loc[np.array([1, 3])],
    "df[columns]": lambda np, x: frame()[np.array(["a"])],
    "df.loc[mask] =": lambda np, x: written(
        frame(), lambda df: df.loc.__setitem__((x > 2, "c"), 0)
    ),
    "df.loc[mask] = array": lambda np, x: written(
        frame(), lambda df: df.loc.__setitem__((x > 2, "c"), x[:3])
    ),
    "s[mask]": lambda np, x: series()[x > 2],
    "s.loc[mask]": lambda np, x: series().loc[x > 2],
    "s.iloc[indices]": lambda np, x: series().iloc[np.array([1, 3])],
    "s[mask] =": lambda np, x: written(series(), lambda s: s.__setitem__(x > 2, 0)),
    "s[none]": lambda np, x: series()[x > 9],
    "index[mask]": lambda np, x: pandas.Index(VALUES)[x > 2],
    "range[mask]": lambda np, x: pandas.RangeIndex(6)[x > 2],
    "index[indices]": lambda np, x: pandas.Index(x)[np.array([1, 2])],
    "where": lambda np, x: series().where(x > 2),
    "mask": lambda np, x: series().mask(x > 2, 0.0),
    "take": lambda np, x: frame().take(np.array([1, 3])),
    "drop": lambda np, x: frame().drop(np.array([1, 3])),
    "reindex": lambda np, x: frame().reindex(np.array([1, 3, 9])),
    "isin": lambda np, x: series().isin(x[:2]),
    "unique": lambda np, x: pandas.unique(x),
    "cut": lambda np, x: pandas.cut(x, np.array([0.0, 2.0, 6.0])),
    "Categorical": lambda np, x: pandas.Categorical(x),
    "MultiIndex": lambda np, x: pandas.MultiIndex.from_arrays([x, x]),
    "columns": lambda np, x: pandas.DataFrame(x.reshape(3, 2), columns=np.array(["u", "v"])),
    "texts": lambda np, x: pandas.Series(np.array(["a", "b"])),
    "s + x": lambda np, x: series() + x,
    "x + s": lambda np, x: x + series(),
    "s > x": lambda np, x: series() > x,
    "hypot": lambda np, x: np.hypot(series(), x),
}


@pytest.mark.parametrize("name", SELECTING)
def test_masks_and_indices_of_ours_are_taken_as_numpys(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = SELECTING[name](numpy, VALUES.copy())
        ours = SELECTING[name](dappled, dappled.array(VALUES))
    assert type(ours) is type(theirs)
    assert repr(ours) == repr(theirs)


def test_pandas_errors():
    """It tests for NumPy's class itself in these: `mask.numpy()` is taken."""
    mask, groups = dappled.array(VALUES) > 2, dappled.array([0, 0, 1, 1, 2, 2])
    with pytest.raises(TypeError):
        frame()[mask] = 0
    with pytest.raises(TypeError):
        frame().groupby(groups)
    assert frame().groupby(groups.numpy()).sum()["a"].tolist() == [1, 5, 9]
