"""Random programs of steps, equal on all ranks, compared with NumPy after each step.

A step is a function of the namespace, of what it draws and of two of the arrays at hand; what it
returns is compared and kept, and after every step all arrays are equal, whatever was raised.
"""

import os
import random
import warnings

import dappled
import numpy

from tests.fuzz.steps.basic import BASIC
from tests.fuzz.steps.draw import DTYPES, SHAPES, Draw
from tests.fuzz.steps.indexing import INDEXING
from tests.fuzz.steps.joining import GROWING
from tests.fuzz.steps.linalg import ALGEBRA
from tests.fuzz.steps.opaque_dtypes import ITEMS
from tests.fuzz.steps.reductions import FOLDING
from tests.fuzz.steps.sorting import SORTING
from tests.support.compare import check_program

FAMILIES = {
    "basic": BASIC,
    "indexing": INDEXING,
    "sorting": SORTING,
    "folding": FOLDING,
    "growing": GROWING,
    "algebra": ALGEBRA,
    "items": ITEMS,
}
LARGEST, KEPT = 400, 7
SHOWN = int(os.environ.get("DAPPLED_TEST_SHOWN", "5"))


def difference(seed, length, family=None, agreed=lambda found: [found]):
    """Runs one program; None if ours did what NumPy's did, else the steps until it did not.

    Half of the steps are basic, half are of a family. `agreed` brings together what was found on
    every rank, so that all of them stop at the same step.
    """
    chance, history, found = random.Random(seed), [], []
    steps = [[*BASIC.items()], [*FAMILIES[family or [*FAMILIES][seed % len(FAMILIES)]].items()]]
    pairs = [made(chance, (4, 6), "d"), made(chance, (6,), "l"), made(chance)]
    with numpy.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while len(history) < length and not any(found):
            if chance.random() < 0.15:
                pairs.append(made(chance))
            found = agreed(taken(chance, chance.choice(steps), pairs, history))
            pairs = pairs[-KEPT:]
        if not any(found):
            found = agreed(changed(pairs, range(len(pairs))))
    if not any(found):
        return None
    ranks = [rank for rank, text in enumerate(found) if text]
    return "\n".join(
        [
            f"program {seed} {family}, ranks {ranks}:",
            *history[-SHOWN:],
            *filter(None, found),
        ]
    )


def made(chance, shape=None, dtype=None):
    """An array of each side: small numbers, at times such as are none, and anywhere."""
    shape, dtype = shape or chance.choice(SHAPES), dtype or chance.choice(DTYPES)
    state = numpy.random.RandomState(chance.randrange(1000))
    values = numpy.array(state.randint(0, 9, shape), dtype)
    if values.dtype.kind in "fc" and values.size > 3 and chance.random() < 0.2:
        values.reshape(-1)[state.randint(0, values.size, 2)] = (
            numpy.nan,
            chance.choice([1, -1]) * numpy.inf,
        )
    if chance.random() < 0.3:
        values = values.copy("F")
        return values, dappled.array(values)
    return values, Draw(chance.randrange(10**6), dappled).layout(dappled.array(values))


def taken(chance, steps, pairs, history):
    """Runs one step on both sides and keeps the results; returns the difference."""
    (name, step), seed = chance.choice(steps), chance.randrange(10**9)
    which = [chance.randrange(len(pairs)) for _ in range(2)]
    draws = [Draw(seed, np) for np in (numpy, dappled)]
    theirs, ours = (
        outcome(step, np, draw, *(pairs[at][side] for at in which))
        for side, (np, draw) in enumerate(zip((numpy, dappled), draws, strict=True))
    )
    shapes = [(pairs[at][0].shape, str(pairs[at][0].dtype), lies(pairs[at][1])) for at in which]
    history.append(f"  {name} of {which} {shapes}: {draws[0]}")
    if wrong := unlike(theirs, ours):
        return wrong
    new = new_ones(theirs, ours, pairs)
    # What was asked for its result has changed no other array; in the end all are compared.
    wrong = changed(pairs, which if new else range(len(pairs)))
    pairs += new
    return wrong


def changed(pairs, which):
    """The first difference in some of the arrays, or None."""
    for at in which:
        if text := unlike(*pairs[at]):
            return f"array {at}: {text}"
    return None


def lies(array):
    """How an array is distributed; of a view that is not said."""
    try:
        return array.distribution.dist
    except ValueError:
        return "view"


def outcome(step, *arguments):
    """A result, or the exception."""
    try:
        return step(*arguments)
    except Exception as error:
        check_program(error)
        return error


def new_ones(theirs, ours, pairs):
    """The arrays of a result that are not known yet. Copies where their strides are not NumPy's,
    on which it depends what of them is a view: of a key with arrays they have an order that is
    said nowhere.
    """
    found = []
    for one, other in zip(flat(theirs), flat(ours), strict=True):
        array = isinstance(one, numpy.ndarray) and one.size <= LARGEST and one.dtype != object
        if array and not any(one is pair[0] for pair in pairs):
            same = one.strides == other.strides or one.size < 2
            found.append((one, other) if same else (one.copy(), other.copy()))
    return found[:2]


def flat(results):
    if isinstance(results, list | tuple):
        return [value for result in results for value in flat(result)]
    return [results]


def unlike(theirs, ours):
    """The difference of two results, or "" where they agree to rounding."""
    theirs, ours = flat(theirs), flat(ours)
    if len(theirs) != len(ours):
        return f"NumPy {theirs!r}, Dappled {ours!r}"
    for one, other in zip(theirs, ours, strict=True):
        if text := unlike_one(one, other):
            return text
    return ""


def unlike_one(one, other):
    if isinstance(one, Exception) or isinstance(other, Exception):
        alike = type(one).__name__ == type(other).__name__
        return "" if alike else f"NumPy {one!r}, Dappled {other!r}"
    if not isinstance(one, numpy.ndarray | numpy.generic):
        same = type(one) is type(other) and repr(one) == repr(other)
        return "" if same else f"NumPy {one!r}, Dappled {other!r}"
    kind = dappled.ndarray if isinstance(one, numpy.ndarray) else type(one)
    values = numpy.asarray(other)
    if not isinstance(other, kind) or values.dtype != one.dtype or values.shape != one.shape:
        return f"NumPy {one!r}, Dappled {other!r} {type(other)}"
    if kind is dappled.ndarray and one.flags.writeable != other.flags.writeable:
        return f"NumPy's writeable {one.flags.writeable}"
    if equal(one, values):
        return ""
    if one.dtype.kind not in "fc" or not nearly(one, values):
        return f"NumPy {one.tolist()}\nDappled {values.tolist()}"
    if kind is dappled.ndarray and one.flags.writeable:
        other[...] = one
    return ""


def equal(one, other):
    if one.dtype.kind in "VO":
        return repr(one.tolist()) == repr(other.tolist())
    return numpy.array_equal(one, other, equal_nan=one.dtype.kind in "fcmM")


def nearly(one, other):
    """Whether values agree to rounding, relative to the largest: cancellation differs."""
    finite = numpy.isfinite(one)
    if not equal(one[~finite], other[~finite]):
        return False
    precision = (10 if one.dtype.char == "e" else 1000) * numpy.finfo(one.dtype).eps
    one, other = one[finite], other[finite]
    return numpy.allclose(other, one, 0, precision * max(1, numpy.abs(one).max(initial=0)))
