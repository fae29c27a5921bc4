"""Memory order of results: `strides` and `flags` are NumPy's for operands of every layout."""

import random

import dappled
import numpy
import pytest

LENGTHS = [1, 2, 3, 4, 1, 3, 0]
OTHERS = [None, (), (5,), (2, 3), (2, 3, 4), (2, 3, 4, 5)]


def drawn(rng, ndim=None):
    """A function of the namespace that makes one array, seen through some views."""
    shape = [rng.choice(LENGTHS) for _ in range(ndim if ndim is not None else rng.randint(1, 4))]
    dtype, order = rng.choice("dfi?D"), rng.choice("CF")
    steps = [(rng.choice("TRSBNF"), rng.random()) for _ in range(rng.randint(0, 4))]

    def make(np):
        array = np.zeros(shape, dtype, order=order)
        for kind, seed in steps:
            array = seen(np, array, kind, random.Random(seed))
        return array

    return make


def seen(np, array, kind, rng):
    axis = rng.randrange(max(array.ndim, 1))
    before = (slice(None),) * axis
    if kind == "T":
        return array.transpose(rng.sample(range(array.ndim), array.ndim))
    if kind == "R" and array.ndim:
        return array[(*before, slice(None, None, -1))]
    if kind == "S" and array.ndim:
        return array[(*before, slice(rng.randint(0, 1), None, 2))]
    if kind == "B" and array.ndim < 4:
        return np.broadcast_to(array, (rng.choice([1, 2, 3]), *array.shape))
    if kind == "N" and array.ndim < 4:
        return array[(*before, None)]
    if kind == "F":
        return np.array(array, order="F")
    return array


def axes_of(rng, array):
    count = rng.randint(0, array.ndim)
    return tuple(rng.sample(range(array.ndim), count))


# Of one array, and a number generator that chooses the same in both namespaces.
ONE = {
    "sum": lambda np, a, r: np.add.reduce(a, axis=axes_of(r, a), keepdims=r.random() < 0.5),
    "max": lambda np, a, r: np.max(a[..., None], axis=-1),
    "any": lambda np, a, r: np.any(a, axis=axes_of(r, a), keepdims=True),
    "mean": lambda np, a, r: np.mean(np.ones_like(a, shape=a.shape), axis=0) if a.size else a,
    "negative": lambda np, a, r: np.square(a),
    "add": lambda np, a, r: a + 1,
    "compare": lambda np, a, r: a == 0,
    "cumsum": lambda np, a, r: np.cumsum(a, axis=r.randrange(a.ndim)) if a.ndim else a,
    "copy": lambda np, a, r: a.copy(r.choice("CFAK")),
    "copy function": lambda np, a, r: np.copy(a, order=r.choice("CFAK")),
    "astype": lambda np, a, r: a.astype(r.choice("dDi"), order=r.choice("CFAK")),
    "array": lambda np, a, r: np.array(a, order=r.choice("CFAK")),
    "zeros_like": lambda np, a, r: np.zeros_like(a),
    "ones_like": lambda np, a, r: np.ones_like(a, order=r.choice("CFAK"), shape=r.choice(OTHERS)),
    "argmax": lambda np, a, r: np.argmax(a, axis=r.randrange(a.ndim)) if a.size and a.ndim else a,
}
TWO = {
    "add": lambda np, a, b: a + b,
    "transposed": lambda np, a, b: a * b.T,
    "where": lambda np, a, b: np.where(a == 0, a, b),
    "maximum": lambda np, a, b: np.maximum(a, b),
}


def laid(array):
    if not hasattr(array, "flags"):
        return None
    flags = array.flags
    return array.shape, array.strides, flags.c_contiguous, flags.f_contiguous, flags.owndata


def check(program, makers, seed):
    try:
        theirs = laid(program(numpy, *(make(numpy) for make in makers), *seed))
    except (ValueError, TypeError):  # shapes that do not fit, or no such operation
        return None
    ours = laid(program(dappled, *(make(dappled) for make in makers), *ours_of(seed)))
    given = [(make(numpy).shape, make(numpy).strides) for make in makers]
    return None if ours == theirs else f"{given}: NumPy {theirs}, Dappled {ours}"


def ours_of(seed):
    """The same numbers again."""
    for rng in seed:
        rng.seed(rng.first)
    return seed


class Again(random.Random):
    """A generator that knows where it began."""

    def __init__(self, first):
        super().__init__(first)
        self.first = first


@pytest.mark.parametrize("name", ONE)
def test_results_of_one_array(name):
    rng = random.Random(name)
    found = [check(ONE[name], [drawn(rng)], [Again(rng.random())]) for _ in range(400)]
    assert not (wrong := [text for text in found if text]), f"{len(wrong)} differ: {wrong[:5]}"


@pytest.mark.parametrize("name", TWO)
def test_results_of_two_arrays(name):
    rng = random.Random(name)
    ranks = [rng.randint(1, 3) for _ in range(1500)]
    found = [check(TWO[name], [drawn(rng, ndim), drawn(rng, ndim)], []) for ndim in ranks]
    assert not (wrong := [text for text in found if text]), f"{len(wrong)} differ: {wrong[:5]}"
