"""Floating-point errors of one rank: all raise or record them, or one warns."""

import contextlib
import io
import sys
import warnings

import dappled as np
import numpy
import pytest

from tests.support.rank_arrays import allgather, array

pytestmark = [pytest.mark.ranks(1, 3, 4), pytest.mark.usefixtures("quiet_fallback")]


def line():
    return sys._getframe(1).f_lineno


def test_warnings_name_the_line_of_the_program():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        np.nanmedian(np.asarray([numpy.nan] * 3)), np.ldexp(array() * 1e300, 900)
        here = line() - 1
    assert {(w.filename, w.lineno) for w in caught} <= {(__file__, here)}
    assert sum(allgather(len(caught))) > 1


def signalling():
    """Programs that set a floating-point flag on one rank, and the error that all raise."""
    one, large = numpy.ones(64), numpy.full(64, 1.0)
    one[-1], large[:2] = 0, 1e308
    a, b, c = np.array(one), np.array(large), np.array(1 / one)
    yield lambda: 1 / a, "divide by zero encountered in divide"
    yield lambda: b.sum(), "overflow encountered in reduce"
    yield lambda: b.reshape(8, 8).sum(axis=0), None
    yield lambda: b.reshape(8, 8).sum(axis=1), "overflow encountered in reduce"
    yield lambda: b.cumsum(), "overflow encountered in accumulate"
    yield lambda: (b * b).sum(), "overflow encountered in multiply"
    yield lambda: np.divide(1, a).astype("i4"), "divide by zero encountered in divide"
    yield lambda: c.astype("i4"), "invalid value encountered in cast"
    yield lambda: np.zeros(64, "i4").__setitem__(..., c), "invalid value encountered in cast"


def raised(program):
    try:
        program()
    except (FloatingPointError, RuntimeWarning) as error:
        return str(error)


def test_all_ranks_raise_floating_point_errors_of_one():
    with numpy.errstate(all="ignore"):
        programs = list(signalling())
    for program, message in programs:
        with numpy.errstate(all="raise", under="ignore"):
            found = allgather(raised(program))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found += allgather(raised(program))
        assert len(set(found)) == 1 and str(found[0]).startswith(str(message)), found


def test_distributed_sum_warns_once():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        np.array(numpy.full(2 * np.comm.size, 1e308)).sum()
        here = line() - 1
    said = [(str(w.message), w.lineno) for w in caught]
    assert said == [("overflow encountered in reduce", here)]


def test_earlier_deferred_warnings_are_not_recorded():
    """One rank alone would know of it: it is shown there."""
    late = 1 / np.array(numpy.arange(100_000.0))  # so many wait
    shown = io.StringIO()
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stderr(shown):
        warnings.simplefilter("always")
        late.sum()
    told = sum("divide by zero" in text for text in allgather(shown.getvalue()))
    assert np.comm.size == 1 or (not caught and told == 1)
