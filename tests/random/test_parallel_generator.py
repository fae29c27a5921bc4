"""The parallel generator: distributions, bounds, errors, and draws of any size."""

import dappled as np
import numpy
import pytest

DRAWS = {
    "random": lambda rng, size: rng.random(size),
    "random float32": lambda rng, size: rng.random(size, dtype=np.float32),
    "uniform": lambda rng, size: rng.uniform(-2, 3, size),
    "normal": lambda rng, size: rng.normal(1, 2, size),
    "standard_normal float32": lambda rng, size: rng.standard_normal(size, np.float32),
    "exponential": lambda rng, size: rng.exponential(3, size),
    "integers": lambda rng, size: rng.integers(-5, 17, size),
    "integers uint8": lambda rng, size: rng.integers(0, 255, size, np.uint8, endpoint=True),
    "integers uint64": lambda rng, size: rng.integers(2**63, 2**64, size, np.uint64),
}
# Mean and variance of each.
MOMENTS = {
    "random": (0.5, 1 / 12),
    "random float32": (0.5, 1 / 12),
    "uniform": (0.5, 25 / 12),
    "normal": (1, 4),
    "standard_normal float32": (0, 1),
    "exponential": (3, 9),
    "integers": (5.5, (22**2 - 1) / 12),
    "integers uint8": (127.5, (256**2 - 1) / 12),
    "integers uint64": (2**63 + 2**62, 2.0**126 / 12),
}


def generator(seed=5):
    return np.random.default_rng(seed, parallel=True)


@pytest.mark.parametrize("name", DRAWS)
def test_mean_variance_and_dtype(name):
    values = numpy.asarray(DRAWS[name](generator(), 200_000)).astype(float)
    mean, variance = MOMENTS[name]
    assert abs(values.mean() - mean) < 5 * (variance / 200_000) ** 0.5
    assert abs(values.var() / variance - 1) < 0.02
    asked = name.rpartition(" ")[2]
    found = DRAWS[name](generator(), 3).dtype
    assert found == (asked if " " in name else "int64" if name == "integers" else "float64")


@pytest.mark.parametrize("name", DRAWS)
def test_draws_do_not_depend_on_chunks(name):
    at_once = DRAWS[name](generator(), 1000)
    rng = generator()
    parts = [DRAWS[name](rng, size) for size in (1, 6, 0, 493, 500)]
    assert numpy.array_equal(at_once, np.concatenate(parts))
    assert numpy.array_equal(at_once.reshape(10, 4, 25), DRAWS[name](generator(), (10, 4, 25)))
    assert not numpy.array_equal(at_once, DRAWS[name](generator(6), 1000))


def test_scalars_and_parameters_that_are_arrays():
    rng = generator()
    assert isinstance(rng.random(), float) and isinstance(rng.normal(), float)
    assert isinstance(rng.integers(3), numpy.int64)
    means = np.array([0.0, 1e6])
    assert numpy.array_equal(numpy.asarray(rng.normal(means, size=(50, 2)) > 5e5)[0], [False, True])
    assert rng.exponential(np.ones((3, 1))).shape == (3, 1)


LINES = {
    "uniform": lambda rng, low, high: rng.uniform(low, high, (40, 2)),
    "normal": lambda rng, mean, scale: rng.normal(mean, scale, (40, 2)),
    "exponential": lambda rng, _, scale: rng.exponential(scale, (40, 2)),
}


@pytest.mark.parametrize("name", LINES)
def test_a_parameter_or_an_array_of_it(name):
    for first, second in [(0, 1), (-2.5, 0.1), (numpy.uint8(1), numpy.float32(3)), (1e300, 1e300)]:
        one = LINES[name](generator(), first, second)
        many = LINES[name](generator(), np.array([first] * 2), np.array([second] * 2))
        assert numpy.array_equal(one, many)


def test_permutation_and_shuffle():
    order = generator().permutation(1000)
    assert numpy.array_equal(np.sort(order), numpy.arange(1000))
    assert not numpy.array_equal(order, numpy.arange(1000))
    rows = np.arange(30).reshape(10, 3)
    mixed = generator().permutation(rows)
    assert numpy.array_equal(mixed[np.argsort(mixed[:, 0])], rows)
    generator().shuffle(rows)
    assert numpy.array_equal(rows, mixed)


WRONG = [
    (lambda rng: rng.normal(scale=-1), ValueError, "scale < 0"),
    (lambda rng: rng.integers(3, 3), ValueError, "low >= high"),
    (lambda rng: rng.integers(-1, 3, dtype=np.uint8), ValueError, "low is out of bounds"),
    (lambda rng: rng.integers(0, 300, dtype=np.uint8), ValueError, "high is out of bounds"),
    (lambda rng: rng.integers(3, dtype=float), TypeError, "Unsupported dtype"),
    (lambda rng: rng.random(3, dtype=int), TypeError, "Unsupported dtype"),
    (lambda rng: rng.random(-3), ValueError, "negative dimensions"),
    (lambda rng: rng.uniform(0, numpy.inf), OverflowError, "range exceeds valid bounds"),
    (lambda rng: rng.normal(numpy.zeros(3), size=2), ValueError, "broadcast"),
]


@pytest.mark.parametrize(("act", "error", "text"), WRONG)
def test_errors_have_numpys_text(act, error, text):
    with pytest.raises(error, match=text):
        act(generator())
    with pytest.raises(error):
        act(numpy.random.default_rng())
