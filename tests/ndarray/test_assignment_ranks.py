"""Rare ways to write distributed arrays, and arrays of dates."""

import numpy
import pytest

from tests.support.distributed import check_table, distributed, raised


def copied(np, a, kind, source, **options):
    made = a.astype(kind)
    return raised(lambda: np.copyto(made, source, **options)), made


def put(a, key, value):
    a[key] = value
    return a


def flat_set(a, key, value):
    a.flat[key] = value
    return a


def flat_assigned(a, value):
    a.flat = value
    return a


def over(a, rows, *ahead, held=None):
    """Repeated stencil updates of less than half of an array."""
    made = None
    for _ in range(3):
        read = [a[rows.start + by : rows.stop + by] for by in ahead]
        made = sum(read[1:], read[0] * 0.5) / len(read)
        a[rows] = made
        if held is not None:
            held.append(made)
    return a, made + 1


def over_held(np, a):
    """Stencil updates whose results or earlier values are read afterwards."""
    before, made = a.copy(), []
    return over(a, slice(3, 25), -1, 1, held=made), before, [one - before[:22] for one in made]


def outs(np, *kinds):
    return tuple(np.zeros((60, 42), kind) for kind in kinds)


WRITING = {
    "over": lambda np, a: (
        over(a.copy(), slice(3, 25), -1, 1),
        over(a[:, 4:-4], slice(30, 55), 0, -2, 3),
        over(a.T, slice(5, 17), 4, -5),
        over(a[::-1, ::2], slice(1, 19), 1),
    ),
    "over one row": lambda np, a: over(a.reshape(-1), slice(100, 1300), -7, 9),
    "over, transposed": lambda np, a: (a.__setitem__(slice(4, 26), a[3:25, ::-1] * 2), a),
    "over, held": over_held,
    "copyto cast": lambda np, a: copied(np, a, "f4", a, where=a > 3),
    "copyto numbers": lambda np, a: (copied(np, a, "i4", 7), copied(np, a, "i1", 7, where=a > 3)),
    "copyto list": lambda np, a: copied(np, a, "f8", [*range(42)], where=a[0] > 3),
    "copyto of too many axes": lambda np, a: (
        copied(np, a, "f8", a[None, None]),
        copied(np, a[3, 4:5], "f4", np.zeros((1, 1))),
        copied(np, np.asarray(3.0), "f8", np.zeros(1)),
    ),
    "copyto unsafe": lambda np, a: copied(np, a, "i2", a / 3, casting="unsafe"),
    "copyto refused": lambda np, a: [
        copied(np, a, "i2", a / 3),
        copied(np, a, "i2", 1.5),
        copied(np, a, "u1", 300),
        copied(np, a, "f4", a, casting="safe"),
    ],
    "lists": lambda np, a: (
        put(a.copy(), np.s_[1, :3], [1, 2, 3]),
        put(a.copy(), np.s_[:, 1], range(60)),
        put(a.copy(), np.s_[5:7, ::-20], [(True, 2.5, 3), (4, 5, numpy.float64(6))]),
        put(a.copy(), np.s_[..., None], [[7.0]]),
        put(a.astype(int), np.s_[3], [1.75] * 42),
        put(np.zeros(2520, complex), np.s_[7:9], (1j, 2)),
    ),
    "flat mask": lambda np, a: (a.flat[(a > 3).reshape(-1)], a.T.flat[numpy.arange(2520) % 7 == 3]),
    "flat mask written": lambda np, a: flat_set(a, (a > 3).reshape(-1), [7, 8, 9]),
    "flat assigned": lambda np, a: (
        flat_assigned(a.copy(), 3),
        flat_assigned(a.copy(), [1, 2, 3]),
        flat_assigned(a.copy().T, a),
    ),
    "round integers": lambda np, a: (
        np.round((a * 7).astype(int)),
        (a * 7).astype("i2").round(-1),
        np.round(a * 1.26 + 3.33j * a, 1),
    ),
    "round out": lambda np, a: np.round(a / 7, 2, out=np.zeros((60, 42))),
    **{
        f"argmax out {kind}": lambda np, a, kind=kind: [
            made
            for out in (np.zeros(42, kind),)
            for made in (raised(lambda out=out: np.argmax(a, 0, out)), out)
        ]
        for kind in ("i8", "i4", "f8")
    },
    "argmin out of dates": lambda np, a: np.argmin(a.astype("M8[s]"), 1, np.zeros(60, int)),
    "nanmedian axes": lambda np, a: (
        np.nanmedian(a.reshape(5, 12, 42), axis=(0, 2)),
        np.nanmedian(a.reshape(5, 12, 42), (-1, 0), keepdims=True),
    ),
    "nanmedian out": lambda np, a: (
        np.nanmedian(a, 0, np.zeros(42)),
        np.nanmedian(a, 1, np.zeros(60, "f4")),
    ),
    "modf out": lambda np, a: np.modf(a / 3, out=outs(np, "f8", "f8")),
    "modf narrow out": lambda np, a: np.modf(a / 3, out=(np.zeros((60, 42), "f4"), None)),
    "divmod out": lambda np, a: np.divmod(a, 3, out=(None, np.zeros((60, 42)))),
    "frexp out": lambda np, a: np.frexp(a, out=outs(np, "f8", "i4")),
    "reduce hypot": lambda np, a: (
        np.hypot.reduce(a[0]),
        np.logaddexp.reduce(a, axis=None),
        np.gcd.reduce(a.astype(int), axis=None, keepdims=True),
    ),
    "reduce out": lambda np, a: (
        np.hypot.reduce(a, axis=0, out=np.zeros(42)),
        np.subtract.reduce(a, axis=1, out=np.zeros(60, "c16")),
    ),
    "einsum repeated": lambda np, a: (
        np.einsum("ij,ij->ij", a, a[:1]),
        np.einsum("ij,kj->ik", a[:, :1], a),
    ),
    "histogram edges and range": lambda np, a: (
        np.histogram(a, np.sort(a[:, 1]), (3, 9)),
        np.histogram(a, np.arange(-5, 12, 0.5), (9, 3), density=True),
    ),
}
DATES = {
    "is_busday": lambda np, a: (
        np.is_busday(a.astype("M8[D]")),
        np.is_busday(a.astype("M8[D]"), "1110111", ["1970-01-05", "1970-01-09"]),
    ),
    "busday_count": lambda np, a: np.busday_count(a.astype("M8[D]"), "1971-03-04", "1110000"),
    "busday_offset": lambda np, a: (
        np.busday_offset(a.astype("M8[D]"), a.astype(int), roll="forward"),
        raised(lambda: np.busday_offset(a.astype("M8[D]"), 3)),
    ),
}


@distributed
@pytest.mark.parametrize("name", DATES)
def test_dates(name):
    check_table(DATES, name, rare=True)


@distributed
@pytest.mark.parametrize("name", WRITING)
def test_assignment(name):
    check_table(WRITING, name, rare=True)
