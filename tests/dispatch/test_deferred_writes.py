"""Deferred writes: every later reader gets NumPy's values."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import dappled
import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.compare import stay_deferred

SHAPES = [(20_000,), (150, 140), (7, 40, 70), (70, 300), (300, 65)]


class State:
    """Some arrays of one shape, and a part of them."""

    def __init__(self, np, shape, dtype, start, end):
        values = numpy.random.default_rng(7).integers(-50, 50, (2, *shape)).astype(dtype)
        self.np, (self.u, self.w) = np, map(np.array, values)
        self.old, self.held, self.seen = self.u, self.u, []
        self.box = tuple(slice(start, length - end) for length in shape)

    def moved(self, a, steps):
        """The box of an array, moved by so many steps along the first and the last axis."""
        by = [steps[0], *[0] * (a.ndim - 2), steps[-1]] if a.ndim > 1 else [steps[0]]
        sides = zip(self.box, by, a.shape, strict=True)
        return a[tuple(slice(side.start + at, side.stop + at) for side, at, _ in sides)]

    def around(self, a):
        places = [(-1, 0), (1, 0), (0, -1), (0, 1)]
        return sum((self.moved(a, place) for place in places), 0) / 4


def _write(state):
    state.u[state.box] = state.around(state.u)


def _write_held(state):
    state.held = state.around(state.u)
    state.u[state.box] = state.held


def _write_from_both(state):
    state.u[state.box] = state.around(state.w) - state.u[state.box] * 0.5


def _write_whole(state):
    state.u[...] = state.u * 0.5 + state.w


def _write_in_steps(state):
    state.u[::2] = state.u[::2] * 2 - state.w[::2]


def _copy(state):
    state.old = state.u.copy()


def _swap(state):
    state.u, state.w = state.w, state.u


def _alias(state):
    state.w = state.u


def _change_others(state):
    state.w -= 2
    state.old[3] = 2


def _change(state):
    state.u[1] = 3
    state.u += state.w


def _fold(state):
    state.seen.append((state.u - state.old).sum())


def _fold_shifted(state):
    state.seen.append((state.u[1:] - state.u[:-1]).max())


def _fold_several(state):
    change = abs(state.u - state.w)
    state.seen += [change.max(), (state.u * state.u).sum(), change.min(), (state.u > 0).any()]


def _fold_along(state):
    state.seen += [state.u.sum(axis=0), state.u.T.sum(), state.u.mean(), state.u.std()]


def _norm(state):
    change = (state.u - state.old).flat
    state.seen.append(numpy.float64(round(float(state.np.dot(change, change)), 4)))


def _read(state):
    state.seen += [state.u[(1,) * state.u.ndim], state.held.sum()]


STATEMENTS = [value for name, value in list(globals().items()) if name[0] == "_" and name[1] != "_"]
PROGRAMS = st.lists(st.sampled_from(STATEMENTS), min_size=2, max_size=10)


def _bytes(value):
    return numpy.asarray(value).tobytes()


@settings(max_examples=150, deadline=None)
@given(
    program=PROGRAMS,
    shape=st.sampled_from(SHAPES),
    dtype=st.sampled_from("dfl"),
    sides=st.tuples(st.integers(1, 3), st.integers(1, 3)),
)
def test_any_program(program, shape, dtype, sides):
    both = [State(np, shape, dtype, *sides) for np in (numpy, dappled)]
    for statement in program:
        for state in both:
            statement(state)
    theirs, ours = both
    for mine, other in zip(ours.seen, theirs.seen, strict=True):
        assert _bytes(mine) == _bytes(other)
    for name in ("u", "w", "old", "held"):
        assert _bytes(getattr(ours, name)) == _bytes(getattr(theirs, name)), name


@pytest.mark.parametrize("turn", range(20))
def test_threads_that_read_see_one_write(turn):
    theirs, ours = (State(np, (400, 500), "d", 1, 1) for np in (numpy, dappled))
    _write(theirs)
    _write(ours)
    reads = [lambda: ours.u.sum(), lambda: float(ours.u[5, 5]), lambda: ours.u.max()] * 2
    with ThreadPoolExecutor(len(reads)) as pool:
        found = [future.result() for future in [pool.submit(read) for read in reads]]
    assert found == [theirs.u.sum(), theirs.u[5, 5], theirs.u.max()] * 2
    assert _bytes(ours.u) == _bytes(theirs.u)


@pytest.mark.parametrize("reader", [_fold, _fold_along, _read])
def test_warnings_name_the_line_of_the_write(reader):
    state = State(dappled, (150, 140), "d", 1, 1)
    state.u[7, 9] = state.old[3, 3] = 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        stay_deferred()
        state.u[state.box] = 1 / state.moved(state.u, (0, 0)) * 0 + state.around(state.w)
        line = test_warnings_name_the_line_of_the_write.__code__.co_firstlineno + 7
        reader(state)
    about = {str(warning.message) for warning in caught if warning.lineno == line}
    assert "divide by zero encountered in divide" in about
    assert "invalid value encountered in multiply" in about


def test_writes_are_deferred_until_read():
    state = State(dappled, (150, 140), "d", 1, 1)
    _write(state)
    assert "pending" in state.u._explain()
    dappled.sync()
    assert "stored" in state.u._explain()


def test_a_fold_and_a_write_take_no_more_memory_than_the_write():
    state = State(dappled, (400, 500), "d", 1, 1)
    for _ in range(4):
        _copy(state)
        _write(state)
        _norm(state)
    before = dappled.memory_stats()["made"]
    for _ in range(20):
        _copy(state)
        _write(state)
        _norm(state)
    assert dappled.memory_stats()["made"] == before


def test_sources_of_deferred_writes_may_change():
    theirs, ours = (State(np, (150, 140), "d", 1, 1) for np in (numpy, dappled))
    for state in (theirs, ours):
        _write_from_both(state)
    made = dappled.memory_stats()["made"]
    lent = numpy.asarray(ours.w)
    assert dappled.memory_stats()["made"] <= made + 1, "nothing is copied for it"
    lent[...] = theirs.w[...] = 0
    for name in ("u", "w", "old"):
        assert _bytes(getattr(ours, name)) == _bytes(getattr(theirs, name)), name


@pytest.mark.parametrize("keep", [lambda a: None, lambda a: a.copy(), lambda a: a[1:]])
@pytest.mark.parametrize("make", [dappled.ones, lambda size: dappled.ones(size) * 1])
def test_in_place_errors_name_the_line(make, keep):
    a, b, zeros = make(40_000), make(40_000), dappled.zeros(40_000)
    kept = keep(a), keep(b)
    with numpy.errstate(all="raise"):
        with pytest.raises(FloatingPointError):
            a /= zeros
        with pytest.raises(FloatingPointError):
            numpy.divide(1, zeros, out=b)
        with pytest.raises(FloatingPointError):
            a[1:] = 1 / zeros[1:]
    assert a[0] == b[-1] == numpy.inf and kept is not None


def test_reduction_and_mask_of_a_deferred_write():
    def program(np):
        u = np.array(numpy.arange(40_000.0))
        mask = np.array(numpy.arange(40_000) % 2 == 0)
        u[1:-1] = (u[:-2] + u[2:]) * 0.5 + 1
        chosen = u[mask]
        return (u[: chosen.size] + chosen).sum(), (u[: chosen.size] * chosen).max(), u.sum()

    assert program(dappled) == program(numpy)
