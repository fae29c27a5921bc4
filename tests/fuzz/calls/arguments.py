"""Scalars and keywords of random calls: axes, dtypes, shapes, modes."""

import numpy

from tests.fuzz.calls.arrays import DTYPES, SHAPES

SCALARS = ["0", "1", "-3", "2.5", "True", "1j", "300", "nan", "-0.0", "numpy.float32(2)"]
RARELY = 0.04


class Words:
    """Random scalars and keywords of a `Call`."""

    def rarely(self, chance=RARELY):
        return self.chance.random() < chance

    def one(self, words):
        return self.chance.choice(words.split())

    def word(self, words):
        return repr(self.one(words))

    def maybe(self, text):
        """An argument that half of the calls have."""
        return self.chance.choice([text, ""])

    def method(self):
        return self.word("linear lower higher midpoint nearest hazen weibull inverted_cdf")

    def number(self, said="-3 3"):
        return str(self.chance.randint(*map(int, said.split())))

    def scalar(self):
        return self.chance.choice(SCALARS)

    def bool(self):
        return self.one("True False")

    def dtype(self):
        return repr(self.chance.choice(DTYPES))

    def order(self):
        return self.word("C F K A")

    def casting(self):
        return self.word("no equiv safe same_kind same_kind unsafe")

    def mode(self):
        return self.word("raise wrap clip")

    def axis(self, said=""):
        dims = self.first.ndim + int(said or 0)
        return str(dims if self.rarely() or not dims else self.chance.randrange(-dims, dims))

    def axis_or_none(self):
        return self.chance.choice(["None", self.axis()])

    def axes(self):
        """An `axis` of reductions: None, one axis or several."""
        several = self.chance.sample(
            range(self.first.ndim), self.chance.randint(0, self.first.ndim)
        )
        return self.chance.choice(["None", self.axis(), self.axis(), str(tuple(several))])

    def shape(self):
        return str(self.chance.choice(SHAPES))

    def reshape(self):
        """A shape for as many elements, rarely for others."""
        size = self.first.size + self.rarely()
        fits = [shape for shape in SHAPES if numpy.prod(shape) == size]
        split = [(k, size // k) for k in range(1, size + 1) if size % k == 0]
        return str(
            self.chance.choice([*fits, *split, -1, (-1, 1), (size,), self.first.shape[::-1]])
        )
