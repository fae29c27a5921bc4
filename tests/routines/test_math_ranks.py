"""Differences, `where=`, `select` and reductions of distributed arrays."""

import pytest

from tests.support.distributed import check_table, distributed, raised, with_order


def accumulated(np, a, name, shape=-1, axis=0, **options):
    """The bits of a running fold of elements in another shape."""
    row = (a / 7 + 3).reshape(shape)
    return getattr(np, name).accumulate(row, axis, **options).view("i8")


class Maker:
    """An object that makes an array of itself, which NumPy would refuse."""

    def __init__(self, made):
        self._made = made

    def __array__(self, dtype=None, copy=None):
        return self._made if dtype is None else self._made.astype(dtype)


CALCULATING = {
    "of what makes arrays": lambda np, a: (
        *(a + Maker(a), Maker(a) - a, a == Maker(a), np.add(a, Maker(a), out=a.copy())),
        *(np.sin(Maker(a)), np.sum(Maker(a), 0), np.concatenate([Maker(a), a]), np.sort(Maker(a))),
    ),
    "assign what makes arrays": lambda np, a: a.__setitem__(slice(3), Maker(a[1:4])),
    "add where a list says": lambda np, a: np.add(a, 1, out=a.copy(), where=[1, 0] * 21),
    "copyto where a list says": lambda np, a: np.copyto(a, 5, where=[1, 0, 2] * 14),
    "like ours": lambda np, a: (
        *(np.zeros((60, 42), like=a), np.full((60, 42), 3, like=a), np.arange(2000, like=a)),
        *(np.eye(60, like=a), np.require(a, "f4", like=a), np.tri(60, 40, like=a)),
    ),
    "pad with a ramp": lambda np, a: np.pad(a, 3, "linear_ramp", end_values=4),
    "pad a row with a ramp": lambda np, a: np.pad(a.reshape(-1), 5, "linear_ramp"),
    **{
        f"accumulate {name}": lambda np, a, name=name: accumulated(np, a, name)
        for name in ("subtract", "divide", "arctan2", "remainder", "hypot")
    },
    "accumulate two columns": lambda np, a: accumulated(np, a, "divide", (-1, 2)),
    "accumulate two rows": lambda np, a: accumulated(np, a, "subtract", (2, -1), 1),
    "accumulate many columns": lambda np, a: accumulated(np, a, "subtract", (-1, 42)),
    "accumulate of integers": lambda np, a: (
        np.subtract.accumulate(a.astype("i1").reshape(-1)),
        np.divide.accumulate(a.astype("i4").reshape(-1) % 5 + 1),
        np.floor_divide.accumulate(a.reshape(-1) + 9, dtype="f4"),
    ),
    "accumulate of times": lambda np, a: np.subtract.accumulate(a.reshape(-1).astype("m8[s]")).view(
        "i8"
    ),
    "accumulate nothing": lambda np, a: [
        np.subtract.accumulate(part) for part in (a[:0], a[:, :0], a[0, :0])
    ],
    "accumulate out": lambda np, a: accumulated(np, a, "divide", out=np.empty(a.size)),
    "accumulate of a wrong dtype": lambda np, a: raised(lambda: np.less.accumulate(a.reshape(-1))),
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
    "flat transposed": lambda np, a: a.T.flat[::-7],
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


@distributed
@pytest.mark.parametrize("name", CALCULATING)
def test_math(name):
    check_table(CALCULATING, name)
