"""Fused pair expressions, sums along short axes, and overlapping writes.

All with NumPy's bits, and twice: what was computed as a part of something else is needed again.
"""

import dappled
import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

LENGTHS = st.integers(1, 40)
SHORT = st.integers(1, 9)


def _points(count, axes, dtype, np):
    """Numbers of all sizes, zeros of both signs among them."""
    generator = numpy.random.default_rng(count * 10 + axes)
    values = generator.normal(size=(count, axes)) * 10.0 ** generator.integers(-3, 4, (count, axes))
    values[generator.random((count, axes)) < 0.2] = -0.0
    return np.asarray(values.astype(dtype))


def _forces(np, points):
    apart = points[None, :, :] - points[:, None, :]
    distance2 = (apart * apart).sum(axis=2) + 0.01
    total = (apart / (distance2 * np.sqrt(distance2))[:, :, None]).sum(axis=1)
    return total, distance2, apart.sum(axis=-1), apart.sum(axis=2, keepdims=True), apart.sum()


def _along_each(np, points):
    pairs = points[:, None, :] * points[None, :, :]
    return [pairs.sum(axis=axis) for axis in (0, 1, 2, (0, 1), (1, 2))] + [pairs.T.sum(axis=0)]


def _zeros(np, points):
    return ((points * -0.0)[:, None, :] + (points * -0.0)[None]).sum(axis=2)


def _same(theirs, ours):
    theirs, ours = numpy.asarray(theirs), numpy.asarray(ours)
    assert theirs.dtype == ours.dtype and theirs.shape == ours.shape
    assert theirs.strides == ours.strides
    assert theirs.tobytes() == ours.tobytes()


@pytest.mark.parametrize("program", [_forces, _along_each, _zeros])
@settings(max_examples=25, deadline=None)
@given(count=LENGTHS, axes=SHORT, dtype=st.sampled_from("dfil"))
def test_pairs(program, count, axes, dtype):
    both = [program(np, _points(count, axes, dtype, np)) for np in (numpy, dappled)]
    for theirs, ours in zip(*both, strict=True):
        _same(theirs, ours)


def test_many_pairs():
    """Enough for all that is done for large arrays."""
    both = [_forces(np, _points(300, 3, "d", np)) for np in (numpy, dappled)]
    for theirs, ours in zip(*both, strict=True):
        _same(theirs, ours)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_sum_warns_as_numpy_does():
    points = numpy.full((200, 3), 4e307)
    with pytest.warns(RuntimeWarning, match="overflow encountered in reduce"):
        total = (dappled.asarray(points)[None] + points[:, None]).sum(axis=2)
        numpy.asarray(total)
    with numpy.errstate(all="raise"), pytest.raises(FloatingPointError, match="in reduce"):
        (dappled.asarray(points)[None] + points[:, None]).sum(axis=2)


def _relaxed(np, u, kept):
    for _ in range(3):
        new = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
        u[1:-1, 1:-1] = new
        kept.append(new if len(kept) % 2 else new * 2)
        u[1:] = u[:-1]
        u[:, :-3] = u[:, 3:] - u[:, :-3]
    return [u, *kept]


@pytest.mark.parametrize("shape", [(5, 6), (40, 7), (400, 300)])
def test_writes_over_what_they_read(shape):
    """A held expression keeps its values when an operand is overwritten."""
    both = []
    for np in (numpy, dappled):
        u = np.array(numpy.random.default_rng(1).random(shape))
        both.append(_relaxed(np, u, []))
    for theirs, ours in zip(*both, strict=True):
        _same(theirs, ours)


@pytest.mark.parametrize("dtype", "fd")
@pytest.mark.parametrize("count", [5, 40_000])
def test_products_of_vectors(dtype, count):
    """Equal to rounding: NumPy's are BLAS's."""
    a, b = (numpy.random.default_rng(at).random((2, count)).astype(dtype) for at in (1, 2))
    x, y = dappled.asarray(a), dappled.asarray(b)
    bound = 1e-12 if dtype == "d" else 1e-4
    for theirs, ours in [
        (numpy.dot(a[0], b[0]), dappled.dot(x[0], y[0])),
        (numpy.dot((a - b).flat, (a - b).flat), dappled.dot((x - y).flat, (x - y).flat)),
        (numpy.dot(a.flat, b[1].repeat(2)), dappled.dot(x.flat, y[1].repeat(2))),
        (numpy.dot(a[0], a.T[:, 0]), dappled.dot(x[0], x.T[:, 0])),
    ]:
        assert type(ours) is type(theirs)
        assert abs(ours - theirs) <= bound * abs(theirs)
