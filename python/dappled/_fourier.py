"""Fourier transforms along axes of NumPy's arrays, one after the other, on all threads."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

from dappled._array import core


class Step(NamedTuple):
    """A transform along one axis.

    `what` is "complex", "half" (from real values to the first half of their spectrum) or "real"
    (from there).
    """

    axis: int
    length: int
    what: str
    forward: bool
    scale: float

    @property
    def made(self) -> int:
        """How long the axis is afterwards."""
        return self.length // 2 + 1 if self.what == "half" else self.length


def dtypes(step: Step, dtype: numpy.dtype[Any]) -> tuple[Any, Any]:
    """Of what is transformed, and of the result."""
    real = numpy.dtype("f4" if dtype.char in "efF" else "f8")
    spectrum = numpy.result_type(real, 1j)
    if step.what == "complex":
        return (spectrum if dtype.kind == "c" else real), spectrum
    return (real, spectrum) if step.what == "half" else (spectrum, real)


def resized(shape: tuple[int, ...], step: Step) -> tuple[int, ...]:
    """The shape after a step."""
    return (*shape[: step.axis], step.made, *shape[step.axis + 1 :])


def transformed(array: Any, steps: list[Step]) -> Any:
    """A new array of NumPy's, in the order of memory that NumPy's own would have."""
    axes = list(range(array.ndim))
    order = sorted(axes, key=lambda axis: -abs(array.strides[axis]))
    if order != axes:
        turned = [step._replace(axis=order.index(step.axis)) for step in steps]
        return transformed(array.transpose(order), turned).transpose(
            [order.index(axis) for axis in axes]
        )
    fresh = False
    for step in steps:
        array, fresh = _one(array, step, fresh), True
    return array


def _one(array: Any, step: Step, fresh: bool) -> Any:
    taken, made = dtypes(step, array.dtype)
    source = numpy.ascontiguousarray(array, taken)
    shape = resized(source.shape, step)
    fits = taken == made and shape == source.shape
    target = source if fits and (fresh or source is not array) else numpy.empty(shape, made)
    if target.size:
        core.fourier(source, target, step.axis, step.length, step.forward, step.scale)
    return target
