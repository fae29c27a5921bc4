"""`apply_along_axis` and `vectorize` with functions of the user, on distributed arrays."""

import dappled as np
import numpy
import pytest

from tests.support.compare import check_program

VALUES = numpy.arange(2520.0).reshape(60, 42) % 17 - 5
CALLS = {
    "rows": lambda xp, a: xp.apply_along_axis(lambda row: row[::-1] * 2, 1, a),
    "sums": lambda xp, a: xp.apply_along_axis(xp.sum, 0, a),
    "negative axis": lambda xp, a: xp.apply_along_axis(xp.sort, -1, a),
    "options": lambda xp, a: xp.apply_along_axis(lambda r, n: r[:n], 1, a.reshape(20, 21, 6), n=2),
    "dtype of the first": lambda xp, a: xp.apply_along_axis(
        lambda row: 3 if row[0] == -5 else 4.5, 0, a
    ),
    "error": lambda xp, a: xp.apply_along_axis(lambda row: 1 / 0, 0, a),
    "error of a value": lambda xp, a: xp.apply_along_axis(lambda r: [1][int(r[0])], 1, a),
    "more than a row": lambda xp, a: xp.apply_along_axis(lambda r: xp.ones(10**5).sum() + r, 0, a),
    "ragged": lambda xp, a: xp.apply_along_axis(lambda row: row[: int(row[0]) % 3 + 1], 1, a),
    "matrices": lambda xp, a: xp.apply_along_axis(lambda row: xp.outer(row[:2], row[:2]), 1, a),
    "order of memory": lambda xp, a: [
        xp.apply_along_axis(act, axis, transposed).strides
        for transposed in (a.reshape(20, 21, 6), a.T.reshape(7, 6, 60).T)
        for axis in range(3)
        for act in (lambda row: row[::-1], lambda row: xp.outer(row[:2], row[:2]), xp.sum)
    ],
    "lists": lambda xp, a: xp.apply_along_axis(lambda row: [row[0], row[1]], 0, a),
    "texts": lambda xp, a: xp.apply_along_axis(lambda row: str(int(row[0])), 1, a),
    "no such axis": lambda xp, a: xp.apply_along_axis(lambda row: row, 5, a),
    "nothing": lambda xp, a: xp.apply_along_axis(lambda row: None, 0, a),
    "another array": lambda xp, a: xp.apply_along_axis(lambda row: (a.sum() + row).sum(), 0, a),
    "over axes": lambda xp, a: xp.apply_over_axes(xp.sum, a, [0, 1]),
    "vectorize": lambda xp, a: xp.vectorize(lambda x, y: x + y)(a, 2.0),
    "signature": lambda xp, a: xp.vectorize(lambda r: r.sum(), signature="(n)->()")(a),
    "signature matrices": lambda xp, a: xp.vectorize(
        lambda r, x: xp.outer(r[:2], r[:2]) * x, signature="(n),()->(k,k)"
    )(a.T, a[0]),
    "signature texts": lambda xp, a: xp.vectorize(
        lambda r: str(int(r[0])) + "abc", signature="(n)->()"
    )(a),
    "signature several": lambda xp, a: xp.vectorize(
        lambda r: (r.max(), int(r[0])), signature="(n)->(),()"
    )(a)[1],
    "signature error": lambda xp, a: xp.vectorize(lambda r: [1][int(r[0])], signature="(n)->()")(a),
    "signature lengths": lambda xp, a: xp.vectorize(
        lambda r: r[: int(r[0]) + 9], signature="(n)->(k)"
    )(a),
    "signature number of outputs": lambda xp, a: xp.vectorize(
        lambda r: (1, 2) if r[0] > 0 else 3, signature="(n)->()"
    )(a),
    "signature another array": lambda xp, a: xp.vectorize(
        lambda r: r.max() + a.sum(), signature="(n)->()"
    )(a),
    "signature more than a row": lambda xp, a: xp.vectorize(
        lambda r: r + xp.ones(10**5).sum(), signature="(n)->(n)"
    )(a),
    "nanmedian": lambda xp, a: xp.nanmedian(xp.where(a == 3, numpy.nan, a)),
    "nanmedian rows": lambda xp, a: xp.nanmedian(xp.where(a == 3, numpy.nan, a), axis=1),
    "nanmedian kept": lambda xp, a: xp.nanmedian(a, axis=-2, keepdims=True),
    "nanmedian axes": lambda xp, a: xp.nanmedian(a, axis=(0, 1)),
    "nanmedian wrong": lambda xp, a: xp.nanmedian(a, axis=2),
    "nanquantile": lambda xp, a: xp.nanquantile(a, 0.3, axis=0),
    "enumerated": lambda xp, a: [(at, float(x)) for at, x in xp.ndenumerate(a.T)],
    "iterated": lambda xp, a: [float(x) for x in xp.nditer(a)],
}


def outcome(program, *args):
    try:
        found = program(*args)
    except Exception as error:
        check_program(error)
        return type(error).__name__, str(error)
    return found if isinstance(found, list) else numpy.asarray(found).tolist()


@pytest.mark.ranks(3, replicated_below=2000)
@pytest.mark.usefixtures("quiet_fallback")
@pytest.mark.parametrize("name", CALLS)
def test_apply_along_axis(name):
    a = np.asarray(VALUES, dist="bb")
    assert outcome(CALLS[name], np, a) == outcome(CALLS[name], numpy, VALUES)
