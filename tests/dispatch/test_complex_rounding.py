"""Complex numbers in every direction: NumPy's loops fuse products with sums in some, not in all."""

import itertools
from collections.abc import Callable
from typing import Any

import dappled
import numpy
import pytest

SHAPES = [(5,), (9000,), (6, 8), (6, 4095), (6, 4096), (3, 4097), (3, 4, 500), (1, 9000), (9000, 1)]
STEPS = [1, -1, 2]
OPERATIONS: dict[str, Callable[..., Any]] = {
    "multiply": lambda np, a, b: a * b,
    "by a row": lambda np, a, b: a * b[:1],
    "by a number": lambda np, a, b: a * (1.25 - 0.75j),
    "by itself": lambda np, a, b: a * a,
    "square": lambda np, a, b: np.square(a),
    "absolute": lambda np, a, b: np.abs(a),
    "transposed": lambda np, a, b: a.T * b.T,
    "in a chain": lambda np, a, b: (a * b + b) * a,
}


def stepped(array: Any, steps: tuple[int, ...]) -> Any:
    return array[tuple(slice(None, None, step) for step in steps)]


def operands(shape: tuple[int, ...], dtype: str) -> tuple[Any, Any]:
    """Two arrays from which any steps take as many elements."""
    generator = numpy.random.default_rng(len(shape))
    double = tuple(2 * length for length in shape)
    a, b = generator.standard_normal((2, 2, *double))
    return tuple((part[0] + 1j * part[1]).astype(dtype) for part in (a, b))  # type: ignore[return-value]


def views(arrays: tuple[Any, Any], shape: tuple[int, ...], steps: Any) -> list[Any]:
    """Views of that shape with these steps."""
    crop = tuple(slice(length) for length in shape)
    return [stepped(array, step)[crop] for array, step in zip(arrays, steps, strict=True)]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("shape", SHAPES)
def test_bits_of_every_direction(shape: tuple[int, ...], dtype: str) -> None:
    theirs = operands(shape, dtype)
    ours = tuple(dappled.array(array) for array in theirs)
    every = list(itertools.product(STEPS[: 5 - len(shape)], repeat=len(shape)))
    for steps in itertools.product(every, every):
        a, b = views(theirs, shape, steps)
        x, y = views(ours, shape, steps)
        for name, operation in OPERATIONS.items():
            wanted, found = operation(numpy, a, b), numpy.asarray(operation(dappled, x, y))
            assert found.tobytes() == wanted.tobytes(), (name, steps)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("shape", [(9000,), (6, 8), (3, 5000)])
def test_bits_in_place(shape: tuple[int, ...], dtype: str) -> None:
    every = list(itertools.product(STEPS, repeat=len(shape)))
    for steps in itertools.product(every, every):
        theirs = operands(shape, dtype)
        ours = tuple(dappled.array(array) for array in theirs)
        for arrays in (theirs, ours):
            a, b = views(arrays, shape, steps)
            a *= b
        assert numpy.asarray(ours[0]).tobytes() == theirs[0].tobytes(), steps


WRITTEN: dict[str, Callable[..., Any]] = {
    "absolute": lambda np, a, out: np.abs(a, out=out),
    "absolute, by NumPy": lambda np, a, out: numpy.absolute(a, out=out),
    "multiply": lambda np, a, out: np.multiply(a, a, out),
    "square": lambda np, a, out: np.square(a, out=(out,)),
}


def written(np: Any, name: str, values: Any, shape: tuple[int, ...], steps: Any) -> bytes:
    """The array after a result was written into a part of it."""
    dtype = abs(values).dtype if name.startswith("absolute") else values.dtype
    out = np.zeros(values.shape, dtype)
    a, part = views((np.array(values), out), shape, steps)
    WRITTEN[name](np, a, part)
    return bytes(numpy.asarray(out).tobytes())


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("shape", [(9000,), (6, 8), (3, 5000)])
def test_bits_written_in_every_direction(shape: tuple[int, ...], dtype: str) -> None:
    values, _ = operands(shape, dtype)
    every = list(itertools.product(STEPS, repeat=len(shape)))
    for steps, name in itertools.product(itertools.product(every, every), WRITTEN):
        theirs, ours = (written(np, name, values, shape, steps) for np in (numpy, dappled))
        assert ours == theirs, (name, steps)
