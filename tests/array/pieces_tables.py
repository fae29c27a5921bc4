"""What `pieces_stay` runs, in tables: programs of NumPy over arrays in pieces."""

import warnings

import numpy

VALUES = numpy.arange(60.0 * 42).reshape(60, 42) % 17 - 5

CREATING = {
    "zeros": lambda np, d: np.zeros((40, 30), **d),
    "ones": lambda np, d: np.ones((40, 30), "i4", **d),
    "empty": lambda np, d: filled(np.empty((40, 30), **d)),
    "full": lambda np, d: np.full((40, 30), 7, **d),
    "zeros_like": lambda np, d: np.zeros_like(np.ones((40, 30)), **d),
    "ones_like": lambda np, d: np.ones_like(np.ones((40, 30)), **d),
    "full_like": lambda np, d: np.full_like(np.ones((40, 30)), 3, **d),
    "eye": lambda np, d: np.eye(40, 30, 1, **d),
    "identity": lambda np, d: np.identity(40, **d),
    "tri": lambda np, d: np.tri(40, 30, 2, **d),
    "array": lambda np, d: np.array(VALUES, **d),
    "asarray": lambda np, d: np.asarray(VALUES.tolist(), **d),
    "fromfunction": lambda np, d: np.fromfunction(lambda i, j: i * 3 + j, (40, 30), **d),
}
ALONG = {
    "arange": lambda np, d: np.arange(1000, **d),
    "arange step": lambda np, d: np.arange(3.5, -200, -0.3, **d),
    "arange dtype": lambda np, d: np.arange(3, 4000, 7, dtype="f4", **d),
    "arange small dtype": lambda np, d: np.arange(100, dtype="i1", **d),
    "arange half": lambda np, d: np.arange(0, 60, 0.1, dtype="f2", **d),
    "arange numpy": lambda np, d: np.arange(numpy.float32(0.5), numpy.int8(90), **d),
    "arange empty": lambda np, d: np.arange(5, 1, **d),
    "arange complex": lambda np, d: np.arange(0, 500, dtype="c16", **d),
    "linspace": lambda np, d: np.linspace(-1, 2, 777, **d),
    "linspace open": lambda np, d: np.linspace(3, 2, 777, endpoint=False, dtype="i4", **d),
    "logspace": lambda np, d: np.logspace(0, 3, 500, **d),
    "geomspace": lambda np, d: np.geomspace(1, 512, 500, **d),
}
CUBES = {
    "indices": lambda np, d: np.indices((40, 30), **d),
    "linspace of arrays": lambda np, d: np.linspace(VALUES, VALUES + 1, 4, **d),
}

SHAPING = {
    "transpose": lambda np, a: a.T,
    "reshape": lambda np, a: a.reshape(42, 60),
    "reshape long": lambda np, a: a.reshape(2, -1),
    "reshape 4": lambda np, a: a.reshape(5, 12, 6, 7),
    "reshape F": lambda np, a: a.reshape(30, 84, order="F"),
    "reshape part": lambda np, a: a.reshape(30, 84)[::3, 5:],
    "ravel": lambda np, a: a.ravel(),
    "ravel part": lambda np, a: a[3:, 2:].ravel(),
    "ravel turned": lambda np, a: a.T.ravel(),
    "flatten": lambda np, a: a.flatten("F"),
    "swapaxes": lambda np, a: np.swapaxes(a, 0, 1) + 1,
    "moveaxis": lambda np, a: np.moveaxis(a, 0, -1) * 2,
    "expand_dims": lambda np, a: np.expand_dims(a, 1) + a[:, None],
    "squeeze": lambda np, a: np.squeeze(a[:, None]),
    "broadcast_to": lambda np, a: np.broadcast_to(a, (2, 60, 42)) + 1,
    "broadcast": lambda np, a: a[:, :1] + a[:1],
    "diagonal": lambda np, a: np.diagonal(a, 2),
    "diagonal of stack": lambda np, a: np.diagonal(a.reshape(10, 6, 42), 0, 1, 2),
    "real": lambda np, a: (a + 2j * a).real,
    "imag": lambda np, a: (a + 2j * a).imag[::2],
    "view": lambda np, a: a.view("i4"),
    "windows": lambda np, a: np.lib.stride_tricks.sliding_window_view(a, 3, 0),
    "concatenate": lambda np, a: np.concatenate([a, a[5:], a]),
    "concatenate 1": lambda np, a: np.concatenate([a, a[:, ::-1]], axis=1),
    "concatenate None": lambda np, a: np.concatenate([a, a], axis=None),
    "stack": lambda np, a: np.stack([a, a + 1], axis=1),
    "hstack": lambda np, a: np.hstack([a, a]),
    "vstack": lambda np, a: np.vstack([a, a]),
    "dstack": lambda np, a: np.dstack([a, a]),
    "column_stack": lambda np, a: np.column_stack([a, a]),
    "block": lambda np, a: np.block([[a, a], [a, a]]),
    "append": lambda np, a: np.append(a, a, axis=0),
    "split": lambda np, a: np.split(a, 4),
    "array_split": lambda np, a: np.array_split(a, 7, axis=1),
    "hsplit": lambda np, a: np.hsplit(a, 2),
    "vsplit": lambda np, a: np.vsplit(a, [7, 50]),
    "tile": lambda np, a: np.tile(a, (2, 3)),
    "repeat": lambda np, a: np.repeat(a, 3, axis=1),
    "repeat 0": lambda np, a: np.repeat(a, 2, axis=0),
    "repeat all": lambda np, a: np.repeat(a, 2),
    "repeat counts": lambda np, a: np.repeat(a, np.arange(60) % 3, axis=0),
    "repeat columns": lambda np, a: a.repeat((a[0] > 0) * 2, axis=1),
    "repeat elements": lambda np, a: np.repeat(a, np.abs(a).astype("i4").ravel()),
    "repeat list": lambda np, a: (
        np.repeat(a, [2], 1),
        np.repeat([1, 2], a[0, :2].astype(int) + 9),
    ),
    "ediff1d ends": lambda np, a: np.ediff1d(a, to_begin=[7, 8], to_end=a[0]),
    "roll": lambda np, a: np.roll(a, 5, axis=0),
    "roll both": lambda np, a: np.roll(a, (3, -4), axis=(0, 1)),
    "roll all": lambda np, a: np.roll(a, 100),
    "flip": lambda np, a: np.flip(a),
    "fliplr": lambda np, a: np.fliplr(a) + 1,
    "rot90": lambda np, a: np.rot90(a),
    "rot90 2": lambda np, a: np.rot90(a, 2) * 2,
    "tril": lambda np, a: np.tril(a, 3),
    "triu": lambda np, a: np.triu(a),
    "pad": lambda np, a: np.pad(a, 2),
    "pad edge": lambda np, a: np.pad(a, 3, mode="edge"),
    "pad wrap": lambda np, a: np.pad(a, 3, mode="wrap"),
    "resize": lambda np, a: np.resize(a, (50, 60)),
    "meshgrid": lambda np, a: np.meshgrid(a[0], a[:, 0]),
    "delete": lambda np, a: np.delete(a, 3, axis=0),
    "insert": lambda np, a: np.insert(a, 3, 1, axis=0),
    "where": lambda np, a: np.where(a > 3, a, -a),
    "clip": lambda np, a: np.clip(a, -1, 4),
    "select": lambda np, a: np.select([a > 3, a < -2], [a, -a], 0),
    "diff": lambda np, a: np.diff(a, axis=0),
    "diff 2": lambda np, a: np.diff(a, 2),
    "ediff1d": lambda np, a: np.ediff1d(a),
    "gradient": lambda np, a: np.gradient(a),
    "round": lambda np, a: np.round(a / 3, 2),
    "round swapped": lambda np, a: with_order(np.round((a / 3).astype(">f8"), 2)),
    "rint swapped": lambda np, a: with_order(np.round((a / 3).astype(">f4"))),
    "astype": lambda np, a: a.astype("i4"),
    "copy": lambda np, a: np.copy(a),
    "where positive": lambda np, a: np.sqrt(a, out=a.copy(), where=a > 0),
    "where row": lambda np, a: np.add(a, 2, out=np.zeros_like(a), where=a[0] > 0),
    "where wrong": lambda np, a: raised(lambda: np.add(a, a, where=a[0, :7] > 2)),
    "where wrong with out": lambda np, a: raised(
        lambda: np.add(a, a, where=a[:, :3] > 2, out=np.zeros(a.shape))
    ),
    "where of numbers": lambda np, a: raised(lambda: np.add(a, a, where=a)),
    "where of wrong sum": lambda np, a: raised(lambda: np.sum(a, where=np.ones(7, bool))),
    "where of wrong reduce": lambda np, a: raised(
        lambda: np.add.reduce(a, where=np.ones((2, 60, 42), bool))
    ),
    "where of wrong max": lambda np, a: raised(lambda: np.max(a, where=a[:7] > 2, initial=0)),
    "where alone": lambda np, a: np.where(a > 2, np.divide(1, a, where=a > 2), 0),
    "sum where": lambda np, a: a.sum(axis=0, where=a > 1),
    "mean where": lambda np, a: a.mean(axis=1, where=a[:, :1] > -9),
    "max where": lambda np, a: a.max(where=a < 3, initial=-99),
    "count where": lambda np, a: np.add.reduce(a > 1, axis=None, where=a < 9, initial=3),
    "sum where of a list": lambda np, a: np.sum([*range(42)], where=a[0] > 1),
    "max where of a list": lambda np, a: np.max([*range(42)], where=a[0] > 1, initial=2),
    "all where of a list": lambda np, a: np.all([0] * 42, where=a[0] > 1),
    "where of a number": lambda np, a: raised(lambda: np.sum(3, where=a[0] > 1)),
    "any where": lambda np, a: np.any(a > 3, axis=1, where=a < 9),
    "sum where all": lambda np, a: np.sum(a / 3, where=a > 1),
    "sum where all kept": lambda np, a: (a / 7).sum(keepdims=True, where=a[0] > 1, initial=0.3),
    "sum where infinite": lambda np, a: np.sum(np.where(a > 3, np.inf, a), where=a <= 3),
    "mean where all": lambda np, a: (np.mean(a, where=a > 1), a.astype("f2").mean(where=a < 3)),
    "std where all": lambda np, a: (np.std(a, where=a > 1), np.var(a, ddof=1, where=a < 5)),
    "prod where all": lambda np, a: (a * 1.1).prod(where=(a > 0) & (np.arange(42) == 3)),
    "prod where of integers": lambda np, a: np.prod(a.astype("i4"), where=a == 2),
    "min where all": lambda np, a: (
        np.min(a, where=a > 1, initial=9),
        raised(lambda: np.max(a, where=a > 1)),
    ),
    "any where all": lambda np, a: (np.any(a > 3, where=a < 3), np.all(a > 3, where=a > 3)),
    "any where of numbers": lambda np, a: (np.any(a, where=a < 3), np.all(a, where=a > 3)),
    "reduceat": lambda np, a: np.add.reduceat(a, [0, 5, 3, 40], axis=0),
    "reduceat columns": lambda np, a: np.maximum.reduceat(a, [0, 41], 1),
    "nanargmin": lambda np, a: np.nanargmin(a, axis=1),
    "flat": lambda np, a: a.flat[5:2000:3],
    "flat turned": lambda np, a: a.T.flat[::-7],
    "flat written": lambda np, a: a.flat.__setitem__(slice(3, None, 5), 2.5),
    "sum 0": lambda np, a: a.sum(axis=0),
    "sum 1": lambda np, a: a.sum(axis=1, keepdims=True),
    "mean": lambda np, a: a.mean(axis=1),
    "var": lambda np, a: a.var(axis=0),
    "nansum": lambda np, a: np.nansum(a, axis=1),
    "ptp": lambda np, a: np.ptp(a, axis=1),
    "isclose": lambda np, a: np.isclose(a, a + 1e-9),
    "allclose": lambda np, a: np.allclose(a, a),
    "array_equal": lambda np, a: np.array_equal(a, a.copy()),
    "count_nonzero": lambda np, a: np.count_nonzero(a, axis=0),
    "outer": lambda np, a: np.outer(a[0], a[:, 0]),
    "fftshift": lambda np, a: np.fft.fftshift(a),
    "assign": lambda np, a: a.__setitem__((slice(1, -1), slice(1, -1)), a[2:, 2:]),
    "assign flat": lambda np, a: a.reshape(-1).__setitem__(slice(3, None, 5), 9),
    "assign real": lambda np, a: setattr(a + 1j, "real", 2),
}

ROWS = numpy.array([3, -1, 3, 0, 59, 17])
MANY = numpy.arange(500) * 37 % 2520
FEW = numpy.arange(60) * 7 % 42


def changed(act):
    """A program that changes the array: it is compared afterwards."""

    def program(np, a):
        act(np, a)

    return program


def written_many(np, a, kind):
    """Elements written by number, in place: of several for one the last stays, also over what is
    read itself, and whoever copied or asked before has what was there.
    """
    row = a.astype(kind).ravel()
    copy, later = row.copy(), row[::-1] == row
    row[np.asarray(MANY % 99)] = np.asarray(MANY % 90).astype(kind)
    row[MANY - 700] = row[3]
    row[np.abs(a).astype("i4").ravel()] = row
    return row, copy, later


def with_order(values):
    """Values, and the order of their bytes, which must be the one that was asked for."""
    return values, values.dtype.str


def interpolated(np, a, x):
    """Values in tables in pieces, also of complex numbers, beyond the ends, and that come again."""
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
    """Arrays in pieces along one another, the longer one first or last, complex or not."""
    row, column = a[7] * 1.1 + 1j * a[8], a[:, 3]
    return [
        *(function(column, row, mode), function(row, column[::-1], mode)),
        *(function(a.ravel(), a[3], mode), function(a[3], a.ravel(), mode)),
        *(function(a.ravel(), a.ravel(), mode), function([1, 2.5], a.ravel(), mode)),
        *(function(column > 0, column > 2, mode), function(row, column.astype("i2"), mode)),
    ]


def warned(act):
    """What a call gives, and what it warns of."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        made = act()
    return made, [f"{one.category.__name__}: {one.message}" for one in found]


def raised(act):
    """The error of a call, to be compared."""
    try:
        act()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no error"


INDEXING = {
    "mask": lambda np, a: a[a > 3],
    "mask numpy": lambda np, a: a[VALUES > 3],
    "mask of none": lambda np, a: a[a > 99],
    "mask of rows": lambda np, a: a[a[:, 0] > 3],
    "mask of columns": lambda np, a: a[:, a[0] > 3],
    "mask of columns, front": lambda np, a: a[1:50:2, a[0] > 3],
    "mask and number": lambda np, a: a[a[:, 0] > 3, 5],
    "mask row": lambda np, a: a.reshape(-1)[(a > 3).reshape(-1)],
    "mask turned": lambda np, a: a.T[a.T > 3],
    "mask sum": lambda np, a: a[a > 3].sum(),
    "mask mean": lambda np, a: a.ravel()[a.ravel() * 3 > 3].mean(),
    "mask sum third": lambda np, a: (a.ravel() / 3)[a.ravel() % 2 > 0].sum(),
    "mask complex": lambda np, a: (a.ravel() * 0.1j)[a.ravel() > 3].sum(),
    "mask max": lambda np, a: (a[a < 9].max(), a[a < 9].min(), a[a < 9].astype("i2").sum()),
    "mask prod": lambda np, a: (a[a == 2] / 1.5).prod(),
    "mask any": lambda np, a: (a[a < 1].any(), a[a < 1].all(), a[a < 1].std()),
    "mask twice": lambda np, a: [a[a > 3] + a[a > 3], a[a > 3][::2].sum()],
    "rows": lambda np, a: a[ROWS],
    "rows ours": lambda np, a: a[np.asarray(ROWS)],
    "rows list": lambda np, a: a[[1, 2, -60]],
    "rows empty": lambda np, a: a[[]],
    "columns": lambda np, a: a[:, ROWS[:3]],
    "columns of part": lambda np, a: a[5:40:3, [0, 41, 7]],
    "columns dots": lambda np, a: a[..., ROWS[:3]],
    "both": lambda np, a: a[ROWS[:4], [1, 2, 3, 4]],
    "outer": lambda np, a: a[np.ix_([1, 5, 7], [2, 40])],
    "two axes": lambda np, a: a[ROWS.reshape(2, 3)],
    "broadcast": lambda np, a: a[ROWS[:, None], [1, 2]],
    "apart": lambda np, a: a.reshape(10, 6, 42)[[1, 2], :, [3, 4]],
    "beside": lambda np, a: a.reshape(10, 6, 42)[:, [1, 2], [3, 4]],
    "apart by no axis": lambda np, a: a.reshape(10, 6, 42)[:, 0, ..., np.arange(4)],
    "broadcast by no axis": lambda np, a: a.reshape(10, 6, 42)[::3, [[0], [5]], ..., [3, 4]],
    "middle": lambda np, a: a.reshape(10, 6, 42)[1:, [[1, 2], [0, 5]], ::2],
    "number and array": lambda np, a: a.reshape(10, 6, 42)[1, :, [3, 4]],
    "newaxis": lambda np, a: a[ROWS, None],
    "many": lambda np, a: a.reshape(-1)[MANY],
    "many ours": lambda np, a: a.reshape(-1)[np.asarray(MANY)],
    "by values": lambda np, a: a.reshape(-1)[np.abs(a).astype(int)],
    "by small values": lambda np, a: a.reshape(-1)[np.abs(a).astype("u1")],
    "set mask": changed(lambda np, a: a.__setitem__(a > 3, -7)),
    "set mask array": changed(lambda np, a: a.__setitem__(a > 3, a[a > 3] * 2)),
    "set mask rows": changed(lambda np, a: a.__setitem__(a[:, 1] > 3, 1.5)),
    "set mask row": changed(lambda np, a: a.__setitem__(a[:, 1] > 3, a[0])),
    "set rows": changed(lambda np, a: a.__setitem__(ROWS, a[1])),
    "set last wins": changed(lambda np, a: a.__setitem__(ROWS, a[:6])),
    "set columns": changed(lambda np, a: a.__setitem__((slice(None), FEW[:9]), 8)),
    "set columns array": changed(lambda np, a: a.__setitem__((slice(None), FEW[:9]), a[:, :9] + 1)),
    "set both": changed(lambda np, a: a.__setitem__((FEW, FEW), np.arange(60.0))),
    "set outer": changed(lambda np, a: a.__setitem__(np.ix_([1, 5], [2, 40, 2]), a[:2, :3])),
    "set apart by no axis": changed(
        lambda np, a: a.reshape(10, 6, 42).__setitem__(
            (slice(None), [0, 1], ..., [3, 4]), a[:2, :10]
        )
    ),
    "set part": changed(lambda np, a: a[10:50].__setitem__(ROWS[:3], 3)),
    "set in place": changed(lambda np, a: a.__setitem__(ROWS, a[ROWS] + 1)),
    "set many": lambda np, a: written_many(np, a, "f8"),
    "set many short": lambda np, a: written_many(np, a, "i2"),
    "set many swapped": lambda np, a: written_many(np, a, ">f8"),
    "set many items": lambda np, a: written_many(np, np.abs(a), "M8[s]"),
    "set items": changed(lambda np, a: a.__setitem__(MANY[:50] % 60, 5)),
    "add.at": changed(lambda np, a: np.add.at(a, ROWS, 1)),
    "add.at array": changed(lambda np, a: np.add.at(a, (FEW, FEW), np.arange(60.0))),
    "add.at one": changed(lambda np, a: np.add.at(a, 0, 1)),
    "add.at part": changed(lambda np, a: np.add.at(a, (slice(1, 9), ...), a[0])),
    "add.at all": changed(lambda np, a: np.multiply.at(a, ..., 2)),
    "add.at element": changed(lambda np, a: np.add.at(a, (3, 5), 2.5)),
    "negative.at part": changed(lambda np, a: np.negative.at(a, slice(None, None, 2))),
    "truth": lambda np, a: (a[True], a[..., np.True_], a[:, True, 3:], a[False], a[..., False]),
    "set truth": changed(lambda np, a: a.__setitem__(True, 1)),
    "set truths": changed(lambda np, a: a.__setitem__((slice(3), np.True_), a[5])),
    "set untruth": changed(lambda np, a: a.__setitem__((..., False), 1)),
    "flat by list": lambda np, a: (a.flat[[3, -5]], a.T.flat[[[1, 2], [3, 4]]]),
    "set flat by list": changed(lambda np, a: a.flat.__setitem__([3, 5, 7], [1, 2])),
    "set flat by array": changed(lambda np, a: a.flat.__setitem__(MANY.reshape(2, -1), a[0] + 1)),
    "negative.at": changed(lambda np, a: np.negative.at(a, ROWS)),
    "maximum.at": changed(lambda np, a: np.maximum.at(a, (slice(None), [0, 1, 0]), 4)),
    "nonzero": lambda np, a: np.nonzero(a),
    "nonzero method": lambda np, a: (a > 3).nonzero(),
    "flatnonzero": lambda np, a: np.flatnonzero(a),
    "argwhere": lambda np, a: np.argwhere(a > 2),
    "where 1": lambda np, a: np.where(a > 2),
    "take": lambda np, a: np.take(a, MANY),
    "take 0": lambda np, a: a.take(ROWS, axis=0),
    "take 1": lambda np, a: np.take(a, [5, 0, 5], axis=1),
    "take wrap": lambda np, a: np.take(a, MANY * 3 - 999, mode="wrap"),
    "take clip": lambda np, a: np.take(a, [-4, 99, 7], axis=0, mode="clip"),
    "put": changed(lambda np, a: np.put(a, MANY, [1, 2, 3])),
    "put method": changed(lambda np, a: a.put([1, 2, -1], -8)),
    "place": changed(lambda np, a: np.place(a, a > 3, [1, 2, 3])),
    "putmask": changed(lambda np, a: np.putmask(a, a > 3, [1, 2, 3])),
    "compress": lambda np, a: np.compress(a[:, 0] > 2, a, axis=0),
    "compress short": lambda np, a: a.compress([True, False, True], axis=1),
    "extract": lambda np, a: np.extract(a > 3, a),
    "choose": lambda np, a: np.choose((a > 3).astype(int), [a, -a]),
    "choose of numbers": lambda np, a: np.choose((a > 3) + (a > 5), [a.astype("f4"), 0, 1]),
    "take_along_axis": lambda np, a: np.take_along_axis(a, np.argsort(a, 1, kind="stable"), 1),
    "put_along_axis": changed(lambda np, a: np.put_along_axis(a, np.argmax(a, 0)[None], 99, 0)),
    "put_along_axis of all": changed(lambda np, a: np.put_along_axis(a, MANY, a.flat[:500], None)),
    "unravel_index": lambda np, a: np.unravel_index(np.abs(a).astype(int), (5, 10)),
    "ravel_multi_index": lambda np, a: np.ravel_multi_index(np.nonzero(a), a.shape),
}
WRONG = {
    "number": lambda np, a: a[[0, 60]],
    "second number": lambda np, a: a[[0, 1], [0, -43]],
    "ours": lambda np, a: a.reshape(-1)[np.arange(3000)],
    "too many": lambda np, a: a[[0], [0], [0]],
    "float": lambda np, a: a[np.asarray([0.5])],
    "shapes": lambda np, a: a[[0, 1], [0, 1, 2]],
    "mask": lambda np, a: a[np.asarray([True, False])],
    "mask columns": lambda np, a: a[:, a[:, 0] > 2],
    "set number": lambda np, a: a.__setitem__([0, 60], 1),
    "set value": lambda np, a: a.__setitem__([0, 1], a[:3]),
    "set mask": lambda np, a: a.__setitem__(a > 3, a[0]),
    "set type": lambda np, a: a.__setitem__([0, 1], "text"),
    "add.at": lambda np, a: np.add.at(a, [0, 60], 1),
    "add.at one": lambda np, a: np.add.at(a, 60, 1),
    "add.at shape": lambda np, a: np.add.at(a, 0, a),
    "set truth": lambda np, a: a.__setitem__(True, a[:3]),
    "repeat": lambda np, a: np.repeat(a, a[:, 0].astype(int), 0),
    "repeat shape": lambda np, a: np.repeat(a, [1, 2], 0),
    "take": lambda np, a: np.take(a, [0, 99], axis=0),
    "take mode": lambda np, a: np.take(a, [0, 9], mode="none"),
    "put": lambda np, a: np.put(a, [0, 99999], 1),
    "of no rows": lambda np, a: a[:0, [99]],
    "of no columns": lambda np, a: a[[99], :0],
    "set of no rows": lambda np, a: a.__setitem__((slice(0), [99]), 1),
    "add.at of no rows": lambda np, a: np.add.at(a, (slice(0), [99]), 1),
    "putmask": lambda np, a: np.putmask(a.astype(int), a > 3, a),
    "putmask list": lambda np, a: np.putmask(a.astype("i1"), a > 3, [300]),
    "place": lambda np, a: np.place(a.astype(int), a > 3, a[0]),
    "put_along_axis": lambda np, a: np.put_along_axis(a.T, MANY, 1, None),
    "compress": lambda np, a: np.compress([True] * 70, a, axis=0),
    "choose": lambda np, a: np.choose(np.abs(a).astype(int), [a, -a]),
    "take_along_axis": lambda np, a: np.take_along_axis(a, np.argsort(a, axis=1) + 9, 1),
    "unravel_index": lambda np, a: np.unravel_index(np.abs(a).astype(int), (5, 2)),
    "sort": lambda np, a: np.sort(a, axis=3),
    "sort kind": lambda np, a: np.sort(a, kind="none"),
    "partition": lambda np, a: np.partition(a, 99),
    "searchsorted": lambda np, a: np.searchsorted(a, 3),
    "searchsorted sorter": lambda np, a: np.searchsorted(a[0], a, sorter=np.arange(5)),
    "bincount": lambda np, a: np.bincount(a[0].astype(int)),
    "histogram": lambda np, a: np.histogram(a, 0),
    "histogram range": lambda np, a: np.histogram(a, 3, (5, 1)),
    "histogram rule": lambda np, a: np.histogram(a, "none"),
    "histogram falling": lambda np, a: np.histogram(a, a[:, 1]),
    "histogram weights": lambda np, a: np.histogram(a, np.sort(a[1]), weights=a[0]),
    "lexsort": lambda np, a: np.lexsort((a, a[0])),
    "lexsort axis": lambda np, a: np.lexsort((a, a), axis=2),
    "histogram nan": lambda np, a: np.histogram(np.where(a > 9, np.nan, a)),
    "digitize": lambda np, a: np.digitize(a, [1, 3, 2]),
    "median": lambda np, a: np.median(a, axis=4),
    "percentile": lambda np, a: np.percentile(a, 101),
}
SORTING = {
    "sort": lambda np, a: np.sort(a),
    "sort 0": lambda np, a: np.sort(a, axis=0),
    "sort all": lambda np, a: np.sort(a, axis=None),
    "sort method": changed(lambda np, a: a.sort(0)),
    "sort row": changed(lambda np, a: a[:, 3].sort()),
    "sort stable": lambda np, a: np.sort(a, axis=None, kind="stable"),
    "sort swapped": lambda np, a: with_order(np.sort(a.astype(">f8"), axis=None)),
    "unique swapped": lambda np, a: with_order(np.unique(a.astype(">i4"))),
    "unique all swapped": lambda np, a: with_order(np.unique(a.astype(">f8"), True)[0]),
    "rows swapped": lambda np, a: with_order(a.astype(">f8")[[1, 0]]),
    "chosen swapped": lambda np, a: with_order(a.astype(">f8")[a > 3]),
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
    "take_along_axis all": lambda np, a: np.take_along_axis(a, np.asarray(MANY), None),
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

PRODUCTS = {
    "matmul": lambda np, a, b: a @ b,
    "matmul turned": lambda np, a, b: b.T @ a.T,
    "matmul with a list": lambda np, a, b: a @ ([1, 2] * (a.shape[1] // 2)),
    "reduced together": lambda np, a, b: np.logical_and.reduce([a > 1, a < 4, b.T > 2]),
    "any of several": lambda np, a, b: np.any([a > 10, a < -9], axis=0),
    "gram": lambda np, a, b: a.T @ a,
    "square": lambda np, a, b: (a @ b) @ (a @ b),
    "vector": lambda np, a, b: a @ b[:, 0],
    "vector left": lambda np, a, b: a[:, 0] @ a,
    "vectors": lambda np, a, b: a[0] @ b[:, 1],
    "stack": lambda np, a, b: a.reshape(10, 6, 42) @ b,
    "stacks": lambda np, a, b: a.reshape(10, 6, 42) @ a.reshape(10, 42, 6),
    "few": lambda np, a, b: np.stack([a, a + 1]) @ b,
    "dot": lambda np, a, b: np.dot(a, b),
    "dot 3": lambda np, a, b: np.dot(a, b.reshape(5, 42, 12)),
    "dot method": lambda np, a, b: a.dot(b),
    "inner": lambda np, a, b: np.inner(a, b.T),
    "inner vectors": lambda np, a, b: np.inner(a[1], b[:, 1]),
    "vdot": lambda np, a, b: np.vdot(a, b.T),
    "tensordot": lambda np, a, b: np.tensordot(a, b, 1),
    "tensordot 2": lambda np, a, b: np.tensordot(a, b, axes=([0, 1], [1, 0])),
    "einsum": lambda np, a, b: np.einsum("ij,jk->ik", a, b),
    "einsum turned": lambda np, a, b: np.einsum("ij,jk->ki", a, b),
    "einsum inner": lambda np, a, b: np.einsum("ij,ji", a, b),
    "einsum each": lambda np, a, b: np.einsum("ij,ji->ij", a, b),
    "einsum rows": lambda np, a, b: np.einsum("ij,ji->i", a, b),
    "einsum outer": lambda np, a, b: np.einsum("i,j->ij", a[:, 0], b[0]),
    "einsum sum": lambda np, a, b: np.einsum("ij->j", a),
    "einsum trace": lambda np, a, b: np.einsum("ii", a @ b),
    "einsum diagonal": lambda np, a, b: np.einsum("ii->i", a @ b),
    "einsum dots": lambda np, a, b: np.einsum("...j,jk->...k", a.reshape(10, 6, 42), b),
    "einsum 3": lambda np, a, b: np.einsum("ij,jk,kl->il", a, b, a),
    "einsum 3 to one": lambda np, a, b: np.einsum("ij,ji,i", a, b, a[:, 0]),
    "einsum 4": lambda np, a, b: np.einsum("ij,jk,k,i->i", a, b, a[:, 0], b[0], optimize=True),
    "einsum 3 each": lambda np, a, b: np.einsum("i,i,i->i", a[0], b[:, 0], a[1]),
    "einsum 3 outer": lambda np, a, b: np.einsum("i,j,k->kij", a[0], b[0], a[1, :3]),
    "einsum lists": lambda np, a, b: np.einsum(a, [0, 1], b, [1, 2], [2, 0]),
    "einsum lists inner": lambda np, a, b: np.einsum(a, [0, 1], b, [1, 0]),
    "einsum out": lambda np, a, b: np.einsum("ij,jk->ik", a, b, out=np.zeros((60, 60), a.dtype)),
    "dot out": lambda np, a, b: np.dot(a, b, out=np.zeros((60, 60), a.dtype)),
    "outer out": lambda np, a, b: np.outer(a[0], b[0], np.zeros((42, 60), a.dtype)),
    "multiply out": lambda np, a, b: np.multiply(a, b.T, np.zeros((60, 42), a.dtype)),
    "trace out": lambda np, a, b: np.trace(
        a.reshape(10, 6, 42), 0, 1, 2, out=np.zeros(10, np.trace(a).dtype)
    ),
    "matmul dtype": lambda np, a, b: np.matmul(a, b, dtype="c16"),
    "matmul wrong dtype": lambda np, a, b: raised(lambda: np.matmul(a + 0.5j, b, dtype="i1")),
    "take out": lambda np, a, b: np.take(a, ROWS, 0, np.zeros((6, 42), a.dtype)),
    "choose out": lambda np, a, b: np.choose(a > 0, [a, b.T], np.zeros((60, 42), a.dtype)),
    "vecdot": lambda np, a, b: np.vecdot(a, b.T) if a.dtype != bool else None,
    "matvec": lambda np, a, b: np.matvec(a, b[:, 3]),
    "vecmat": lambda np, a, b: np.vecmat(a[:, 1], a),
    "in place": lambda np, a, b: (a @ b).__imatmul__(a @ b),
    "out": lambda np, a, b: np.matmul(a, b, out=np.zeros((60, 60), a.dtype)),
    "trace": lambda np, a, b: np.trace(a, 1),
    "trace of stack": lambda np, a, b: a.reshape(10, 6, 42).trace(0, 1, 2),
    "multi_dot": lambda np, a, b: np.linalg.multi_dot([a, b, a]),
}

TRANSFORMS = {
    "fft": lambda np, a: np.fft.fft(a),
    "fft 0": lambda np, a: np.fft.fft(a, 33, 0, "ortho"),
    "ifft": lambda np, a: np.fft.ifft(a + 2j * a[::-1]),
    "rfft": lambda np, a: np.fft.rfft(a),
    "rfft 0": lambda np, a: np.fft.rfft(a, 71, 0),
    "irfft": lambda np, a: np.fft.irfft(a + 1j * a),
    "irfft 0": lambda np, a: np.fft.irfft(a + 1j * a, 71, axis=0),
    "hfft": lambda np, a: np.fft.hfft(a + 1j * a),
    "ihfft": lambda np, a: np.fft.ihfft(a),
    "fft2": lambda np, a: np.fft.fft2(a),
    "ifft2": lambda np, a: np.fft.ifft2(a - 1j * a, (64, 33)),
    "rfft2": lambda np, a: np.fft.rfft2(a.T[::-1]),
    "irfft2": lambda np, a: np.fft.irfft2(a + 1j),
    "fftn": lambda np, a: np.fft.fftn(a.reshape(12, 5, 42)),
    "fftn twice": lambda np, a: np.fft.fftn(a, axes=(0, 0)),
    "rfftn": lambda np, a: np.fft.rfftn(a.reshape(12, 5, 42), (7, -1), (2, 1)),
    "irfftn": lambda np, a: np.fft.irfftn(a.reshape(2, 30, 42)),
    "fftn lengths": lambda np, a: np.fft.fftn(a, (7, -1)),
    "ifftn lengths": lambda np, a: np.fft.ifftn(a.reshape(12, 5, 42), s=(11,)),
    "rfftn lengths": lambda np, a: warned(lambda: np.fft.rfftn(a, [33, 20])),
    "irfftn lengths": lambda np, a: warned(lambda: np.fft.irfftn(a, (9,))),
    "fftn too many lengths": lambda np, a: raised(lambda: np.fft.fftn(a, (9, 9, 9))),
    "fftn no axes": lambda np, a: (np.fft.fftn(a, axes=()) is a, np.fft.fft2(a, axes=()).sum()),
    "rfftn no axes": lambda np, a: raised(lambda: np.fft.rfftn(a, axes=())),
    "there and back": lambda np, a: np.fft.irfft2(np.fft.rfft2(a), a.shape),
    "one line": lambda np, a: np.fft.fft(a.reshape(-1)),
    "one line back": lambda np, a: np.fft.ifft(a.reshape(-1)[:1024] + 1j),
    "one real line": lambda np, a: np.fft.rfft(a.reshape(-1)),
    "one odd real line": lambda np, a: np.fft.rfft(a.reshape(-1), 2025, norm="ortho"),
    "one short real line": lambda np, a: np.fft.rfft(a.reshape(-1)[:144]),
    "one narrow real line": lambda np, a: np.fft.rfft(a.reshape(-1).astype("f4"), 2000),
    "to one real line": lambda np, a: np.fft.irfft(a.reshape(-1), 2001),
    "a prime line": lambda np, a: np.fft.fft(a.reshape(-1)[:997]),
    "two lines": lambda np, a: np.fft.rfft(a.reshape(2, -1), 2000),
    "narrow": lambda np, a: np.fft.fft2(a.astype("f4")),
    "out": lambda np, a: np.fft.fft2(a, out=np.zeros(a.shape, complex)),
    "fftfreq": lambda np, a: np.fft.fftfreq(1001, 0.5),
    "rfftfreq": lambda np, a: np.fft.rfftfreq(1001),
    "wrong length": lambda np, a: raised(lambda: np.fft.fft(a, 0)),
    "wrong axis": lambda np, a: raised(lambda: np.fft.fft(a, axis=2)),
    "wrong norm": lambda np, a: raised(lambda: np.fft.fft(a, norm="no")),
    "not real": lambda np, a: raised(lambda: np.fft.rfft(a + 1j)),
    "not real, out": lambda np, a: [
        raised(lambda shape=shape: np.fft.ihfft(a + 1j, out=np.zeros(shape, complex)))
        for shape in [(3,), (60, 21), (60, 22), (7, 22)]
    ],
}

# Of a definite matrix, one with no pattern, and a tall one.
ALGEBRA = {
    "cholesky": lambda np, d, a, t: np.linalg.cholesky(d),
    "cholesky upper": lambda np, d, a, t: np.linalg.cholesky(np.triu(d), upper=True),
    "cholesky of none": lambda np, d, a, t: raised(lambda: np.linalg.cholesky(-d)),
    "cholesky of stack": lambda np, d, a, t: np.linalg.cholesky(np.stack([d, 2 * d])),
    "solve": lambda np, d, a, t: np.linalg.solve(a, d[:, :3]),
    "solve many": lambda np, d, a, t: np.linalg.solve(a, d),
    "solve vector": lambda np, d, a, t: np.linalg.solve(a, d[3]),
    "solve narrow": lambda np, d, a, t: np.linalg.solve(
        d.real.astype("f4"), d[3].real.astype("f4")
    ),
    "solve stack": lambda np, d, a, t: np.linalg.solve(cubes(np, a), cubes(np, d)[..., :2]),
    "solve singular": lambda np, d, a, t: raised(lambda: np.linalg.solve(0 * a, d)),
    "solve wrong": lambda np, d, a, t: raised(lambda: np.linalg.solve(t, t)),
    "inv": lambda np, d, a, t: np.linalg.inv(a),
    "inv of stack": lambda np, d, a, t: np.linalg.inv(cubes(np, a)),
    "inv of few": lambda np, d, a, t: np.linalg.inv(np.stack([a, d])),
    "inv wrong": lambda np, d, a, t: raised(lambda: np.linalg.inv(cubes(np, a * 0))),
    "det": lambda np, d, a, t: np.linalg.det(a / 30),
    "det of stack": lambda np, d, a, t: np.linalg.det(cubes(np, a)),
    "det zero": lambda np, d, a, t: np.linalg.det(0 * a),
    "slogdet": lambda np, d, a, t: [part * 0.7654321 for part in np.linalg.slogdet(a)],
    "slogdet zero": lambda np, d, a, t: np.linalg.slogdet(0 * a),
    "slogdet of stack": lambda np, d, a, t: np.linalg.slogdet(cubes(np, a)),
    "qr": lambda np, d, a, t: np.linalg.qr(t),
    "qr narrow": lambda np, d, a, t: np.linalg.qr(t.real.astype("f4"), mode="r"),
    "qr of stack": lambda np, d, a, t: np.linalg.qr(cubes(np, a)),
    "svd": lambda np, d, a, t: rebuilt(np.linalg.svd(t, full_matrices=False)),
    "svd wide": lambda np, d, a, t: rebuilt(np.linalg.svd(t.T, False)),
    "svd values": lambda np, d, a, t: np.linalg.svd(t, compute_uv=False),
    "svdvals": lambda np, d, a, t: np.linalg.svdvals(t),
    "svd of stack": lambda np, d, a, t: np.linalg.svd(cubes(np, a), compute_uv=False),
    "eigh of stack": lambda np, d, a, t: np.linalg.eigh(cubes(np, d)),
    "eigvalsh of stack": lambda np, d, a, t: np.linalg.eigvalsh(cubes(np, d), "U"),
    "lstsq": lambda np, d, a, t: np.linalg.lstsq(t, t[:, :2] + t[:, 2:4] * t[:, 4:6]),
    "lstsq vector": lambda np, d, a, t: np.linalg.lstsq(t, t[:, 1] * t[:, 0]),
    "lstsq of less": lambda np, d, a, t: np.linalg.lstsq(t * (np.arange(6) > 1), t[:, 0]),
    "lstsq wrong": lambda np, d, a, t: raised(lambda: np.linalg.lstsq(t, t[1:])),
    "pinv": lambda np, d, a, t: np.linalg.pinv(t),
    "polyfit": lambda np, d, a, t: np.polyfit(np.arange(420.0) / 99, t, 3),
    "polyfit full": lambda np, d, a, t: np.polyfit(np.arange(420.0) / 99, t[:, 0], 2, full=True),
    "polyfit cov": lambda np, d, a, t: np.polyfit(np.arange(420.0) / 99, t[:, 0], 2, cov=True),
    "cond": lambda np, d, a, t: np.linalg.cond(t),
    "matrix_rank": lambda np, d, a, t: np.linalg.matrix_rank(t),
    "matrix_power": lambda np, d, a, t: np.linalg.matrix_power(a / 30, 5),
    "matrix_power back": lambda np, d, a, t: np.linalg.matrix_power(a / 30, -2),
    "norm": lambda np, d, a, t: np.linalg.norm(a),
    "norm 1": lambda np, d, a, t: np.linalg.norm(a, 1),
    "norm inf": lambda np, d, a, t: np.linalg.norm(a, -numpy.inf),
    "norm 2": lambda np, d, a, t: np.linalg.norm(t, 2),
    "norm nuc": lambda np, d, a, t: np.linalg.norm(t, "nuc"),
    "norm rows": lambda np, d, a, t: np.linalg.norm(a, 3, axis=1),
    "multi_dot": lambda np, d, a, t: np.linalg.multi_dot([a, d, a]),
    "linalg matmul": lambda np, d, a, t: np.linalg.matmul(a, d),
    "linalg outer": lambda np, d, a, t: np.linalg.outer(a[0], t[0]),
    "linalg trace": lambda np, d, a, t: np.linalg.trace(cubes(np, a)),
    "linalg diagonal": lambda np, d, a, t: np.linalg.diagonal(a, offset=1),
    "linalg tensordot": lambda np, d, a, t: np.linalg.tensordot(a, d, axes=1),
    "linalg vecdot": lambda np, d, a, t: np.linalg.vecdot(a, d),
    "kron": lambda np, d, a, t: np.kron(t[:30], d[:3, :3]),
}


def cubes(np, a):
    """A stack of small matrices that are like the large one."""
    return np.stack([a[at : at + 6, at : at + 6] for at in range(0, 30, 3)])


def rebuilt(factors):
    """The product of factors whose signs are free, and what is not."""
    u, values, v = factors
    return [(u * values) @ v, values]


def filled(array):
    array[...] = 3
    return array
