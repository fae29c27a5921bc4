"""Transforms along axes of NumPy arrays, on all threads.

Threads divide many lines and transform them with NumPy, bit by bit as NumPy does. The core divides
few long lines into many short ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

from dappled._ndarray.core import core
from dappled._ndarray.memory_order import strides_of
from dappled._routines._distributed.threads import (
    MIN_PARALLEL_ELEMENTS,
    map_threads,
    scratch,
    thread_count,
    thread_slices,
)

# Lengths from which the core is faster: with fewer lines than threads, and always.
_MIN_LONG_LINE, _MIN_VERY_LONG_LINE = 1 << 17, 1 << 18
_FUNCTIONS = {
    ("complex", True): numpy.fft.fft,
    ("complex", False): numpy.fft.ifft,
    ("half", True): numpy.fft.rfft,
    ("real", False): numpy.fft.irfft,
}


class Step(NamedTuple):
    """A transform along one axis.

    `what` is "complex", "half" (real input, half spectrum) or "real" (half spectrum, real output).
    """

    axis: int
    length: int
    what: str
    forward: bool
    scale: float
    norm: str

    @property
    def output_length(self) -> int:
        """The length of the axis after the transform."""
        return self.length // 2 + 1 if self.what == "half" else self.length


def step_dtypes(step: Step, dtype: numpy.dtype[Any]) -> tuple[Any, Any]:
    """The dtypes of input and output."""
    real = numpy.dtype("f4" if dtype.char in "efF" else "f8")
    spectrum = numpy.result_type(real, 1j)
    if step.what == "complex":
        return (spectrum if dtype.kind == "c" else real), spectrum
    return (real, spectrum) if step.what == "half" else (spectrum, real)


def transformed_shape(shape: tuple[int, ...], step: Step) -> tuple[int, ...]:
    """The shape after a step."""
    return (*shape[: step.axis], step.output_length, *shape[step.axis + 1 :])


def transform(array: Any, steps: list[Step]) -> Any:
    """A new NumPy array, in the memory order of NumPy's result."""
    axes = list(range(array.ndim))
    strides = strides_of(array)
    order = sorted(axes, key=lambda axis: -abs(strides[axis]))
    if order != axes:
        transposed = [step._replace(axis=order.index(step.axis)) for step in steps]
        return transform(array.transpose(order), transposed).transpose(
            [order.index(axis) for axis in axes]
        )
    for step in steps:
        array = (_by_core if _is_long(array, step) else _by_numpy)(array, step)
    return array


def _is_long(array: Any, step: Step) -> bool:
    lines = array.size // max(array.shape[step.axis], 1)
    return step.length >= _MIN_VERY_LONG_LINE or (
        lines < thread_count() and step.length >= _MIN_LONG_LINE
    )


def _by_core(array: Any, step: Step) -> Any:
    taken, result = step_dtypes(step, array.dtype)
    source = numpy.ascontiguousarray(array, taken)
    target = scratch(transformed_shape(source.shape, step), result)
    if target.size:
        core.fft(source, target, step.axis, step.length, step.forward, step.scale)
    return target


def _by_numpy(array: Any, step: Step) -> Any:
    transform: Any = _FUNCTIONS[step.what, step.forward]
    target = scratch(transformed_shape(array.shape, step), step_dtypes(step, array.dtype)[1])

    def act(part: tuple[Any, ...]) -> None:
        transform(array[part], step.length, step.axis, step.norm, target[part])

    map_threads(
        act, _thread_keys(array.shape, step.axis) if array.size >= MIN_PARALLEL_ELEMENTS else [()]
    )
    return target


def _thread_keys(shape: tuple[int, ...], axis: int) -> list[tuple[Any, ...]]:
    """Keys of the slices for all threads, along the longest other axis."""
    others = [other for other in range(len(shape)) if other != axis]
    if not others:
        return [()]
    cut = max(others, key=lambda other: shape[other])
    return [(*(slice(None),) * cut, share) for share in thread_slices(shape[cut])]
