"""Shrunk programs that the generator found; each gave a wrong result once."""

import dappled
import numpy
import pytest

from tests.fuzz.reference import Oracle, difference, quietly, run_dappled

FOUND = {
    "a NumPy scalar copied to an array of objects": [
        "a = np.empty(3, object)",
        "np.copyto(a, numpy.float32(2))",
        "log([type(x).__name__ for x in a.tolist()])",
    ],
    "functions that choose an order by the flags of a part": [
        "c = np.array(data(2, (128, 8), 'l'), order='F')",
        "a, b, d = np.delete(c[19:82], 12, 0), np.insert(c[::2], 1, 5, 0), np.pad(c[1:], 1)",
        "log(a.ravel('K')); log(b.ravel('K')); log(d.ravel('K'))",
        "v = a.reshape(-1)",
        "v[3:70] = 77",
    ],
    "a repeated axis in the order of memory": [
        "c = np.array(data(2, (8, 10), 'm8[s]'), order='F')",
        "log(np.broadcast_to(c, (2, 8, 10)).ravel('K'))",
        "log(np.broadcast_to(c, (2, 8, 10)).flatten('K'))",
    ],
    "an operation in place, from NumPy's view of a replicated array": [
        "a = at(np.array(data(14, (32_768,), 'd')), 'n')",
        "a[...] %= «numpy.asarray(a[::-1])»",
        "a += «numpy.asarray(a[::-1])»",
    ],
    "the memory order of `where` of long doubles": [
        "b = np.array(data(9, (8, 10, 10), 'g'), order='F')",
        "r = np.where(b[:, ::-1, 2:6] > 0, b[:, :, 2:9:2], b[:, ::-1, 2:6])",
        "log(r.ravel('K'))",
    ],
    "the memory order of indices": [
        "b = np.array(data(9, (8, 6, 10), 'B'), order='F')",
        "log(np.unravel_index(b, (20, 20))[1].ravel('K'))",
        "log(np.ravel_multi_index((b, b), (20, 20)).ravel('K'))",
    ],
    "bytes of a part that is not contiguous, of an array in F order": [
        "a = np.array(data(12, (33, 3), 'B'), order='F')",
        "log(a[14:32].tobytes('A'))",
    ],
    "rounding of an array that is contiguous in no order": [
        "a = np.array(data(7, (130, 260), 'd'), order='F')[:, ::2]",
        "r = np.round(a, 1)",
        "log(r.tobytes('A')); log(r.ravel('K'))",
    ],
    "elements of an array without axes, one by one": [
        "a = np.array(0.5)",
        "log([x for x in a.flat])",
        "f = a.flat; x = next(f); log((x, f.index, f.coords))",
    ],
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


@pytest.mark.ranks(1, 2, 3)
def test_padding_is_not_compared_between_ranks():
    """Of the 16 bytes of a long double the last six may hold anything."""
    values = numpy.arange(12).astype("g")
    if numpy.finfo("g").nmant == 63:
        values.view("u1").reshape(12, -1)[:, 10:] = dappled.comm.rank + 1
    assert numpy.array_equal(dappled.full((27, 30), values[3]), numpy.full((27, 30), values[3]))
    assert numpy.array_equal(dappled.array(values, order="F"), values)


def check(statements):
    oracle = Oracle()
    with quietly():
        for statement in statements:
            assert oracle.run(statement), statement
    assert difference(oracle, run_dappled(dappled, statements)) is None
