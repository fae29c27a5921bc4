"""pandas with our arrays: making, selecting, grouping, joining, reshaping and computing."""

import numpy
import pytest

from tests.interop.libraries.boundary import always, table_tests

pandas = pytest.importorskip("pandas")

RNG = numpy.random.default_rng(5)
VALUES = RNG.standard_normal(24)
OTHERS = RNG.standard_normal(24)
HOLES = numpy.where(RNG.random(24) < 0.2, numpy.nan, VALUES)
TABLE = RNG.standard_normal((24, 3))
KEYS = RNG.integers(0, 4, 24)
MASK = VALUES > 0
PLACES = numpy.array([3, 1, 22, 7])
EDGES = numpy.array([-3.0, -1.0, 0.0, 1.0, 3.0])
DAYS = numpy.datetime64("2024-01-01") + numpy.arange(24)
WORDS = numpy.array(["red", "green", "blue", "green"] * 6)
FRAME = {"key": KEYS, "x": VALUES, "y": OTHERS}


def framed(act):
    """A program of a data frame of the arrays."""
    return lambda columns, *others: act(pandas.DataFrame(columns), *others)


def series(act):
    return lambda values, *others: act(pandas.Series(values), *others)


def _written_series(values):
    made = pandas.Series(values)
    made[0] = 99.0
    return made


def _written_frame(values):
    made = pandas.DataFrame(values)
    made.iloc[0, 0] = 99.0
    made[1] += 1
    return made


def _assigned(frame, values):
    frame["z"] = values
    frame.loc[2, "z"] = 7.0
    return frame


def _filled(frame, mask, values):
    frame.loc[mask, "x"] = values
    return frame


def _zeroed(frame, mask):
    frame[mask] = 0
    return frame


CASES = {
    "Series": (pandas.Series, VALUES),
    "Series(index=)": (lambda x, i: pandas.Series(x, index=i), VALUES, DAYS),
    "Series, then written": (_written_series, VALUES),
    "DataFrame": (pandas.DataFrame, TABLE),
    "DataFrame(columns=)": (lambda x: pandas.DataFrame(x, columns=list("abc")), TABLE),
    "DataFrame of a dict": (pandas.DataFrame, FRAME),
    "DataFrame, then written": (_written_frame, TABLE),
    "Index": (pandas.Index, KEYS),
    "DatetimeIndex": (pandas.DatetimeIndex, DAYS),
    "to_datetime": (pandas.to_datetime, DAYS),
    "Categorical": (lambda x: pandas.Series(pandas.Categorical(x)), WORDS),
    "df[name] = array": (framed(_assigned), FRAME, TABLE[:, 0].copy()),
    "df[mask]": (framed(lambda frame, mask: frame[mask]), FRAME, MASK),
    "df.loc[mask]": (framed(lambda frame, mask: frame.loc[mask, "x"]), FRAME, MASK),
    "df.loc[mask] = array": (framed(_filled), FRAME, MASK, OTHERS[MASK]),
    "df[mask] = value": (framed(_zeroed), FRAME, MASK),
    "s[mask]": (series(lambda made, mask: made[mask]), VALUES, MASK),
    "df.iloc[places]": (framed(lambda frame, at: frame.iloc[at]), FRAME, PLACES),
    "df.loc[labels]": (framed(lambda frame, at: frame.loc[at]), FRAME, PLACES),
    "df.to_numpy": (framed(lambda frame: frame.to_numpy()), FRAME),
    "df.assign": (framed(lambda frame, z: frame.assign(z=z)), FRAME, OTHERS),
    "df.insert": (framed(lambda frame, z: (frame.insert(1, "z", z), frame)[1]), FRAME, OTHERS),
    "df.query": (framed(lambda frame: frame.query("x > y")), FRAME),
    "df.groupby.mean": (framed(lambda frame: frame.groupby("key").mean()), FRAME),
    "df.groupby(array)": (framed(lambda frame, key: frame.groupby(key).sum()), FRAME, KEYS),
    "df.groupby.agg": (framed(lambda frame: frame.groupby("key").agg(["min", "max"])), FRAME),
    "df.groupby.transform": (framed(lambda f: f.groupby("key")["x"].transform("mean")), FRAME),
    "df.pivot_table": (framed(lambda f: f.pivot_table("x", "key", aggfunc="sum")), FRAME),
    "df.sort_values": (framed(lambda frame: frame.sort_values("x")), FRAME),
    "df.describe": (framed(lambda frame: frame.describe()), FRAME),
    "df.corr": (framed(lambda frame: frame.corr()), FRAME),
    "df.mean": (framed(lambda frame: frame.mean()), FRAME),
    "df.melt": (framed(lambda frame: frame.melt("key")), FRAME),
    "df.apply": (framed(lambda frame: frame.apply(numpy.max)), FRAME),
    "df + array": (lambda x, y: pandas.DataFrame(x) + y, TABLE, TABLE[0].copy()),
    "df + table": (lambda x, y: pandas.DataFrame(x) + y, TABLE, TABLE),
    "df.drop_duplicates": (framed(lambda frame: frame.drop_duplicates("key")), FRAME),
    "df.to_csv": (framed(lambda frame: frame.to_csv()), FRAME),
    "merge": (
        lambda left, right: pandas.merge(pandas.DataFrame(left), pandas.DataFrame(right), on="key"),
        FRAME,
        {"key": numpy.arange(4), "w": VALUES[:4].copy()},
    ),
    "concat": (
        lambda x, y: pandas.concat([pandas.Series(x), pandas.Series(y)], ignore_index=True),
        VALUES,
        OTHERS,
    ),
    "cut": (lambda x, edges: pandas.Series(pandas.cut(x, edges)), VALUES, EDGES),
    "qcut": (lambda x: pandas.qcut(x, 4, labels=False), VALUES),
    "factorize": (pandas.factorize, KEYS),
    "unique": (pandas.unique, KEYS),
    "get_dummies": (pandas.get_dummies, KEYS),
    "crosstab": (pandas.crosstab, KEYS, MASK),
    "isna": (pandas.isna, HOLES),
    "s.fillna": (series(lambda made: made.fillna(0.0)), HOLES),
    "s.interpolate": (series(lambda made: made.interpolate()), HOLES),
    "s.rolling.mean": (series(lambda made: made.rolling(3).mean()), VALUES),
    "s.ewm.mean": (series(lambda made: made.ewm(span=3).mean()), VALUES),
    "s.resample": (
        lambda x, days: pandas.Series(x, index=pandas.DatetimeIndex(days)).resample("7D").sum(),
        VALUES,
        DAYS,
    ),
    "s.value_counts": (series(lambda made: made.value_counts()), KEYS),
    "s.isin": (series(lambda made, values: made.isin(values)), KEYS, PLACES),
    "s.map": (series(lambda made: made.map({0: 1.0, 1: 2.0})), KEYS),
    "s.where": (series(lambda made, mask: made.where(mask, 0.0)), VALUES, MASK),
    "s.quantile": (series(lambda made, q: made.quantile(q)), VALUES, numpy.array([0.25, 0.5])),
    "s.searchsorted": (series(lambda made, x: made.searchsorted(x)), EDGES, VALUES),
    "s.cumsum": (series(lambda made: made.cumsum()), VALUES),
    "s.clip": (series(lambda made: made.clip(-1, 1)), VALUES),
    "s.corr": (lambda x, y: pandas.Series(x).corr(pandas.Series(y)), VALUES, OTHERS),
    "s.reindex": (series(lambda made, at: made.reindex(at)), VALUES, PLACES),
}
CLASS = "pandas looks for NumPy's class itself"
KNOWN = {
    "df[mask] = value": (always, CLASS),
    "df + table": (always, CLASS),
    "df.groupby(array)": (always, CLASS),
    "factorize": (always, CLASS),
}

test_pandas, test_remedy = table_tests(CASES, KNOWN)
