"""Dates, strings, structures and other dtypes without a kernel, distributed."""

import pickle

import dappled as np
import numpy
import pytest

from tests.support.rank_arrays import ITEMS, VALUES, as_tuple

pytestmark = [pytest.mark.ranks(1, 3, 4), pytest.mark.usefixtures("quiet_fallback")]

# None of these gathers anything.
OF_ITEMS = {
    "part": lambda np, a: a[1:, ::2].T,
    "copy": lambda np, a: (a.copy("F"), a[1:].copy(), np.array(a)),
    "cast": lambda np, a: a.astype(a.dtype.newbyteorder()),
    "compare": lambda np, a: (a == a[::-1], a != a[0, 0], a[:1] == a),
    "join": lambda np, a: np.concatenate([a, a[1:]], axis=1 - 1),
    "roll": lambda np, a: np.roll(a, 1, axis=1),
    "where": lambda np, a: np.where(a == a[::-1], a, a[0, 0]),
    "make": lambda np, a: (np.zeros_like(a), np.full((3, 4), a[0, 0]), np.zeros((4, 3), a.dtype)),
    "repeat": lambda np, a: np.broadcast_to(a[:1], (2, 5, 4)).copy(),
    "element": lambda np, a: np.full((2, 2), a[2, 3]),
}


OF_SOME = {
    ("dates", "subtract"): lambda np, a: a - a[0, 0],
    ("dates", "extremes"): lambda np, a: (a.max(axis=0), a.T.min(axis=1)),
    ("dates", "in place"): lambda np, a: a.__iadd__(numpy.timedelta64(3)),
    ("dates", "texts"): lambda np, a: (a.astype("U"), np.datetime_as_string(a, unit="M")),
    ("dates", "isnat"): lambda np, a: np.isnat(a),
    ("spans", "sums"): lambda np, a: (a.sum(axis=0), np.cumsum(a, axis=1), a.mean(axis=1)),
    ("spans", "scaled"): lambda np, a: a * 2 / numpy.timedelta64(1, "m"),
    ("texts", "strings"): lambda np, a: (np.strings.str_len(a), a + a, np.strings.isalpha(a)),
    ("long", "chain"): lambda np, a: np.exp(a * 2) + a,
    ("long", "into"): lambda np, a: np.multiply(a, 2, out=a),
    ("structures", "field"): lambda np, a: (a["x"], a["s"] + "!", a["x"] * 2 + a["n"]),
    ("structures", "set"): lambda np, a: [a["x"].__setitem__((1, slice(1, 3)), 7), a][1],
    ("structures", "add"): lambda np, a: [a["n"][1:].__iadd__(1), a][1],
    ("structures", "row"): lambda np, a: [a.__setitem__(1, (1, 2, "z")), a][1],
    ("structures", "fold"): lambda np, a: (a["x"].sum(axis=0), a["n"].max(axis=1)),
}


def test_opaque_dtypes_are_distributed():
    cases = [((name, what), call) for name in ITEMS for what, call in OF_ITEMS.items()]
    for (name, what), program in [*cases, *OF_SOME.items()]:
        np.config.fallback = "error"
        ours = program(np, np.array(ITEMS[name]))
        np.config.fallback = "quiet"
        theirs = program(numpy, ITEMS[name].copy())
        for one, other in zip(as_tuple(ours), as_tuple(theirs), strict=True):
            assert isinstance(one, np.ndarray) and one.dtype == other.dtype, (name, what)
            assert one.tolist() == other.tolist(), (name, what, one.tolist(), other.tolist())
            assert np.comm.size == 1 or not one._whole, (name, what)


def test_opaque_dtypes_have_the_default_distribution():
    for name, values in ITEMS.items():
        a, numbers = np.array(values), np.array(VALUES)
        if np.comm.size > 1:
            assert a.distribution == numbers.distribution, name
            cyclic = np.protocol.Distribution((3, 4), "cb", nprocs=np.comm.size)
            moved = a.redistribute(cyclic)
            assert moved.distribution == cyclic and moved.local.dtype == values.dtype
            assert moved.local.shape == cyclic.local_shape(np.comm.rank)
            assert moved.tolist() == values.tolist()
            again = np.from_distarray(moved)
            again[1] = values[2]
            assert moved[1].tolist() == values[2].tolist() and again.dtype == values.dtype
        assert (a.shape, a.strides, a.nbytes) == (values.shape, values.strides, values.nbytes)
        assert repr(a) == repr(values) and pickle.loads(pickle.dumps(a)).tolist() == values.tolist()


def test_structured_scalars_are_read_only():
    a = np.array(ITEMS["structures"])
    if np.comm.size > 1:
        try:
            a[0, 0]["x"] = 5
            raise AssertionError("written into a copy")
        except ValueError as error:
            assert "read-only" in str(error)
    assert a[0, 0] == ITEMS["structures"][0, 0]


def test_object_arrays_are_replicated():
    a = np.array(VALUES.astype(object))
    assert a._whole and (a + 1).tolist() == (VALUES + 1).tolist()
    a[1] = "text"
    assert a[1, 2] == "text"


def unlike(values, kind):
    """An array of NumPy's that on every rank has something else in bytes that mean nothing."""
    made = numpy.array(values, kind)
    if kind == "g" and numpy.finfo(kind).nmant == 63:
        made.reshape(-1).view("u1").reshape(-1, made.itemsize)[:, 10:] = np.comm.rank + 1
    return made


def test_padding_bytes_are_not_compared():
    numpy.full(5, np.comm.rank)  # whose memory NumPy hands out again
    assert np.empty(5, int, device="cpu").tolist() == [0] * 5
    assert np.fft.fftfreq(5, device="cpu").tolist() == numpy.fft.fftfreq(5).tolist()
    a, expected = np.zeros((4, 5), "g"), numpy.zeros((4, 5), "g")
    for each in (a, expected):
        each.flat[::7] = unlike([1, 2], "g")
        each[[1, 2], [3, 4]] = unlike([1, 2], "g")
        each[0, 1:3] = unlike([3], "g")
    assert a.tolist() == expected.tolist()


def test_imag_of_real_arrays_is_zero():
    for name in ("long", "swapped"):
        numpy.full((3, 4), 7, ITEMS[name].dtype)  # whose memory NumPy hands out again
        found = np.array(ITEMS[name]).imag
        assert found.tolist() == [[0] * 4] * 3 and not found.flags.writeable


def test_padding_bytes_do_not_diverge():
    for shape in [(), (1,), (1, 1, 1), (2, 2)]:
        a = np.array(unlike(numpy.ones(shape), "g"))
        b = np.median(np.array(unlike(numpy.ones((2, *shape)), "g")), keepdims=True)
        assert (a + b).sum() == 2 * a.size, "and ranks did not diverge"
