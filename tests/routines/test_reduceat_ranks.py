"""`reduceat` of distributed arrays."""

import numpy
import pytest

from tests.support.distributed import check_table, distributed, raised

SOME = [0, 5, 3, 900, 2000, 1999, 2519]
MANY = numpy.arange(7, 2520, 3)
JUMPING = numpy.arange(500) * 977 % 2520


def of_all(np, a, name, places=SOME, **named):
    return getattr(np, name).reduceat(a.reshape(-1), places, **named)


REDUCEAT = {
    "reduceat of a row": lambda np, a: of_all(np, a, "add"),
    "reduceat of many": lambda np, a: of_all(np, a / 7, "add", MANY),
    "reduceat jumping": lambda np, a: of_all(np, a, "maximum", JUMPING),
    "reduceat of one": lambda np, a: of_all(np, a, "add", [0]),
    "reduceat of none": lambda np, a: of_all(np, a, "add", []),
    "reduceat distributed indices": lambda np, a: of_all(np, a, "minimum", np.array(MANY)),
    "reduceat of integers": lambda np, a: of_all(np, a.astype("i2"), "add", MANY),
    "reduceat of truths": lambda np, a: (
        of_all(np, a > 2, "add"),
        of_all(np, a, "logical_and", JUMPING),
        of_all(np, a > -5, "logical_xor"),
    ),
    "reduceat dtype": lambda np, a: of_all(np, a, "add", dtype="c16"),
    "reduceat product": lambda np, a: of_all(np, 1 + a / 900, "multiply"),
    "reduceat half": lambda np, a: of_all(np, (a % 2).astype("f2"), "add", MANY),
    "reduceat of dates": lambda np, a: of_all(np, a.astype("M8[s]"), "maximum", JUMPING).view("i8"),
    "reduceat out": lambda np, a: (
        of_all(np, a, "add", out=np.zeros(7)),
        of_all(np, a, "add", out=np.zeros(7, "f4")),
        of_all(np, a.astype("i4"), "add", out=np.zeros(7)),
        np.add.reduceat(a, [0, 7], 1, None, np.zeros((60, 2), "c16")),
    ),
    "reduceat of two columns": lambda np, a: np.add.reduceat(a.reshape(-1, 2), MANY[:300], axis=0),
    "reduceat of two rows": lambda np, a: np.add.reduceat(a.reshape(2, -1), [7, 3, 1200], axis=-1),
    "reduceat of rows": lambda np, a: np.subtract.reduceat(a, np.array([0, 5, 3, 40]), axis=0),
    "reduceat out of range": lambda np, a: [
        raised(lambda at=at: of_all(np, a, "add", [3, at, 5])) for at in (2520, -1)
    ],
    "reduceat of a wrong dtype": lambda np, a: raised(lambda: of_all(np, a, "bitwise_and")),
    "reduceat with a wrong dtype": lambda np, a: raised(lambda: of_all(np, a, "gcd", dtype="f8")),
}


@distributed
@pytest.mark.parametrize("name", REDUCEAT)
def test_reduceat(name):
    check_table(REDUCEAT, name, rare=True)
