"""A counter-based generator: each number depends on the seed and its index alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from dappled._dispatch.fallback import with_numpy_metadata
from dappled._ndarray.core import core

_SEED_WORDS = 3  # 32-bit words of the seed


class ParallelGenerator:
    """Random arrays drawn by all threads and ranks at once.

    `dappled.random.default_rng(seed, parallel=True)` makes one. With the same seed and the same
    calls it gives the same numbers on any number of ranks and threads; they are not NumPy's.
    Each element is made by Philox from the seed and its place alone.

    >>> import dappled as np
    >>> rng = np.random.default_rng(7, parallel=True)
    >>> rng.integers(10, size=5)
    array([7, 5, 4, 9, 7])
    >>> bool(abs(rng.normal(size=1_000_000).mean()) < 0.01)
    True
    """

    def __init__(self, seed: Any = None) -> None:
        sequence = numpy.random.SeedSequence(seed)
        self._seed = [int(word) for word in sequence.generate_state(_SEED_WORDS)]
        self._next = 0

    def __repr__(self) -> str:
        return f"ParallelGenerator(Philox) at draw {self._next:,}"

    def random(self, size: Any = None, dtype: Any = numpy.float64) -> Any:
        """Floats from 0 up to, and without, 1; float64 or float32."""
        kinds = {numpy.float64: "uniform", numpy.float32: "uniform32"}
        if (kind := kinds.get(numpy.dtype(dtype).type)) is None:
            raise TypeError(f"Unsupported dtype {numpy.dtype(dtype)!r} for random")
        return self._drawn(kind, size)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Floats from `low` up to `high`."""
        span = numpy.subtract(high, low, dtype=numpy.float64)
        _check_finite("high - low", span)
        return self._scaled("uniform", size, low, span)

    def standard_normal(self, size: Any = None, dtype: Any = numpy.float64) -> Any:
        """The normal distribution of mean 0 and variance 1."""
        return _as(self._drawn("normal", size), dtype, "standard_normal")

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """The normal distribution of a mean and a standard deviation."""
        _check_not_negative("scale", scale)
        return self._scaled("normal", size, loc, scale)

    def standard_exponential(self, size: Any = None, dtype: Any = numpy.float64) -> Any:
        """The exponential distribution of mean 1."""
        return _as(self._drawn("exponential", size), dtype, "standard_exponential")

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        """The exponential distribution of a mean."""
        _check_not_negative("scale", scale)
        return self._scaled("exponential", size, 0.0, scale)

    def integers(
        self,
        low: int,
        high: int | None = None,
        size: Any = None,
        dtype: Any = numpy.int64,
        endpoint: bool = False,
    ) -> Any:
        """Integers from `low` up to `high`, which is left out unless `endpoint`."""
        low, high = (0, low) if high is None else (low, high)
        dtype, last = numpy.dtype(dtype), int(high) - (not endpoint)
        if dtype.kind not in "iub":
            raise TypeError(f"Unsupported dtype {dtype!r} for integers")
        _check_bounds(int(low), last, dtype)
        signed = (int(low) + 2**63) % 2**64 - 2**63
        bounds = (signed, (last - int(low) + 1) % 2**64)
        drawn = self._drawn("integers", size, bounds=bounds)
        return drawn.astype(dtype)

    def permutation(self, x: Any, axis: int = 0) -> Any:
        """A shuffled copy, or the numbers below `x` in a random order."""
        import dappled

        if isinstance(x, int | numpy.integer):
            return self._order(int(x))
        array = dappled.asarray(x)
        return dappled.take(array, self._order(array.shape[axis]), axis=axis)

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Shuffles an array along an axis, in place."""
        x[...] = self.permutation(x, axis)

    def _order(self, length: int) -> Any:
        # By the order of random integers, the same however they are sorted.
        return self._drawn("integers", length).argsort(kind="stable")

    def _scaled(self, what: str, size: Any, offset: Any, slope: Any) -> Any:
        if numpy.ndim(offset) == numpy.ndim(slope) == 0:
            return self._drawn(what, size, line=(float(offset), float(slope)))
        return offset + slope * self._drawn(what, _draw_shape(size, offset, slope))

    def _drawn(self, what: str, size: Any, **how: Any) -> Any:
        shape = () if size is None else tuple(size) if numpy.iterable(size) else (size,)
        if any(length < 0 for length in shape):
            raise ValueError("negative dimensions are not allowed")
        drawn = core.random(what, self._seed, self._next, shape, **how)
        self._next += math.prod(shape)
        return drawn[()] if size is None else drawn


def with_parallel_option(default_rng: Callable[..., Any]) -> Callable[..., Any]:
    """`default_rng` with the option `parallel=True`, which makes a `ParallelGenerator`."""

    def call(*args: Any, parallel: bool = False, **kwargs: Any) -> Any:
        return (ParallelGenerator if parallel else default_rng)(*args, **kwargs)

    return with_numpy_metadata(call, default_rng, default_rng.__module__)


def _draw_shape(size: Any, *parameters: Any) -> Any:
    """The shape of the draws: the requested one, or that of the parameters."""
    shape = numpy.broadcast_shapes(*(numpy.shape(each) for each in parameters))
    if size is None:
        return shape or None
    asked = tuple(size) if numpy.iterable(size) else (size,)
    if numpy.broadcast_shapes(asked, shape) != asked:
        raise ValueError(f"Output size {asked} is not compatible with broadcast dimensions {shape}")
    return asked


def _check_finite(name: str, value: Any) -> None:
    if not bool(numpy.all(numpy.isfinite(value))):
        raise OverflowError(f"{name} range exceeds valid bounds")


def _check_not_negative(name: str, value: Any) -> None:
    if bool(numpy.any(numpy.signbit(value))):
        raise ValueError(f"{name} < 0")


def _as(drawn: Any, dtype: Any, what: str) -> Any:
    if numpy.dtype(dtype) not in (numpy.float64, numpy.float32):
        raise TypeError(f"Unsupported dtype {numpy.dtype(dtype)!r} for {what}")
    return drawn.astype(dtype)


def _check_bounds(low: int, last: int, dtype: Any) -> None:
    least, most = (0, 1) if dtype.kind == "b" else (numpy.iinfo(dtype).min, numpy.iinfo(dtype).max)
    if low < least:
        raise ValueError(f"low is out of bounds for {dtype}")
    if last > most:
        raise ValueError(f"high is out of bounds for {dtype}")
    if last < low:
        raise ValueError("low >= high")
