"""Packed bits and polynomials of distributed arrays."""

import pytest

from tests.support.distributed import check_table, distributed, raised


def bytes_of(np, a):
    return (a + 9).astype("u1")


BITS = {
    **{
        f"packbits {axis} {order}": lambda np, a, axis=axis, order=order: np.packbits(
            a > 2, axis, order
        )
        for axis in (None, 0, 1, -2)
        for order in ("big", "little")
    },
    "packbits of a row": lambda np, a: np.packbits(a.reshape(-1)[:2001].astype(int)),
    "packbits wrong": lambda np, a: raised(
        lambda: np.packbits((a > 2).astype(int), axis=1, bitorder="x")
    ),
    **{
        f"unpackbits {axis} {count}": lambda np, a, axis=axis, count=count: np.unpackbits(
            bytes_of(np, a), axis, count
        )
        for axis in (None, 0, 1)
        for count in (None, 77, -9, 30000)
    },
    "unpackbits little": lambda np, a: np.unpackbits(bytes_of(np, a)[0], bitorder="little"),
}


def bits(*values):
    """The bits of the result."""
    return [value.view("i8") for value in values]


def with_conjugates(np, a):
    roots = a[0] / 20 + 1j * a[1] / 30
    return np.poly(roots), np.poly(np.concatenate([roots, roots.conj()]))


POLYNOMIALS = {
    "polydiv": lambda np, a: bits(*np.polydiv(a[0] / 7, a[1, :5] / 3 + 9)),
    "polydiv long by long": lambda np, a: bits(*np.polydiv(a.reshape(-1)[:99], a[:, 1] + 9)),
    "polydiv nothing left": lambda np, a: np.polydiv(np.convolve(a[0], [2, 4, 1]), [2, 4, 1]),
    "polydiv by more": lambda np, a: np.polydiv(a[0, :9], a[1] + 9),
    "polydiv by a number": lambda np, a: (np.polydiv(a[0], 3), np.polydiv([1, 2, 3], a[0] + 9)),
    "polydiv complex": lambda np, a: np.polydiv(a[0].astype("f4"), a[1, :7] + 30j),
    "poly": lambda np, a: bits(np.poly(a[0] / 7), np.poly(a[:, 3] * 0)),
    "poly of integers": lambda np, a: np.poly(a[0].astype("i2") % 3),
    "poly complex": with_conjugates,
    "polyadd": lambda np, a: (np.polyadd(a[0], a[:30, 1]), np.polysub([1, 2, 3], a[0])),
    "polymul": lambda np, a: (np.polymul(a[0], a[1, :5]), np.polymul(a[0] * (a[0] > 3), [2, 1])),
    "polyder": lambda np, a: (np.polyder(a[0]), np.polyder(a[0], 3)),
    "polyint": lambda np, a: (np.polyint(a[0]), np.polyint(a[0], 2, [3, 4])),
    "polyval of rows": lambda np, a: np.polyval(a[:5], 0.5),
    "polynomial of rows": lambda np, a: np.polynomial.polynomial.polyval(a[0] / 20, a[:5]),
    "tensorinv": lambda np, a: np.linalg.tensorinv(
        (a[:42] + 99 * np.eye(42)).reshape(6, 7, 42), ind=2
    ),
}


@distributed
@pytest.mark.parametrize("name", BITS)
def test_bits(name):
    check_table(BITS, name, rare=True)


@distributed
@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials(name):
    check_table(POLYNOMIALS, name, rare=True)
