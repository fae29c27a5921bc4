"""Random choices of a step: dtypes, axes, indices, names; equal on all ranks."""

import random

import numpy

from tests.ranks.program_tables import LAYOUTS, laid_out

SHAPES = [
    (),
    (1,),
    (0,),
    (7,),
    (6,),
    (4, 6),
    (5, 5),
    (2, 3, 4),
    (3, 3, 3),
    (1, 6),
    (0, 3),
    (3, 0, 2),
]
DTYPES = "?bBhilLefdgFD"
SCALARS = [0, 1, -3, 2.5, True, 1j, 300, 7]


class Draw:
    """Draws of one step, and what they were: each side draws anew from the same seed."""

    def __init__(self, seed, np):
        self.chance, self.np, self.drawn = random.Random(seed), np, []

    def __repr__(self):
        return ", ".join(" ".join(repr(value).split())[:60] for value in self.drawn)

    def one(self, choices):
        """One of a list, or of a text's words."""
        words = choices.split() if isinstance(choices, str) else choices
        self.drawn.append(self.chance.choice(words))
        return self.drawn[-1]

    def number(self, low=-3, high=3):
        return self.one(range(low, high + 1))

    def numbers(self, count, low=-3, high=3):
        return [self.number(low, high) for _ in range(count)]

    def dtype(self):
        return self.one([*DTYPES])

    def scalar(self):
        return self.one(SCALARS)

    def axis(self, a):
        """An axis, rarely a wrong one."""
        return self.one([*range(-a.ndim, a.ndim)] * 3 + [a.ndim]) if a.ndim else self.one([0, -1])

    def axis_or_none(self, a):
        return self.one([None, self.axis(a)])

    def axes(self, a):
        """An `axis` of reductions: None, one axis or several."""
        several = tuple(self.chance.sample(range(a.ndim), self.chance.randint(0, a.ndim)))
        return self.one([None, self.axis(a), several])

    def indices(self, length, shape=None):
        """Numbers of elements as a list, an array of NumPy's or of ours; rarely one too far."""
        count = self.one([0, 1, 2, 3, 5])
        high = max(length - 1, 0) + (self.chance.random() < 0.03)
        found = self.numbers(count, -length if self.chance.random() < 0.5 else 0, high)
        if not found and length == 0:
            found = []
        if count in (2, 3) and self.chance.random() < 0.2:
            found = [found, found[::-1]]
        return self.wrapped(found, self.one("l l b B"))

    def mask(self, shape):
        """Truth values of a shape, that rarely does not fit."""
        state = numpy.random.RandomState(self.number(0, 99))
        return self.wrapped(state.randint(0, 2, shape).astype(bool), "?")

    def wrapped(self, values, dtype):
        values = numpy.array(values, dtype)
        how = self.one("list numpy ours")
        if how == "list":
            return values.tolist() if values.size else values
        return self.np.array(values) if how == "ours" else values

    def bounds(self):
        bound = [None, None, *range(-7, 8)]
        return slice(self.one(bound), self.one(bound), self.one([None, 1, 2, -1, -2, 3]))

    def key(self):
        """A basic key."""
        return tuple(self.item() for _ in range(self.chance.randint(0, 3)))

    def item(self):
        return self.one([*[self.bounds()] * 3, self.number(-4, 3), Ellipsis, None])

    def mixed(self, a):
        """A key of everything: arrays of numbers and masks beside slices, numbers, None, dots."""
        items, axis, dots = [], 0, False
        while axis < a.ndim and self.chance.random() < 0.85:
            kind = self.one("slice number numbers numbers numbers mask all new dots")
            if kind == "dots" and not dots:
                axis = self.chance.randint(axis, a.ndim)
                items, dots = [*items, Ellipsis], True
            elif kind == "new":
                items.append(None)
            else:
                items.append(self.along(kind, a.shape[axis]))
                axis += 1
        return tuple(items) if len(items) != 1 or self.chance.random() < 0.5 else items[0]

    def along(self, kind, length):
        if kind == "number" and length:
            return self.number(-length, length - 1)
        if kind == "numbers":
            return self.indices(length)
        if kind == "mask":
            return self.mask((length,))
        return slice(None) if kind == "all" else self.bounds()

    def layout(self, array):
        """An array somewhere else: any kind of map along one axis, or a grid of blocks."""
        if self.np is numpy or not array.ndim:
            return array
        if self.one([*LAYOUTS, "grid"]) == "grid":
            return array.redistribute("".join(self.chance.choice("bcn") for _ in array.shape))
        try:
            return laid_out(self.np, array, self.drawn[-1])
        except self.np.protocol.ProtocolError:  # padding wider than what a rank has
            return array
