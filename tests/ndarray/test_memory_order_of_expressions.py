"""Memory order of expressions: 'A' and 'K' orders give NumPy's elements."""

import itertools

import dappled
import numpy
import pytest

# Below and above the sizes from which expressions are fused (2,000) and deferred (16,384), and from
# which NumPy reuses temporaries (32,768 elements of 8 bytes).
SHAPES = {
    "small": (4, 6, 2),
    "fused": (13, 14, 15),
    "deferred": (24, 26, 28),
    "below elision": (31, 32, 33),
    "elided": (32, 32, 32),
}
AXES = [(0, 1, 2), (2, 1, 0), (1, 0, 2), (2, 0, 1)]


def made(np, shape, axes, kind="d", step=1):
    """An array whose axes lie in memory in this order."""
    lengths = [shape[axis] * step for axis in axes]
    base = numpy.arange(numpy.prod(lengths)).astype(kind).reshape(lengths)
    back = sorted(range(3), key=axes.__getitem__)
    return np.array(base)[::step, ::step, ::step].transpose(back)


LAYOUTS = {
    **{f"axes {axes}": lambda np, shape, axes=axes: made(np, shape, axes) for axes in AXES},
    "steps": lambda np, shape: made(np, shape, (2, 0, 1), step=2),
    "backwards": lambda np, shape: made(np, shape, (1, 2, 0))[::-1, :, ::-1],
    "integers": lambda np, shape: made(np, shape, (2, 1, 0), "i"),
    "imaginary": lambda np, shape: made(np, shape, (1, 0, 2), "D").imag,
    "row": lambda np, shape: np.array(numpy.arange(float(shape[-1]))),
    "column": lambda np, shape: np.array(numpy.arange(float(shape[0])))[:, None, None],
    "plane": lambda np, shape: np.broadcast_to(made(np, shape, (2, 1, 0))[:, :1], shape),
    "scalar": lambda np, shape: 2.0,
}
EXPRESSIONS = {
    "one operation": lambda np, a, b: a + b,
    "a chain": lambda np, a, b: (a * 2 + b) * b - a,
    "in parts": lambda np, a, b: (a + 1) * (b - 1),
    "temporary on the right": lambda np, a, b: a + b * 2.0,
    "temporary on the right, not commutative": lambda np, a, b: a - b * 2.0,
    "temporary with a name": lambda np, a, b: (c := a * 3.0) + b + c,
    "quotient of temporaries": lambda np, a, b: (a + 1) / (b + 1.5),
    "quotient of integers": lambda np, a, b: (a.astype("i8") + 1) // (b + 1),
    "single precision": lambda np, a, b: (a.astype("f4") * a) + (b + a),
    "half the bytes": lambda np, a, b: (a.astype("i2") + a.astype("i2")) + b,
    "complex": lambda np, a, b: (a * 1j) * b - a,
    "comparison of temporaries": lambda np, a, b: ((a < b) & (a.T > 1).T) | (b > 2),
    "power of a temporary": lambda np, a, b: ((a + 1) ** 2 + b) % (a + 2),
    "part of a temporary": lambda np, a, b: (a * 2.0)[...] + b,
    "function of a temporary": lambda np, a, b: np.add(a * 2.0, b) + np.multiply(b, 2.0),
    "unary": lambda np, a, b: abs(-(a * b)) + b,
    "a comparison": lambda np, a, b: a < b,
    "where": lambda np, a, b: np.where(a < b, a, b),
    "maximum": lambda np, a, b: np.maximum(np.negative(a), b),
    "in place": lambda np, a, b: np.add(
        c := a * 1.0, b, out=c if c.shape == (a + b).shape else None
    ),
    "out in C order": lambda np, a, b: np.add(a, b, out=np.zeros((a + b).shape)),
    "out in F order": lambda np, a, b: np.add(a, b, out=np.zeros((a + b).shape, order="F")),
    "cast": lambda np, a, b: (a + b).astype("f4"),
    "rounded": lambda np, a, b: np.round(a * b, 1),
    "clipped": lambda np, a, b: np.clip(a - b, 1, 5),
    "transposed": lambda np, a, b: (a * b).T + 1,
    "like": lambda np, a, b: np.zeros_like(a + b) + 3,
}
LOOKS = {
    "ravel('A')": lambda np, a: a.ravel("A"),
    "ravel('K')": lambda np, a: a.ravel("K"),
    "ravel('F')": lambda np, a: np.ravel(a, "F"),
    "flatten('A')": lambda np, a: a.flatten("A"),
    "flatten('K')": lambda np, a: a.flatten("K"),
    "copy('K')": lambda np, a: a.copy("K").ravel("K"),
    "copy('A')": lambda np, a: np.copy(a, "A").ravel("K"),
    "tobytes('A')": lambda np, a: a.tobytes("A"),
    "reshape(order='A')": lambda np, a: a.reshape((-1, 2), order="A"),
    "transposed": lambda np, a: a.T.ravel("K"),
    "part.ravel('A')": lambda np, a: a[1:].ravel("A"),
    "part.tobytes('A')": lambda np, a: a[1:].tobytes("A"),
}


def bits(value):
    return value if isinstance(value, bytes) else (value.shape, numpy.asarray(value).tobytes())


@pytest.mark.ranks(1, 2)
@pytest.mark.parametrize("size", SHAPES)
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_elements_in_memory_order(name, size):
    wrong = []
    # Every other pair of layouts, and one look at each.
    pairs = list(itertools.product(list(LAYOUTS)[:-1], LAYOUTS))[len(name) % 2 :: 2]
    for pair, look in zip(pairs, itertools.cycle(LOOKS), strict=False):
        theirs, ours = (seen(np, name, pair, look, SHAPES[size]) for np in (numpy, dappled))
        if theirs != ours:
            wrong.append((*pair, look))
    assert not wrong, f"{len(wrong)} differ: {wrong[:5]}"


def seen(np, name, layouts, look, shape):
    """Flags and strides of an expression of arrays with two layouts."""
    operands = (LAYOUTS[layout](np, shape) for layout in layouts)
    return bits(LOOKS[look](np, EXPRESSIONS[name](np, *operands)))


@pytest.mark.parametrize("size", SHAPES)
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_flags_and_strides(name, size):
    wrong = []
    for pair in itertools.product(list(LAYOUTS)[:-1], LAYOUTS):
        theirs, ours = (laid(np, name, pair, SHAPES[size]) for np in (numpy, dappled))
        if theirs != ours:
            wrong.append((*pair, theirs, ours))
    assert not wrong, f"{len(wrong)} differ: {wrong[:5]}"


def laid(np, name, layouts, shape):
    found = EXPRESSIONS[name](np, *(LAYOUTS[layout](np, shape) for layout in layouts))
    lengths = zip(found.strides, found.shape, strict=True)
    strides = [stride for stride, length in lengths if length > 1]
    return strides, found.flags.c_contiguous, found.flags.f_contiguous
