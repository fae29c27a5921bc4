"""Whole programs: views, writes that overlap, exports held across writes, and errors.

The machine does the same to arrays of NumPy's and of ours, all of them views of a few bases, and
after every step all of them are equal.
"""

import dappled
import numpy
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

SHAPES = [(), (6,), (4, 6), (2, 3, 4)]
DTYPES = list("?bBilfdD")
UNARY = ["negative", "absolute", "square", "invert", "sqrt", "conjugate"]
BINARY = ["add", "subtract", "multiply", "maximum", "less", "bitwise_xor", "true_divide"]
SCALARS = st.sampled_from([0, 1, -3, 2.5, True, 1j, 300])
SLICES = st.builds(
    slice,
    st.none() | st.integers(-7, 7),
    st.none() | st.integers(-7, 7),
    st.none() | st.sampled_from([1, 2, -1, -2, 3]),
)
ITEMS = st.one_of(SLICES, st.integers(-4, 3), st.just(Ellipsis), st.none())
KEYS = st.lists(ITEMS, max_size=3).map(tuple)
FANCY = st.lists(st.integers(-3, 3), min_size=1, max_size=4)


class Pair:
    """An array of NumPy's and ours that shall be the same."""

    def __init__(self, theirs, ours):
        self.theirs, self.ours = theirs, ours


def both(action, *pairs):
    """The same action on both sides: both results, or the same error on both."""
    outcomes = []
    for side in ("theirs", "ours"):
        with numpy.errstate(all="ignore"):
            try:
                outcomes.append((action(*(getattr(pair, side) for pair in pairs)), None))
            except Exception as error:
                outcomes.append((None, error))
    (theirs, their_error), (ours, our_error) = outcomes
    assert type(their_error) is type(our_error), (their_error, our_error)
    return None if their_error else Pair(theirs, ours)


def same(pair):
    """Equal values, dtypes and shapes; a scalar where NumPy has one."""
    theirs, ours = pair.theirs, numpy.asarray(pair.ours)
    assert isinstance(pair.ours, dappled.ndarray) == isinstance(theirs, numpy.ndarray)
    assert theirs.dtype == ours.dtype and theirs.shape == ours.shape
    numpy.testing.assert_array_equal(theirs, ours, strict=True)


class Programs(RuleBasedStateMachine):
    """A state machine of arrays and operations on them."""

    arrays = Bundle("arrays")

    def __init__(self):
        super().__init__()
        self.alive = []
        self.exports = []

    def keep(self, pair):
        """Arrays are watched from now on; scalars are looked at once."""
        if pair is None or pair.theirs is None or pair.theirs is NotImplemented:
            return self.alive[0]
        same(pair)
        if not isinstance(pair.theirs, numpy.ndarray) or pair.theirs.size > 500:
            return self.alive[0]
        self.alive = [*self.alive[:1], *self.alive[-10:], pair]
        return pair

    @initialize(target=arrays, dtype=st.sampled_from(DTYPES))
    def begin(self, dtype):
        return self.make((4, 6), dtype, 1)

    @rule(target=arrays, shape=st.sampled_from(SHAPES), dtype=st.sampled_from(DTYPES))
    def create(self, shape, dtype):
        return self.make(shape, dtype, len(self.alive))

    def make(self, shape, dtype, seed):
        values = numpy.random.RandomState(seed).randint(0, 9, shape)
        pair = Pair(numpy.array(values, dtype), dappled.array(values, dtype))
        self.alive.append(pair)
        return self.keep(pair)

    @rule(target=arrays, array=arrays, key=KEYS)
    def index(self, array, key):
        return self.keep(both(lambda a: a[key], array))

    @rule(target=arrays, array=arrays, key=FANCY)
    def pick(self, array, key):
        return self.keep(both(lambda a: a[key], array))

    @rule(target=arrays, array=arrays, name=st.sampled_from(["T", "real", "imag"]))
    def attribute(self, array, name):
        return self.keep(both(lambda a: getattr(a, name), array))

    @rule(target=arrays, array=arrays, order=st.sampled_from("CFA"))
    def reshape(self, array, order):
        return self.keep(both(lambda a: a.reshape((-1, 2), order=order), array))

    @rule(target=arrays, array=arrays)
    def copy(self, array):
        return self.keep(both(lambda a: a.copy(), array))

    @rule(target=arrays, array=arrays, name=st.sampled_from(UNARY))
    def unary(self, array, name):
        pair = Pair((numpy, array.theirs), (dappled, array.ours))
        return self.keep(both(lambda side: getattr(side[0], name)(side[1]), pair))

    @rule(target=arrays, left=arrays, right=arrays, name=st.sampled_from(BINARY))
    def binary(self, left, right, name):
        sides = Pair(numpy, dappled), left, right
        return self.keep(both(lambda np, a, b: getattr(np, name)(a, b), *sides))

    @rule(target=arrays, array=arrays, value=SCALARS)
    def scale(self, array, value):
        return self.keep(both(lambda a: (a * value) + value, array))

    @rule(target=arrays, array=arrays, axis=st.sampled_from([None, 0, -1, 2]))
    def total(self, array, axis):
        return self.keep(both(lambda a: a.sum(axis=axis), array))

    @rule(array=arrays, key=KEYS, value=SCALARS)
    def write_scalar(self, array, key, value):
        both(lambda a: a.__setitem__(key, value), array)

    @rule(target_array=arrays, source=arrays, key=KEYS)
    def write_array(self, target_array, source, key):
        both(lambda a, b: a.__setitem__(key, b), target_array, source)

    @rule(array=arrays, key=FANCY, value=SCALARS)
    def write_picked(self, array, key, value):
        both(lambda a: a.__setitem__(key, value), array)

    @rule(array=arrays, step=st.sampled_from([1, 2, -1]))
    def write_overlapping(self, array, step):
        both(lambda a: a.__setitem__(slice(1, None), a[:-1][::step]), array)

    @rule(array=arrays, other=arrays, name=st.sampled_from(["iadd", "imul", "isub", "itruediv"]))
    def update(self, array, other, name):
        both(lambda a, b: getattr(a, f"__{name}__")(b) is a, array, other)

    @rule(array=arrays, other=arrays, name=st.sampled_from(BINARY))
    def into(self, array, other, name):
        sides = Pair(numpy, dappled), array, other
        both(lambda np, a, b: getattr(np, name)(a, b, out=a) is a, *sides)

    @rule(array=arrays)
    def export(self, array):
        """NumPy's array over our memory sees every later write, as a view of NumPy's does."""
        self.exports = [*self.exports[-3:], Pair(array.theirs, numpy.asarray(array.ours))]

    @rule(value=st.integers(0, 9), place=st.integers(0, 3))
    def write_through_export(self, value, place):
        if place < len(self.exports):
            both(lambda a: a.__setitem__(Ellipsis, value), self.exports[place])

    @invariant()
    def all_are_equal(self):
        for pair in self.alive:
            same(pair)
        for pair in self.exports:
            numpy.testing.assert_array_equal(pair.theirs, pair.ours, strict=True)


TestPrograms = Programs.TestCase
TestPrograms.settings = settings(max_examples=250, stateful_step_count=25)
