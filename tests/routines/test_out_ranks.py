"""`out=` of another dtype with distributed arrays."""

import pytest

from tests.support.distributed import check_table, distributed, raised

KINDS = ["f4", "c16", "i4", "f8"]


def into_each(np, act, shape):
    """`out=` of several dtypes: the written values, or NumPy's error."""
    made = []
    for kind in KINDS:
        out = np.zeros(shape, kind)
        made += [raised(lambda out=out: act(out)), out]
    return made


def product(np, a, out, kind=None, **options):
    one = a[:9] if kind is None else a[:9].astype(kind)
    return np.einsum("ij,kj->ik", one, one, out=out, **options)


OUT = {
    "take out": lambda np, a: into_each(np, lambda out: np.take(a, [5, 2], 0, out), (2, 42)),
    "take out of integers": lambda np, a: into_each(
        np, lambda out: a.astype("i4").take(np.arange(9), 1, out, "clip"), (60, 9)
    ),
    "compress out": lambda np, a: into_each(
        np, lambda out: np.compress([False, True, True], a, 0, out), (2, 42)
    ),
    "choose out": lambda np, a: into_each(np, lambda out: np.choose(a > 0, [a, -a], out), (60, 42)),
    "number out": lambda np, a: into_each(
        np, lambda out: np.add(a[0, 0, ...], a[1, 1, ...], out), (7,)
    ),
    "numbers out": lambda np, a: np.cross(a[0, :3], a[1, :3]),
    "dot out": lambda np, a: into_each(np, lambda out: np.dot(a, a.T, out), (60, 60)),
    "dot out of three axes": lambda np, a: raised(lambda: np.dot(a, a.T, np.zeros((1, 60, 60)))),
    "matmul out": lambda np, a: into_each(np, lambda out: np.matmul(a, a.T, out), (60, 60)),
    "einsum out": lambda np, a: into_each(np, lambda out: product(np, a, out), (9, 9)),
    "einsum out casting": lambda np, a: into_each(
        np, lambda out: product(np, a, out, casting="same_kind"), (9, 9)
    ),
    "einsum out of integers": lambda np, a: into_each(
        np, lambda out: product(np, a * 9, out, "i1"), (9, 9)
    ),
    "einsum out optimized": lambda np, a: into_each(
        np, lambda out: product(np, a, out, optimize=True), (9, 9)
    ),
    "einsum out of one": lambda np, a: into_each(
        np, lambda out: np.einsum("ij->ji", a, out=out), (42, 60)
    ),
    "einsum dtype": lambda np, a: [
        product(np, a, None, "i1", dtype="f4"),
        raised(lambda: product(np, a, None, dtype="f4")),
        product(np, a, None, dtype="f4", casting="same_kind"),
    ],
}


@distributed
@pytest.mark.parametrize("name", OUT)
def test_out(name):
    check_table(OUT, name, rare=True)
