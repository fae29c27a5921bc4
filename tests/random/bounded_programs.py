"""Random numbers with distributed bounds and weights, and permutations with `out=`."""

import numpy

HIGH = numpy.arange(700).reshape(70, 10) * 37 % 126 + 1
EACH = numpy.arange(700) % 7 / 2100.0
EVEN = numpy.full(700, 1 / 700)


def small(generator, *args, **kwargs):
    """Integers of a generator, new or legacy."""
    method = "integers" if hasattr(generator, "integers") else "randint"
    return getattr(generator, method)(*args, **kwargs)


BOUNDS = {
    **{
        f"integers {kind}": lambda g, xp, kind=kind: small(g, 0, xp.array(HIGH), dtype=kind)
        for kind in ("i1", "u1", "i2", "u2")
    },
    "integers low": lambda g, xp: small(g, xp.array(HIGH) - 127, xp.array(HIGH), dtype="i1"),
    "integers above": lambda g, xp: small(g, xp.array(HIGH * 300), dtype="u2"),
    "integers widest": lambda g, xp: small(g, xp.array(HIGH * 0), 256, dtype="u1"),
    "integers size": lambda g, xp: small(g, 0, xp.array(HIGH), (2, 70, 10), "u1"),
    "integers many": lambda g, xp: small(g, 0, xp.array(HIGH % 5 + 1), (9, 70, 10), "u1"),
    "integers truths": lambda g, xp: small(g, xp.array(HIGH % 2), 2, dtype=bool),
    "integers ends new": lambda g, xp: g.integers(0, xp.array(HIGH), endpoint=True, dtype="u1"),
    "integers nothing": lambda g, xp: small(g, xp.array(HIGH), xp.array(HIGH + 1), dtype="u1"),
    "integers wrong": lambda g, xp: small(g, 0, xp.array(HIGH - 9), dtype="u1"),
    "integers too large": lambda g, xp: small(g, 0, xp.array(HIGH * 9), dtype="u1"),
    "choice different": lambda g, xp: g.choice(700, 300, False, xp.array(EACH)),
    "choice of all": lambda g, xp: g.choice(700, (70, 10), False, p=xp.array(EVEN)),
    "choice of one": lambda g, xp: g.choice(700, replace=False, p=xp.array(EACH)),
    "choice of different": lambda g, xp: g.choice(
        xp.array(HIGH.ravel()), 200, replace=False, p=xp.array(EACH)
    ),
    "choice of none": lambda g, xp: g.choice(700, 0, replace=False, p=xp.array(EACH)),
    "permuted out new": lambda g, xp: g.permuted(xp.array(HIGH), out=xp.zeros((70, 10))),
    "permuted rows out new": lambda g, xp: g.permuted(
        xp.array(HIGH), axis=1, out=xp.zeros((70, 10), int)
    ),
    "permuted into itself new": lambda g, xp: itself(g, xp.array(HIGH.copy())),
}


def itself(generator, array):
    return generator.permuted(array, axis=0, out=array)
