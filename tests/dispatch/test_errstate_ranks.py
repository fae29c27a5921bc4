"""Floating-point errors of one rank's elements: all ranks raise, record or call.

The last elements of each operand, which one rank owns, cause the error. The outcome must be NumPy's
and equal on all ranks.
"""

import warnings

import dappled
import numpy
import pytest

from tests.support.rank_arrays import allgather

MODES = ["raise", "error", "record", "call", "log"]
ACTIONS = {"error": "error", "record": "always"}
SIZE = 24


def ending(*last, kind=float):
    """Ones, and then these."""
    return numpy.array([1] * (SIZE - len(last)) + [*last], kind)


VALUES = {
    "z": ending(0),
    "big": ending(1e308, 1e308),
    "wide": ending(1e300),
    "nan": ending(numpy.nan),
    "inf": ending(numpy.inf),
    "infs": ending(numpy.inf, -numpy.inf),
    "neg": ending(-1),
    "i": numpy.arange(1, SIZE + 1),
    "iz": ending(0, kind=int),
    "least": ending(-128, kind="i1"),
    "minus": ending(-1, kind="i1"),
    "half": ending(60_000, kind="f2"),
    "cz": ending(0, kind=complex),
    "long": ending(0, kind="g"),
    "o": ending(0, kind=object),
    "s": ending("x", kind="U3"),
    "seconds": numpy.ones(SIZE, "m8[s]"),
    "rows": ending(*[1e308] * 4).reshape(6, 4),
    "nanrow": ending(*[numpy.nan] * 4).reshape(6, 4),
    "nancol": ending(*[numpy.nan] * 4).reshape(6, 4).T,
    "singular": numpy.stack([numpy.eye(3)] * 5 + [numpy.zeros((3, 3))]),
}
ELEMENTS = """1/z; z//z; z%z; iz//iz; 1%iz; iz**-1; np.divmod(iz, iz); np.fmod(1, z)
np.fmod(i, iz); np.floor_divide(least, minus); np.log(z); np.log1p(z-1); np.sqrt(neg)
np.arcsin(i); np.arctanh(z); np.power(big, 2); np.power(neg, .5); np.exp(wide); np.cosh(wide)
np.sin(inf); np.hypot(big, big); np.logaddexp(big, big); np.ldexp(big, 900); np.square(big)
np.spacing(inf); np.log(cz); half*half; 1/long; long//long; seconds/iz; seconds//iz; 1/o; o%o
wide.astype('f2'); nan.astype(int); s.astype(float); np.zeros(24, int).__setitem__(..., nan)
np.array(nan, dtype=int); np.copyto(np.zeros(24, int), nan, casting='unsafe')
np.zeros(24, int).__setitem__(np.arange(24), nan); z.__itruediv__(z); big.__imul__(10)
np.divide(1, z, out=np.ones(24)); np.divide(1, z, where=z > 0)
np.add(big, big, out=np.ones(24, 'f4'), casting='unsafe'); np.multiply(big, 10, dtype='f4')
np.vectorize(lambda v: 1/numpy.float64(v))(z); np.frompyfunc(lambda v: 1/v, 1, 1)(z)
np.apply_along_axis(lambda r: 1/(r.sum()-numpy.float64(4)), 1, nanrow); np.sinc(z)
np.allclose(infs, inf); np.random.default_rng(1).normal(0, neg)
np.random.default_rng(1).choice(24, p=nan)"""
FOLDS = """big.sum(); big.prod(); big.cumsum(); big.cumprod(); infs.mean(); infs.var()
rows.sum(0); rows.sum(1); rows.prod(1); rows.cumsum(0); rows.cumsum(1)
np.add.reduceat(big, [0, 20]); half.sum(); np.subtract.reduce(big); np.divide.reduce(z)
np.divide.accumulate(z); np.divide.reduceat(z, [0, 22])
np.divide.at(big.copy(), [23], z[-1:]); np.nanmean(nanrow, 1); np.nanmean(nancol, 0)
np.nanstd(nanrow, 1); np.nanmax(nanrow, 1); np.nanmin(nancol, 0); np.nanmedian(nanrow, 1)
np.nanpercentile(nanrow, 50, 1); np.nanargmax(nanrow, 1); np.median(rows, 1)
np.percentile(infs, [3, 97]); np.ptp(infs); np.diff(infs); np.gradient(big); np.cov(big, i)
np.corrcoef(rows); np.histogram(nan); np.average(big, weights=i)
np.average(big, weights=z-z); np.mean(np.ones((24, 0)), 1)"""
PRODUCTS = """big @ big; rows @ rows.T; np.inner(rows, rows)
np.tensordot(rows, rows, ([0], [0])); np.einsum('ij,kj', rows, rows); np.outer(big, big)
np.kron(big, big); np.cross(rows[:, :3], rows[:, 1:]); np.convolve(big, big)
np.correlate(big, big, 'same'); np.polyfit(i, big, 2); np.polydiv(big, [1, 2])
np.fft.fft2(rows); np.fft.fft(rows); np.linalg.inv(singular); np.linalg.cond(singular)
np.linalg.cholesky(singular); np.linalg.svd(nanrow)
np.linalg.solve(singular, np.ones((6, 3, 1)))"""
PROGRAMS = [
    program.strip()
    for table in (ELEMENTS, FOLDS, PRODUCTS)
    for program in table.replace("\n", ";").split(";")
]


class Calls(list):
    """An argument of `numpy.seterrcall`: a function that also has `write`."""

    def __call__(self, kind, flags):
        self.append(kind)  # of the flags NumPy tells all that one loop signalled

    write = list.append


def made(np):
    with numpy.errstate(all="ignore"):
        return {name: np.array(value) for name, value in VALUES.items()}


def told(np, program, mode):
    """The recorded warnings, the calls and the error of a program."""
    names, calls, raised = {"np": np, "numpy": numpy, **made(np)}, Calls(), None
    modes = {"all": mode if mode in ("raise", "call", "log") else "warn", "under": "ignore"}
    with warnings.catch_warnings(record=True) as caught, numpy.errstate(**modes, call=calls):
        warnings.simplefilter(ACTIONS.get(mode, "ignore"))
        try:
            eval(program, names)
        except Exception as error:
            raised = type(error).__name__, str(error)[:60]
    return sorted({str(warning.message) for warning in caught}), sorted(set(calls)), raised


@pytest.mark.ranks(1, 3)
@pytest.mark.usefixtures("quiet_fallback")
@pytest.mark.parametrize("program", PROGRAMS)
def test_errstate(program):
    for mode in MODES:
        ours, theirs = told(dappled, program, mode), told(numpy, program, mode)
        assert allgather(ours) == [theirs] * dappled.comm.size, mode
