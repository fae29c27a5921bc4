"""Fallback to NumPy: gathered copies, warnings and errors.

One process plays several ranks here: the core says so, and hands out copies.
"""

import sys
import warnings

import dappled
import numpy
import pytest
from dappled._dispatch import convert
from dappled._ndarray import core, exports
from dappled._ranks.config import Config

NOT_GATHERED = {
    "roll": lambda np, a: np.roll(a, 1, axis=0),
    "flip": lambda np, a: np.flip(a),
    "rot90": lambda np, a: np.rot90(a),
    "concatenate": lambda np, a: np.concatenate([a, a]),
    "stack": lambda np, a: np.stack([a, a], axis=1),
    "vstack": lambda np, a: np.vstack([a, a[0]]),
    "split": lambda np, a: np.array_split(a, 3),
    "tile": lambda np, a: np.tile(a, (2, 3)),
    "repeat": lambda np, a: np.repeat(a, 2, axis=1),
    "where": lambda np, a: np.where(a > 0, a, 0),
    "meshgrid": lambda np, a: np.meshgrid(a[0], a[1]),
    "broadcast_to": lambda np, a: np.broadcast_to(a, (2, *a.shape)),
    "expand_dims": lambda np, a: np.moveaxis(np.expand_dims(a, 0), 0, 1),
    "zeros_like": lambda np, a: (np.zeros_like(a), np.ones_like(a), np.full_like(a, 3)),
    "asarray": lambda np, a: (np.asarray(a), np.array(a), np.array(a, ndmin=3)),
    "diff": lambda np, a: np.diff(a, axis=0),
    "atleast": lambda np, a: (np.atleast_1d(a), np.atleast_3d(a)),
    "shape": lambda np, a: (np.shape(a), np.ndim(a), np.size(a), np.result_type(a, 1)),
    "tril": lambda np, a: np.tril(a),
    "eye": lambda np, a: np.eye(3) + np.identity(3),
    "isclose": lambda np, a: np.isclose(a, a * 2),
    "copyto": lambda np, a: np.copyto(a.copy(), a, where=a > 0),
    "sum": lambda np, a: a.sum(axis=0),
    "mean": lambda np, a: a.mean(axis=0),
    "var": lambda np, a: np.var(a, axis=1),
}


@pytest.fixture
def ranks(monkeypatch):
    """Three ranks, as far as this package can tell."""
    unwrap = core.core.unwrap

    def copied(array, writeable=False):
        return unwrap(array).copy()

    monkeypatch.setattr(core.core, "ranks", lambda: 3)
    monkeypatch.setattr(core.core, "unwrap", copied)
    for module in (core, convert, exports):
        monkeypatch.setattr(module, "needs_gather", lambda array: array.size >= SIZE)


@pytest.fixture
def refused(monkeypatch):
    monkeypatch.setattr(dappled.config, "fallback", "error")


# From so many elements on, an array counts as distributed here: smaller ones are on every rank.
# (The core knows of one process, and what is small it gives to NumPy.)
SIZE = 24000


def matrix():
    return dappled.asarray(numpy.random.RandomState(0).permutation(SIZE).reshape(6, -1) / 8)


def test_one_process_prints_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert dappled.sort(matrix(), axis=None).tolist() == [n / 8 for n in range(SIZE)]


def test_a_warning_names_the_function_and_the_users_line(ranks):
    a = matrix()
    with pytest.warns(
        dappled.FallbackWarning, match=r"dappled.median has no distributed"
    ) as caught:
        dappled.median(a)
        line = sys._getframe().f_lineno - 1
    assert [(w.filename, w.lineno) for w in caught] == [(__file__, line)]


def test_a_line_warns_once(ranks):
    a = matrix()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            dappled.sort(a)
        a.argsort()
    assert len(caught) == 2


def test_it_can_be_an_error_or_quiet(ranks, monkeypatch):
    a = matrix()
    monkeypatch.setattr(dappled.config, "fallback", "error")
    with pytest.raises(dappled.FallbackError, match=r"dappled.linalg.pinv has no distributed"):
        dappled.linalg.pinv(a)
    monkeypatch.setattr(dappled.config, "fallback", "quiet")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dappled.linalg.pinv(a)


@pytest.mark.parametrize("name", NOT_GATHERED)
def test_nothing_is_gathered(name, ranks, refused):
    NOT_GATHERED[name](dappled, matrix())


@pytest.mark.filterwarnings("ignore::dappled.FallbackWarning")
@pytest.mark.parametrize(
    "write",
    [
        lambda np, a: a.sort(),
        lambda np, a: np.put(a, [0], [5]),
        lambda np, a: np.place(a, a > 2, [5]),
        lambda np, a: np.fill_diagonal(a, 5),
        lambda np, a: np.putmask(a, a > 2, 5),
        lambda np, a: np.sort(a, axis=0).sum(axis=0, out=a[0]),
        lambda np, a: np.cumsum(a, axis=0, out=a),
        lambda np, a: np.median(np.stack([a, a]), 0, a),
        lambda np, a: np.add.at(a, ([0], [1]), 5),
        lambda np, a: a.flat.__setitem__(slice(2), 5),
        lambda np, a: np.random.default_rng(1).shuffle(a),
        lambda np, a: np.random.default_rng(1).random(out=a),
        lambda np, a: a.__setitem__(a > 2, 5),
    ],
)
def test_writes_into_a_gathered_copy_come_back(write, ranks):
    ours, theirs = matrix(), numpy.array(matrix().tolist())
    write(numpy, theirs)
    write(dappled, ours)
    assert ours.tolist() == theirs.tolist()


def test_long_arrays_print_without_a_gather(ranks, refused, monkeypatch):
    theirs = numpy.arange(12.0 * 900).reshape(12, 900)
    assert repr(dappled.asarray(theirs)) == repr(theirs)
    assert str(dappled.asarray(theirs)) == str(theirs)


def test_memory_in_pieces_is_not_handed_out(ranks):
    with pytest.raises(BufferError, match="distributed over 3 ranks"):
        _ = matrix().data
    with pytest.raises(BufferError, match="distributed over 3 ranks"):
        matrix().__dlpack__()


def test_settings_are_checked(monkeypatch):
    assert repr(dappled.config) == "Config(fallback='warn')"
    with pytest.raises(ValueError, match="fallback is one of 'warn', 'error', 'quiet', not 'no'"):
        dappled.config.fallback = "no"
    with pytest.raises(AttributeError, match="no setting 'speed'"):
        dappled.config.speed = 1
    monkeypatch.setenv("DAPPLED_FALLBACK", "quiet")
    assert Config().fallback == "quiet"
