"""Index arrays and masks of distributed arrays: reads and writes."""

import pytest

from tests.support.distributed import FEW, MANY, ROWS, VALUES, changed, check_table, distributed


def written_many(np, a, kind):
    """Elements written by number, in place: of several for one the last stays, also over what is
    read itself, and whoever copied or asked before has what was there.
    """
    row = a.astype(kind).ravel()
    copy, later = row.copy(), row[::-1] == row
    row[np.array(MANY % 99)] = np.array(MANY % 90).astype(kind)
    row[MANY - 700] = row[3]
    row[np.abs(a).astype("i4").ravel()] = row
    return row, copy, later


INDEXING = {
    "mask": lambda np, a: a[a > 3],
    "mask numpy": lambda np, a: a[VALUES > 3],
    "mask of none": lambda np, a: a[a > 99],
    "mask of rows": lambda np, a: a[a[:, 0] > 3],
    "mask of columns": lambda np, a: a[:, a[0] > 3],
    "mask of columns, front": lambda np, a: a[1:50:2, a[0] > 3],
    "mask and number": lambda np, a: a[a[:, 0] > 3, 5],
    "mask row": lambda np, a: a.reshape(-1)[(a > 3).reshape(-1)],
    "mask transposed": lambda np, a: a.T[a.T > 3],
    "mask sum": lambda np, a: a[a > 3].sum(),
    "mask mean": lambda np, a: a.ravel()[a.ravel() * 3 > 3].mean(),
    "mask sum third": lambda np, a: (a.ravel() / 3)[a.ravel() % 2 > 0].sum(),
    "mask complex": lambda np, a: (a.ravel() * 0.1j)[a.ravel() > 3].sum(),
    "mask max": lambda np, a: (a[a < 9].max(), a[a < 9].min(), a[a < 9].astype("i2").sum()),
    "mask prod": lambda np, a: (a[a == 2] / 1.5).prod(),
    "mask any": lambda np, a: (a[a < 1].any(), a[a < 1].all(), a[a < 1].std()),
    "mask twice": lambda np, a: [a[a > 3] + a[a > 3], a[a > 3][::2].sum()],
    "rows": lambda np, a: a[ROWS],
    "rows ours": lambda np, a: a[np.array(ROWS)],
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
    "many ours": lambda np, a: a.reshape(-1)[np.array(MANY)],
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
    "take in rounds": lambda np, a: np.arange(9e4)[np.arange(600_000) * 7919 % 180_000 - 90_000],
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


@distributed
@pytest.mark.parametrize("name", INDEXING)
def test_indexing(name):
    check_table(INDEXING, name)
