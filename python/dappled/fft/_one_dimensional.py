"""One-dimensional transforms of a distributed line.

The line is transformed as a matrix (four-step algorithm), real values with half of the work. A
length without a suitable matrix, a prime for example, uses Bluestein's algorithm (1970).
"""

from __future__ import annotations

import math
from typing import Any

import numpy

from dappled._ndarray.core import core, empty, ufuncs
from dappled._routines._distributed import row_blocks
from dappled.fft._four_step import LineMatrix
from dappled.fft._local import Step, step_dtypes, transformed_shape


def transform_lines(array: Any, step: Step) -> Any:
    """Transforms along an axis line by line: for few long lines."""
    if array.ndim == 1:
        return row_blocks.to_default_layout(_transform_line(array, step))
    last = numpy.moveaxis(array, step.axis, -1)
    lines = last.reshape(-1, last.shape[-1])
    result = empty((lines.shape[0], step.output_length), step_dtypes(step, array.dtype)[1])
    for index in range(lines.shape[0]):
        result[index] = _transform_line(lines[index], step)
    shape = transformed_shape(array.shape, step)
    after = (*shape[: step.axis], *shape[step.axis + 1 :], step.output_length)
    return numpy.moveaxis(result.reshape(after), -1, step.axis).copy()


def _transform_line(values: Any, step: Step) -> Any:
    """Transforms one line, truncated or zero-padded to its length."""
    taken, result = step_dtypes(step, values.dtype)
    if step.what == "real":
        values = _full_spectrum(values.astype(taken), step.length)
    fitted = _resize_line(values, step.length, taken)
    if step.what == "half" and step.forward and _row_count(step.length) >= max(2, core.ranks()):
        return _half_spectrum(fitted, step.scale)
    spectrum = _complex_transform(fitted, step.forward, step.scale)
    if step.what == "real":
        return spectrum.real.astype(result)
    return spectrum[: step.output_length].astype(result)


def _resize_line(values: Any, length: int, dtype: Any) -> Any:
    """A line truncated or zero-padded."""
    if values.shape[0] == length:
        return values.astype(dtype, copy=False)
    if values.shape[0] > length:
        return values[:length].astype(dtype)
    result = empty((length,), dtype)
    result[: values.shape[0]] = values
    return result


def _full_spectrum(half: Any, length: int) -> Any:
    """The full spectrum of real values from its half; imaginary parts at its ends are ignored."""
    half = _resize_line(half, length // 2 + 1, half.dtype)
    half.imag[:1] = 0
    if length % 2 == 0:
        half.imag[-1:] = 0
    result = empty((length,), half.dtype)
    result[: length // 2 + 1] = half
    result[length // 2 + 1 :] = ufuncs["conjugate"](half[1 : (length + 1) // 2][::-1])
    return result


def _complex_transform(values: Any, forward: bool, scale: float) -> Any:
    length = values.shape[0]
    rows = _row_count(length)
    # A small length has no matrix with a row for every rank.
    if rows < core.ranks() and length > 4 * core.ranks() ** 2:
        return _bluestein(values, forward, scale)
    return LineMatrix(rows, length // rows, rows, length).spectrum(values, forward, scale)


def _half_spectrum(values: Any, scale: float) -> Any:
    """The first half of the spectrum of real values, with half of the work.

    Half of the spectrum of the real columns is enough; rows then contain elements of both halves,
    and mirrored ones are conjugates.
    """
    length = values.shape[0]
    rows = _row_count(length)
    # Real columns of even length take half of the time.
    rows = length // rows if rows % 2 else rows
    matrix = LineMatrix(rows, length // rows, rows // 2 + 1, length // 2 + 1)
    return matrix.spectrum(values, True, scale)


def _row_count(length: int) -> int:
    """The largest divisor up to the square root; preferably one that, as its cofactor, is divisible
    by 8.
    """
    root = math.isqrt(length)
    sizes = [size for size in range(root, 0, -1) if length % size == 0]
    least = max(root // 4, core.ranks())
    even = (s for s in sizes if s >= least and s % 8 == 0 and length // s % 8 == 0)
    return next(even, sizes[0])


def _bluestein(values: Any, forward: bool, scale: float) -> Any:
    length = values.shape[0]
    longer = 1 << (2 * length - 2).bit_length()
    chirp = _chirp(length, forward)
    back = ufuncs["conjugate"](chirp)
    one, other = empty((longer,), "c16"), empty((longer,), "c16")
    one[:length] = values * chirp
    other[:length] = back
    other[longer - length + 1 :] = back[1:][::-1]
    product = _complex_transform(one, True, 1.0) * _complex_transform(other, True, 1.0)
    result = _complex_transform(product, False, scale / longer)[:length] * chirp
    return result.astype(numpy.result_type(values.dtype, 1j))


def _chirp(length: int, forward: bool) -> Any:
    """The chirp of Bluestein's algorithm; each rank computes its piece."""
    distribution = core.placed("b", (length,))
    count = distribution.local_shape(core.rank())[0]
    first = distribution.global_index(core.rank(), (0,))[0] if count else 0
    positions = numpy.arange(first, first + count)
    turns = positions * positions % (2 * length) / length
    piece = numpy.exp((-1j if forward else 1j) * numpy.pi * turns)
    return core.from_piece(distribution, piece, True)
