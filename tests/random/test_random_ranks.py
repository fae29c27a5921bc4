"""NumPy's random numbers, bit for bit, and the states of its generators afterwards, on any ranks.

Chunks are short, so that every draw takes several.
"""

import inspect
import itertools

import dappled as np
import numpy
import pytest
from dappled.random import _permutation, _stream

from tests.random.bounded_programs import BOUNDS
from tests.support.compare import outcome_of

SIZES = [1000, (50, 20), (3, 5, 70)]
ARGUMENTS = {
    "beta": (2, 3),
    "binomial": (20, 0.3),
    "chisquare": (3,),
    "choice": (50,),
    "dirichlet": ([1, 2, 3],),
    "f": (3, 4),
    "gamma": (2,),
    "geometric": (0.2,),
    "hypergeometric": (10, 12, 8),
    "integers": (3, 1000),
    "logseries": (0.4,),
    "multinomial": (20, [0.2, 0.3, 0.5]),
    "multivariate_hypergeometric": ([4, 5, 6], 7),
    "negative_binomial": (5, 0.3),
    "noncentral_chisquare": (3, 2),
    "noncentral_f": (3, 4, 2),
    "pareto": (2,),
    "power": (2,),
    "randint": (3, 1000),
    "random_integers": (3, 1000),
    "standard_gamma": (2,),
    "standard_t": (3,),
    "triangular": (1, 2, 4),
    "vonmises": (1, 2),
    "wald": (1, 2),
    "weibull": (2,),
    "zipf": (2.5,),
}
NARROW = [("i1", -128, 128), ("u1", 0, 256), ("u1", 3, 4), ("i1", -5, 100), ("u1", 10, 139)]
NARROW += [
    ("i2", -3, 300),
    ("u2", 0, 2**16),
    ("i2", -(2**15), 2**14 + 7),
    ("?", 0, 2),
    ("i4", 3, 9),
]
NARROW += [("u4", 0, 2**32), ("u8", 0, 2**64), ("i8", -(2**63), 2**63), ("u8", 5, 2**40)]
FLOATS = ("random", "standard_normal", "standard_exponential", "standard_gamma")
MAKERS = {
    "PCG64": lambda xp: xp.random.default_rng(3),
    "DXSM": lambda xp: xp.random.Generator(numpy.random.PCG64DXSM(4)),
    "MT19937": lambda xp: xp.random.Generator(numpy.random.MT19937(5)),
    "Philox": lambda xp: xp.random.Generator(numpy.random.Philox(6)),
    "legacy": lambda xp: xp.random.RandomState(7),
    "global": lambda xp: (xp.random.seed(8), xp.random)[1],
}


COUNTS = numpy.arange(700.0).reshape(70, 10) % 23 + 1
WEIGHTS = numpy.arange(700) / 244650.0
PARAMETERS = BOUNDS | {
    "normal": lambda g, xp: g.normal(xp.array(COUNTS), 2.0),
    "normal size": lambda g, xp: g.normal(xp.array(COUNTS[0]), xp.array(COUNTS), (2, 70, 10)),
    "normal wrong": lambda g, xp: g.normal(0, xp.array(COUNTS - 20)),
    "poisson": lambda g, xp: g.poisson(xp.array(COUNTS)),
    "uniform": lambda g, xp: g.uniform(xp.array(COUNTS), xp.array(COUNTS) * 2),
    "binomial": lambda g, xp: g.binomial(xp.array(COUNTS.astype(int)), 0.3),
    "gamma": lambda g, xp: g.gamma(xp.array(COUNTS).T, 2),
    "exponential": lambda g, xp: g.exponential(xp.array(COUNTS)),
    "triangular": lambda g, xp: g.triangular(0, xp.array(COUNTS), 40),
    "integers new": lambda g, xp: g.integers(xp.array(COUNTS.astype(int)), 30),
    "integers above new": lambda g, xp: g.integers(xp.array(COUNTS.astype(int)), dtype="i4"),
    "choice": lambda g, xp: g.choice(700, 300, p=xp.array(WEIGHTS)),
    "choice one": lambda g, xp: g.choice(700, p=xp.array(WEIGHTS)),
    "choice of elements": lambda g, xp: g.choice(
        xp.array(COUNTS.ravel()), (20, 10), p=xp.array(WEIGHTS)
    ),
    "permuted new": lambda g, xp: g.permuted(xp.array(COUNTS)),
    "permuted rows new": lambda g, xp: g.permuted(xp.array(COUNTS), axis=1),
    "permuted columns new": lambda g, xp: g.permuted(xp.array(COUNTS), axis=0),
    "permuted middle new": lambda g, xp: g.permuted(xp.array(COUNTS).reshape(7, 10, 10), axis=1),
    "out new": lambda g, xp: g.random(out=xp.zeros((70, 10))),
    "out normal new": lambda g, xp: g.standard_normal(out=xp.zeros(700, "f4"), dtype="f4"),
    "out gamma new": lambda g, xp: g.standard_gamma(2.0, out=xp.zeros(700)),
}


def calls(generator):
    """Draws of a generator of NumPy's: the name, arguments and options of each."""
    for name in dir(generator):
        value = getattr(generator, name)
        if name.startswith("_") or not inspect.isroutine(value) or not _stream.takes_size(value):
            continue
        given = ARGUMENTS.get(name, ())
        for options in all_options(name, hasattr(generator, "integers")):
            size = next(SIZE)
            if name in ("rand", "randn"):
                yield name, size if isinstance(size, tuple) else (size,), {}
            elif "low" in options:
                yield name, (), {"size": size, **options}
            else:
                yield name, given, {"size": size, **options}


SIZE = itertools.cycle(SIZES)


def all_options(name, is_new):
    if name in ("integers", "randint"):
        yield from ({}, {"dtype": numpy.int16})
        yield from ({"dtype": kind, "low": low, "high": high} for kind, low, high in NARROW)
        if is_new:
            yield {"low": 3, "high": 200, "endpoint": True, "dtype": "u1"}
    elif name == "choice":
        yield from ({}, {"p": numpy.arange(50) / 1225}, {"replace": False, "size": 40})
    elif name == "uniform":
        yield from ({}, {"low": -3, "high": 10.5})
    elif name in FLOATS and is_new:
        yield from ({}, {"dtype": "f4"}, {"dtype": numpy.float32})
    else:
        yield {}


def state(generator):
    if hasattr(generator, "bit_generator"):
        return repr(generator.bit_generator.state)
    return repr(generator.get_state(legacy=False))


def seeded():
    for kind, make in MAKERS.items():
        theirs, ours = make(numpy), make(np)
        for name, args, options in calls(theirs):
            expected = getattr(theirs, name)(*args, **options)
            if kind == "global":  # of which both have the one state
                make(numpy)
            found = getattr(ours, name)(*args, **options)
            same = isinstance(found, np.ndarray) and found.dtype == expected.dtype
            if not same or not numpy.array_equal(numpy.asarray(found), expected):
                yield f"{kind} {name} {options}: {found} is not {expected}"
                return
            if kind == "global":
                make(numpy)
            elif state(theirs) != state(ours):
                yield f"{kind} {name} {options}: other states afterwards"


def unusual():
    """Other calls than draws of one size, and errors."""
    programs = {
        "scalar": lambda g, xp: g.normal(),
        "parameters": lambda g, xp: g.normal(xp.arange(500.0), 2.0),
        "parameters and size": lambda g, xp: g.normal(xp.arange(500.0), size=(3, 500)),
        "out": lambda g, xp: g.random(out=xp.zeros(700)),
        "permutation": lambda g, xp: g.permutation(700),
        "permutation of rows": lambda g, xp: g.permutation(xp.arange(700).reshape(350, 2)),
        "shuffle": lambda g, xp: shuffled(g, xp.arange(700)),
        "shuffle columns": lambda g, xp: shuffled(g, xp.arange(700).reshape(2, 350), axis=1),
        "permuted": lambda g, xp: g.permuted(xp.arange(700).reshape(7, 100), axis=1),
        "choice of rows": lambda g, xp: g.choice(xp.arange(700).reshape(350, 2), 600),
        "choice of whole columns": lambda g, xp: g.choice(numpy.eye(3), 600, axis=1),
        "several weights": lambda g, xp: g.multinomial(9, [[0.5, 0.5], [0.2, 0.8]], size=(400, 2)),
        "several shapes": lambda g, xp: g.gamma([1.0, 2.0], size=(400, 2)),
        "several chances": lambda g, xp: g.binomial(9, [0.5, 0.2], size=(400, 2)),
        "choice of few": lambda g, xp: g.choice(["x", "yy"], 600),
        "normals": lambda g, xp: g.multivariate_normal([0, 1], [[2, 1], [1, 3]], 400),
        "negative": lambda g, xp: g.normal(size=-1),
        "wrong": lambda g, xp: g.normal(scale=-1, size=1000),
        "no size": lambda g, xp: g.normal(size="many"),
        "shuffle middle": lambda g, xp: shuffled(g, xp.arange(700).reshape(2, 50, 7), axis=1),
        "shuffle wrong": lambda g, xp: shuffled(g, xp.arange(700), axis=3),
        "permutation wrong": lambda g, xp: g.permutation(xp.arange(700), axis=3),
        "choice without": lambda g, xp: g.choice(xp.arange(700), 300, replace=False),
        "choice by weight": lambda g, xp: g.choice(xp.arange(700), 3, p=numpy.full(700, 1 / 700)),
        "choice of columns": lambda g, xp: g.choice(xp.arange(700).reshape(2, 350), 60, axis=1),
        "bounds": lambda g, xp: g.integers(0, 300, size=1000, dtype="u1"),
        "low": lambda g, xp: g.integers(5, 5, size=1000, dtype="u1"),
        "infinite": lambda g, xp: g.uniform(0, float("inf"), 1000),
        "unknown": lambda g, xp: g.normal(size=1000, nothing=3),
        "dtype": lambda g, xp: g.integers(0, 9, 1000, dtype="f8"),
    }
    theirs, ours = numpy.random.default_rng(9), np.random.default_rng(9)
    for name, program in programs.items():
        expected, found = outcome_of(program, theirs, numpy), outcome_of(program, ours, np)
        if isinstance(expected, tuple):
            same = found == expected
        else:
            same = numpy.array_equal(numpy.asarray(found), expected)
        if not same or state(theirs) != state(ours):
            yield f"{name}: {found} is not {expected}"


def parameters():
    """Distributed parameters and outputs: nothing is gathered."""
    np.config.fallback = "error"
    outcomes = []
    for kind, make in MAKERS.items():
        for name, program in PARAMETERS.items():
            theirs, ours = make(numpy), make(np)
            if not hasattr(theirs, "integers") and name.endswith("new"):
                continue
            expected = outcome_of(program, theirs, numpy)
            if kind == "global":
                make(numpy)
            before = np.memory_stats()["gathered"]
            found = outcome_of(program, ours, np)
            if np.memory_stats()["gathered"] - before > 500:  # numbers one by one
                yield f"{kind} {name}: gathered"
            outcomes.append((kind, name, found, expected))
            if kind != "global" and state(theirs) != state(ours):
                yield f"{kind} {name}: other states afterwards"
    np.config.fallback = "quiet"
    for kind, name, found, expected in outcomes:
        same = found == expected if isinstance(expected, tuple) else alike(found, expected)
        if not same:
            yield f"{kind} {name}: {found} is not {expected}"


def alike(found, expected):
    ours, theirs = numpy.asarray(found), numpy.asarray(expected)
    return ours.dtype == theirs.dtype and numpy.array_equal(ours, theirs)


def shuffled(generator, array, **options):
    generator.shuffle(array, **options)
    return array


def memory():
    """A distributed draw needs the memory of a piece and a chunk, and gathers nothing."""
    before = np.memory_stats()["gathered"]
    np.config.fallback = "error"
    np.random.default_rng(1).normal(size=10_000).sum()
    np.random.rand(100, 100).sum()
    np.config.fallback = "quiet"
    if np.memory_stats()["gathered"] != before:
        yield "gathered"


def parallel():
    """The parallel generator draws by index: arrays hold the numbers of single draws."""
    programs = {
        "random": lambda g, size: g.random(size),
        "uniform": lambda g, size: g.uniform(-3, 10, size),
        "normal": lambda g, size: g.normal(5, 0.1, size),
        "exponential": lambda g, size: g.exponential(3, size),
        "integers": lambda g, size: g.integers(-5, 2**62, size),
    }
    for name, program in programs.items():
        one, many = (np.random.default_rng(4, parallel=True) for _ in range(2))
        expected = [program(one, None) for _ in range(600 + 21 * 30)]
        drawn = [program(many, 600), program(many, (21, 30))]
        found = numpy.concatenate([numpy.asarray(part).ravel() for part in drawn])
        if not numpy.array_equal(found, expected):
            yield f"parallel {name}: {found} is not {expected}"


@pytest.fixture
def short_chunks(monkeypatch):
    monkeypatch.setattr(_stream, "_CHUNK_ELEMENTS", 96)
    monkeypatch.setattr(_permutation, "CHUNK_ELEMENTS", 96)


@pytest.mark.ranks(1, 3)
@pytest.mark.usefixtures("quiet_fallback", "short_chunks")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("check", [seeded, unusual, parameters, memory, parallel])
def test_random(check):
    assert [*check()][:20] == []
