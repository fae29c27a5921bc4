"""`out=` of reductions and scans: the accumulator has NumPy's dtype."""

import itertools
import warnings

import dappled
import numpy
import pytest

from tests.support.compare import difference
from tests.support.values import NATIVE, numbers

FOLDS = ["add", "multiply", "minimum", "maximum", "fmin"]
FOLDS += ["logical_and", "logical_or", "bitwise_or", "bitwise_xor"]
METHODS = ["reduce", "accumulate"]


def into(name, method, dtype, out):
    def program(np, a):
        shape = a.shape if method == "accumulate" else a.shape[1:]
        return getattr(getattr(np, name), method)(a, 0, out=np.ones(shape, out))

    def make(np):
        return [np.asarray(numbers(numpy.dtype(dtype), (40, 3)))]

    return program, make


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", FOLDS)
def test_out_decides_the_dtype(name, method):
    wrong = []
    for dtype, out in itertools.product(NATIVE, NATIVE):
        if found := difference(*into(name, method, dtype, out)):
            wrong.append(f"{dtype} into {out}\n{found}")
    assert not wrong, f"{len(wrong)} differ, the first of them:\n" + "\n".join(wrong[:3])


def test_a_scan_over_its_own_argument():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for np in (numpy, dappled):
            a = np.arange(9000.0)
            assert np.cumsum(a, out=a) is a and a[-1] == 8999 * 4500


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
@pytest.mark.parametrize("steps", [slice(None, None, -1), slice(None, None, 2), slice(1, 5)])
def test_choices_are_written_into_an_array_and_nowhere_else(mode, steps):
    """NumPy itself writes beside an array that has gaps, so that it can't be asked."""
    memory = dappled.full(40, 7)
    out = memory[12:24][steps]
    numbers, choices = numpy.arange(len(out)) % 2, [numpy.arange(len(out)), numpy.int64(-3)]
    expected = numpy.full(40, 7)
    expected[12:24][steps] = numpy.choose(numbers, choices)
    made = dappled.choose(dappled.asarray(numbers), choices, out=out, mode=mode)
    assert made is out and memory.tolist() == expected.tolist()
