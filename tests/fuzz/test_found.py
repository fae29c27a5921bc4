"""Programs that the generator found, shrunk: each gave a wrong result once."""

import dappled
import pytest
from reference import Oracle, difference, quietly, run_dappled

FOUND = {
    "a part of a complex number without axes": [
        "a = np.array(0.5 + 1j)",
        "v = a.imag",
        "v[...] -= 7",
    ],
    "the same of a copy": [
        "a = np.array(0.5 + 1j)",
        "b = a.copy()",
        "b.real = 3",
        "b.imag[...] = 2",
    ],
    "from NumPy's view of a replicated array": [
        "a = at(np.arange(801), 'n')",
        "a[:] = «numpy.asarray(a[::-1])»",
    ],
    "from NumPy's view of a replicated array, forwards": [
        "a = at(np.arange(801.0), 'n')",
        "m = numpy.asarray(a)",
        "a[1:] = «m[:-1]»",
        "del m",
    ],
}


@pytest.mark.ranks(1, 2, 3)
@pytest.mark.parametrize("name", FOUND)
def test_found(name):
    check(FOUND[name])


def check(statements):
    oracle = Oracle()
    with quietly():
        for statement in statements:
            assert oracle.run(statement), statement
    assert difference(oracle, run_dappled(dappled, statements)) is None
