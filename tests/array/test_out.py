"""Reductions and scans into an array: folded in the dtype that NumPy chooses by both."""

import itertools
import warnings

import dappled
import numpy
import pytest
from compare import difference
from values import NATIVE, numbers

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
