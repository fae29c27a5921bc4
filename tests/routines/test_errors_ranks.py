"""Errors of functions of distributed arrays: NumPy's class and text, on every rank."""

import dappled
import numpy
import pytest

from tests.support.distributed import LAYOUTS, MANY, VALUES, distributed, laid_out, raised

ROUNDS = numpy.arange(600_000)

# Refused before anything is gathered.
REFUSED = {
    "element of text": lambda np, a: a.__setitem__((0, 0), "x"),
    "elements of text": lambda np, a: a.__setitem__(slice(2), b"x"),
    "element of an object": lambda np, a: a.__setitem__(0, object()),
    "element of complex": lambda np, a: a.astype("i4").__setitem__(0, 1j),
    "searchsorted in rows": lambda np, a: np.searchsorted(a, 3),
    "searchsorted side": lambda np, a: np.searchsorted(a[0], a, "x"),
    "searchsorted sorter": lambda np, a: np.searchsorted(a[0], a, sorter=a[0]),
    "einsum axes": lambda np, a: np.einsum("ijk", a),
    "einsum operands": lambda np, a: np.einsum("ij", a, a),
    "einsum output": lambda np, a: np.einsum("ij->k", a),
    "einsum labels": lambda np, a: np.einsum(a, [52, 53]),
    "lstsq lengths": lambda np, a: np.linalg.lstsq(a, a[:5, 0]),
    "lstsq axes": lambda np, a: np.linalg.lstsq(a[0], a[0]),
    "max of nothing": lambda np, a: a[:0].max(0),
    "argmax of nothing": lambda np, a: a[:, :0].argmax(1),
}
WRONG = {
    "save": lambda np, a: np.save(3, a),
    "set mask of planes": lambda np, a: a.__setitem__(a > 3, np.ones((2, 2))),
    "put value": lambda np, a: np.put(a.astype("u1"), [0, 1], [1, -1]),
    "put complex": lambda np, a: a.put([0], 1j),
    "flat value": lambda np, a: a.flat.__setitem__(3, 1j),
    "flat values": lambda np, a: a.flat.__setitem__([3, 4], 1j),
    "copyto casting": lambda np, a: np.copyto(a, np.asarray(3), "no"),
    "copyto scalar casting": lambda np, a: np.copyto(a, 3, "equiv"),
    "ufunc casting": lambda np, a: np.sqrt(a.astype("i4"), out=a, casting="no"),
    "ufunc casting of two": lambda np, a: np.add(a, a[0].astype("f4"), out=a, casting="equiv"),
    "digitize complex": lambda np, a: np.digitize(a, a[0] * 1j),
    "digitize wide": lambda np, a: np.digitize(a, np.sort(a[0]).astype("g")),
    "interp complex": lambda np, a: np.interp(a + 1j, [0, 1], [2, 3]),
    "interp complex points": lambda np, a: np.interp(a[0], a[0] * 1j, a[0]),
    "histogramdd of planes": lambda np, a: np.histogramdd([a, a], 3),
    "histogram weights of a shape": lambda np, a: np.histogram(a, 3, weights=a.reshape(-1)),
    "permutation axis": lambda np, a: np.random.default_rng(3).permutation(a, 2),
    "element of wide": lambda np, a: a.astype("g").__setitem__((0, 0), a[0]),
    "number": lambda np, a: a[[0, 60]],
    # The first of two, which is found in a later round.
    "number in rounds": lambda np, a: a[0][ROUNDS // 299_999 * 50 + ROUNDS // 300_000],
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


@distributed
@pytest.mark.parametrize("name", REFUSED)
def test_errors_without_gathering(name, monkeypatch):
    check_error(REFUSED[name], "error", monkeypatch)


@distributed
@pytest.mark.parametrize("name", WRONG)
def test_errors(name, monkeypatch):
    """Arrays may be gathered, so that NumPy raises its error."""
    check_error(WRONG[name], "quiet", monkeypatch)


def check_error(program, fallback, monkeypatch):
    monkeypatch.setattr(dappled.config, "fallback", fallback)
    expected = raised(lambda: program(numpy, VALUES.copy()))
    assert expected != "no error", "NumPy raises no error"
    for layout in LAYOUTS[:2]:
        a = laid_out(VALUES, layout)
        assert raised(lambda a=a: program(dappled, a)) == expected, layout
