"""Fourier transforms along axes of NumPy's arrays, one after the other, on all threads.

Many lines are shared among threads, each of which has NumPy transform its part: these are NumPy's
bits. A few long lines are cut into many short ones by the core.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

from dappled._array import core
from dappled._order import strides_of
from dappled._threads import LARGE, each, scratch, shares, threads

# From these lengths on the core is sooner done: with fewer lines than threads, and always.
_LONG, _VERY_LONG = 1 << 17, 1 << 18
_FUNCTIONS = {
    ("complex", True): numpy.fft.fft,
    ("complex", False): numpy.fft.ifft,
    ("half", True): numpy.fft.rfft,
    ("real", False): numpy.fft.irfft,
}


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
    norm: str

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
    strides = strides_of(array)
    order = sorted(axes, key=lambda axis: -abs(strides[axis]))
    if order != axes:
        turned = [step._replace(axis=order.index(step.axis)) for step in steps]
        return transformed(array.transpose(order), turned).transpose(
            [order.index(axis) for axis in axes]
        )
    for step in steps:
        array = (_by_core if _is_long(array, step) else _by_numpy)(array, step)
    return array


def _is_long(array: Any, step: Step) -> bool:
    lines = array.size // max(array.shape[step.axis], 1)
    return step.length >= _VERY_LONG or (lines < threads() and step.length >= _LONG)


def _by_core(array: Any, step: Step) -> Any:
    taken, made = dtypes(step, array.dtype)
    source = numpy.ascontiguousarray(array, taken)
    target = scratch(resized(source.shape, step), made)
    if target.size:
        core.fourier(source, target, step.axis, step.length, step.forward, step.scale)
    return target


def _by_numpy(array: Any, step: Step) -> Any:
    transform: Any = _FUNCTIONS[step.what, step.forward]
    target = scratch(resized(array.shape, step), dtypes(step, array.dtype)[1])

    def act(part: tuple[Any, ...]) -> None:
        transform(array[part], step.length, step.axis, step.norm, target[part])

    each(act, _parts(array.shape, step.axis) if array.size >= LARGE else [()])
    return target


def _parts(shape: tuple[int, ...], axis: int) -> list[tuple[Any, ...]]:
    """Keys of the parts of an array for all threads: cut along its longest other axis."""
    others = [other for other in range(len(shape)) if other != axis]
    if not others:
        return [()]
    cut = max(others, key=lambda other: shape[other])
    return [(*(slice(None),) * cut, share) for share in shares(shape[cut])]
