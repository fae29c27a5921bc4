"""Functions of the user over elements and rows of distributed arrays."""

import pytest

from tests.support.distributed import check_table, distributed, raised


def weighed(x, weights, power=1):
    return x * sum(weights) ** power


def mixed(np, function, signature, **named):
    return np.vectorize(function, signature=signature, **named)


VECTORIZE = {
    "vectorize excluded": lambda np, a: (
        np.vectorize(weighed, excluded=["weights"])(a, weights=[2, 3]),
        np.vectorize(weighed, excluded={1})(a, [2, 3]),
        np.vectorize(weighed, excluded={1, "power"}, otypes="f")(a, [2, 3], power=2),
    ),
    "vectorize named": lambda np, a: np.vectorize(lambda x, y: x - y)(y=a, x=a[0]),
    "vectorize named texts": lambda np, a: np.vectorize(lambda x, y: str(x) + y)(a, y="!"),
    "signature": lambda np, a: mixed(np, lambda row: row.sum(), "(n)->()")(a),
    "signature two": lambda np, a: mixed(np, lambda r, s: r - s.mean(), "(n),(m)->(n)")(a, a[:, 0]),
    "signature new axis": lambda np, a: mixed(np, lambda row: row[:3], "(n)->(k)")(a),
    "signature numbers": lambda np, a: mixed(np, lambda x, y: x * y, "(),()->()")(a[:4], a[0]),
    "signature several": lambda np, a: mixed(
        np, lambda r: (r.min(), r[::-1]), "(n)->(),(n)", otypes="fd"
    )(a),
    "signature excluded": lambda np, a: mixed(
        np, lambda row, n: row[:n].sum(), "(n)->()", excluded=["n"]
    )(a, n=3),
    "signature one": lambda np, a: mixed(np, lambda row: row[0], "(n)->()")(a[0]),
    "signature stack": lambda np, a: mixed(np, lambda m: m.T, "(m,n)->(n,m)")(a.reshape(5, 12, 42)),
    "signature wrong": lambda np, a: [
        raised(lambda: mixed(np, lambda x, y: x, "(n),(n)->()")(a, a[:, :7])),
        raised(lambda: mixed(np, lambda x, y: x, "(n),(n)->()")(a)),
        raised(lambda: mixed(np, lambda x: (x, x), "(n)->(n)")(a)),
        raised(lambda: mixed(np, lambda x: x[:3], "(n)->(n)")(a)),
    ],
}


@distributed
@pytest.mark.parametrize("name", VECTORIZE)
def test_vectorize(name):
    check_table(VECTORIZE, name, rare=True)
