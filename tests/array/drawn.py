"""Programs drawn at random, the same on every rank: views, writes, operations, distributions."""

import operator
import random

import dappled
import numpy
from ranks_tables import LAYOUTS, laid_out

SHAPES = [(), (6,), (4, 6), (2, 3, 4), (1, 6), (0, 3)]
DTYPES = "?bBilfdD"
UNARY = ["negative", "absolute", "square", "invert", "sqrt", "conjugate", "isnan"]
BINARY = ["add", "subtract", "multiply", "maximum", "less", "bitwise_xor", "true_divide"]
IN_PLACE = ["iadd", "imul", "isub", "itruediv"]
SCALARS = [0, 1, -3, 2.5, True, 1j, 300, 7]
LARGEST = 400
STEPS = {
    "index": lambda np, draw, a, b: a[draw.key],
    "pick": lambda np, draw, a, b: a[[0, draw.number, -1]],
    "mask": lambda np, draw, a, b: a[a > draw.number],
    "turn": lambda np, draw, a, b: a.T,
    "part": lambda np, draw, a, b: (a.real, a.imag)[draw.number % 2],
    "reshape": lambda np, draw, a, b: a.reshape(-1, 2),
    "ravel": lambda np, draw, a, b: a.ravel(),
    "copy": lambda np, draw, a, b: a.copy(),
    "cast": lambda np, draw, a, b: a.astype(draw.dtype),
    "unary": lambda np, draw, a, b: getattr(np, draw.unary)(a),
    "binary": lambda np, draw, a, b: getattr(np, draw.binary)(a, b),
    "shifted": lambda np, draw, a, b: a[1:] * 2 + a[:-1],
    "scale": lambda np, draw, a, b: a * draw.scalar + draw.scalar,
    "sum": lambda np, draw, a, b: a.sum(axis=draw.axis),
    "max": lambda np, draw, a, b: a.max(axis=draw.axis),
    "cumsum": lambda np, draw, a, b: a.cumsum(axis=draw.axis),
    "where": lambda np, draw, a, b: np.where(a > b, a, b),
    "join": lambda np, draw, a, b: np.concatenate([a, b], axis=draw.axis),
    "roll": lambda np, draw, a, b: np.roll(a, draw.number, axis=draw.axis),
    "repeat": lambda np, draw, a, b: np.repeat(a, 2, axis=draw.axis),
    "spread": lambda np, draw, a, b: np.broadcast_to(a, (2, *a.shape)),
    "divmod": lambda np, draw, a, b: np.divmod(a, 3)[1],
    "lay out": lambda np, draw, a, b: laid_out(np, a.copy(), draw.layout) if a.ndim else a.copy(),
    "write": lambda np, draw, a, b: a.__setitem__(draw.key, draw.scalar),
    "write array": lambda np, draw, a, b: a.__setitem__(draw.key, b),
    "write picked": lambda np, draw, a, b: a.__setitem__([draw.number, 0], draw.scalar),
    "write mask": lambda np, draw, a, b: a.__setitem__(a == b, draw.scalar),
    "write over": lambda np, draw, a, b: a.__setitem__(slice(1, None), a[:-1][:: draw.step]),
    "update": lambda np, draw, a, b: getattr(operator, draw.in_place)(a, b),
    "update part": lambda np, draw, a, b: getattr(operator, draw.in_place)(a[1:], a[:-1]),
    "into": lambda np, draw, a, b: getattr(np, draw.binary)(a, b, out=a),
}


class Draw:
    """What one step needs to know, drawn before it is known which of it."""

    def __init__(self, chance):
        self.step = chance.choice([1, 2, -1])
        self.number = chance.randint(-3, 3)
        self.axis = chance.choice([None, 0, -1, 1])
        self.scalar = chance.choice(SCALARS)
        self.dtype = chance.choice(DTYPES)
        self.unary, self.binary = chance.choice(UNARY), chance.choice(BINARY)
        self.in_place, self.layout = chance.choice(IN_PLACE), chance.choice(LAYOUTS)
        self.key = tuple(key_item(chance) for _ in range(chance.randint(0, 3)))

    def __repr__(self):
        return repr(vars(self))


def key_item(chance):
    bound = [None, None, *range(-7, 8)]
    part = slice(chance.choice(bound), chance.choice(bound), chance.choice([None, 1, 2, -1, -2]))
    return chance.choice([part, part, part, chance.randint(-4, 3), Ellipsis, None])


def outcome(np, action, *arrays):
    """A result, or what was raised."""
    try:
        return action(*arrays), None
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"


def difference(seed, length):
    """Runs one program; None if ours did what NumPy's did, else the steps until it did not."""
    chance = random.Random(seed)
    pairs = [made((4, 6), "d", seed), made((6,), "l", seed)]
    history = []
    with numpy.errstate(all="ignore"):
        for _ in range(length):
            if chance.random() < 0.15:
                pairs.append(made(chance.choice(SHAPES), chance.choice(DTYPES), len(history)))
            history.append(taken(chance, pairs))
            if wrong := [at for at, pair in enumerate(pairs) if not same(*pair)]:
                return f"program {seed}, arrays {wrong}:\n" + "\n".join(map(str, history[-6:]))
            if history[-1][-1]:
                return f"program {seed}:\n" + "\n".join(map(str, history[-6:]))
            pairs = pairs[-7:]
    return None


def made(shape, dtype, seed):
    values = numpy.random.RandomState(seed % 1000).randint(0, 9, shape)
    return numpy.array(values, dtype), dappled.array(values, dtype)


def taken(chance, pairs):
    """One step on both sides, the results kept; what was done, and what was wrong with it."""
    name, draw = chance.choice([*STEPS]), Draw(chance)
    first, second = chance.randrange(len(pairs)), chance.randrange(len(pairs))
    results = [
        outcome(
            np,
            lambda a, b, np=np: STEPS[name](np, draw, a, b),
            pairs[first][side],
            pairs[second][side],
        )
        for side, np in enumerate((numpy, dappled))
    ]
    (theirs, their_error), (ours, our_error) = results
    shapes = (
        pairs[first][0].shape,
        pairs[first][0].dtype,
        pairs[second][0].shape,
        pairs[second][0].dtype,
    )
    wrong = "" if their_error == our_error else f"NumPy {their_error}, Dappled {our_error}"
    if isinstance(theirs, numpy.ndarray) and theirs.size <= LARGEST and not wrong:
        if not any(theirs is pair[0] for pair in pairs):
            pairs.append((theirs, ours))
    elif not wrong and theirs is not None and not same(theirs, ours):
        wrong = f"NumPy {theirs!r}, Dappled {ours!r}"
    return name, first, second, *shapes, draw, wrong


def same(theirs, ours):
    if isinstance(theirs, numpy.ndarray) != isinstance(ours, dappled.ndarray):
        return False
    found = numpy.asarray(ours)
    if theirs.dtype != found.dtype or theirs.shape != found.shape:
        return False
    return numpy.array_equal(theirs, found, equal_nan=theirs.dtype.kind in "fc")
