"""Floating-point errors: NumPy's warnings and errors, at NumPy's line, deferred or eager."""

import warnings

import dappled
import numpy
import pytest

from tests.support.compare import stay_deferred

SIZES = [5, 20_000, 100_000]  # at once, lazy, on several threads
BIG, SMALL = 1e308, 1e-308


def made(np, size, *values):
    array = np.zeros(size)
    array[: len(values)] = values
    return array


# Each signals one thing, in one line.
PROGRAMS = {
    "divide": lambda np, n: 1 / made(np, n),
    "invalid": lambda np, n: made(np, n, 1) / made(np, n, 1),
    "overflow": lambda np, n: made(np, n, BIG) * 10,
    "underflow": lambda np, n: made(np, n, SMALL) * SMALL,
    "sqrt": lambda np, n: np.sqrt(made(np, n, -1)),
    "in place": lambda np, n: made(np, n).__itruediv__(0),
    "out": lambda np, n: np.divide(1, made(np, n), out=np.ones(n)),
    "cast": lambda np, n: made(np, n, numpy.nan).astype("i8"),
    "assigned": lambda np, n: np.zeros(n, "i4").__setitem__(Ellipsis, made(np, n, numpy.nan)),
    "sum": lambda np, n: made(np, n, BIG, BIG).sum(),
    "sum invalid": lambda np, n: made(np, n, numpy.inf, -numpy.inf).sum(),
    "sum of axis": lambda np, n: made(np, (n, 2), BIG, BIG).sum(axis=0),
    "prod": lambda np, n: (made(np, n, BIG, BIG) + 1).prod(),
    "cumsum": lambda np, n: made(np, n, BIG, BIG).cumsum(),
    "mean": lambda np, n: made(np, n, numpy.inf, -numpy.inf).mean(),
}
MODES = ["ignore", "warn", "raise", "call", "log"]


def told(np, program, size, mode, action):
    """The warnings, calls and errors of a program; Dappled's name the line."""
    calls, raised = Calls(), None
    with warnings.catch_warnings(record=True) as caught, numpy.errstate(all=mode, call=calls):
        warnings.simplefilter(action)
        stay_deferred()
        try:
            result = program(np, size)
            numpy.asarray(result)
        except (FloatingPointError, RuntimeWarning) as error:
            raised = type(error), str(error)
            assert error.__traceback__.tb_next.tb_lineno == program.__code__.co_firstlineno
    if np is dappled:
        lines = {(warning.filename, warning.lineno) for warning in caught}
        assert lines <= {(__file__, program.__code__.co_firstlineno)}
    return {str(warning.message) for warning in caught}, set(calls.made), raised


class Calls:
    """An argument of `numpy.seterrcall`: a function that also has `write`."""

    def __init__(self):
        self.made = []

    def __call__(self, kind, flag):
        self.made.append((kind, flag))

    def write(self, text):
        self.made.append(text)


@pytest.mark.parametrize("name", PROGRAMS)
def test_signals_are_numpys(name):
    for size in SIZES:
        for mode in MODES:
            theirs = told(numpy, PROGRAMS[name], size, mode, "always")
            ours = told(dappled, PROGRAMS[name], size, mode, "always")
            assert ours == theirs, (size, mode)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_warning_that_is_an_error_is_raised_at_once(name):
    for size in SIZES:
        theirs = told(numpy, PROGRAMS[name], size, "warn", "error")
        assert told(dappled, PROGRAMS[name], size, "warn", "error") == theirs, size
        assert theirs[2], name


FILTERS = {
    "simple": (lambda: warnings.simplefilter("error"), True),
    "category": (lambda: warnings.filterwarnings("error", category=RuntimeWarning), True),
    "another": (lambda: warnings.filterwarnings("error", category=DeprecationWarning), False),
    "last": (lambda: warnings.simplefilter("error", append=True), True),
    "message": (lambda: warnings.filterwarnings("error", "divide by"), True),
    "behind": (
        lambda: (warnings.simplefilter("error"), warnings.simplefilter("ignore")),
        False,
    ),
}


@pytest.mark.parametrize("name", FILTERS)
def test_filters_that_make_errors(name):
    add, raises = FILTERS[name]
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.resetwarnings()
            add()
            if raises:
                with pytest.raises(RuntimeWarning):
                    1 / dappled.zeros(SIZES[1])
            else:
                pending = 1 / dappled.zeros(SIZES[1])
                assert "pending" in dappled.explain(pending)


def test_reported_errors_come_first():
    for np in (numpy, dappled):
        for size in SIZES:
            a, b, c = np.ones(size), np.zeros(size), np.ones(size)
            with numpy.errstate(all="raise"):
                with pytest.raises(FloatingPointError):
                    a /= b
                with pytest.raises(FloatingPointError):
                    np.divide(1, b, out=c)
            assert a[0] == c[-1] == numpy.inf


def test_old_forms_only_warn():
    inverse = 1 / dappled.zeros(SIZES[1])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        assert inverse.sum() == numpy.inf
    assert [str(warning.message) for warning in caught] == ["divide by zero encountered in divide"]


RECORDERS = {
    "pytest.warns": lambda: pytest.warns(RuntimeWarning),
    "record": lambda: warnings.catch_warnings(record=True),
}


@pytest.mark.parametrize("size", [10, 2_000, 50_000])
@pytest.mark.parametrize("name", RECORDERS)
@pytest.mark.ranks(1, 2, 3)
def test_recorded_warnings_come_within_the_block(name, size):
    for np in (numpy, dappled):
        zeros = np.zeros(size)
        with RECORDERS[name]() as caught:
            warnings.simplefilter("always")
            np.log(zeros)
            assert [str(one.message) for one in caught] == ["divide by zero encountered in log"]
            zeros /= zeros
            zeros[1:-1] = 1 / np.zeros(size - 2)
            assert len(caught) == 3
        assert {one.filename for one in caught} == {__file__}


def test_unrecorded_warnings_stay_deferred():
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert "pending" in dappled.explain(1 / dappled.ones(SIZES[1]))
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("ignore")
        assert "pending" in dappled.explain(1 / dappled.ones(SIZES[1]))
