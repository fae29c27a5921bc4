"""The Fourier transform of a line that is in pieces: no rank has the whole of it.

It is transformed as a matrix. Of real values half as much is done. A length without such a matrix,
a prime for example, is done by the convolution of a longer one (Bluestein, 1970).
"""

from __future__ import annotations

import math
from typing import Any

import numpy

from dappled import _rows
from dappled._array import core, empty, ufuncs
from dappled._fourier import Step, dtypes, resized
from dappled._fourier_matrix import Matrix


def by_lines(array: Any, step: Step) -> Any:
    """Line by line along an axis: for few long ones."""
    if array.ndim == 1:
        return _rows.settled(_line(array, step))
    last = numpy.moveaxis(array, step.axis, -1)
    lines = last.reshape(-1, last.shape[-1])
    made = empty((lines.shape[0], step.made), dtypes(step, array.dtype)[1])
    for number in range(lines.shape[0]):
        made[number] = _line(lines[number], step)
    shape = resized(array.shape, step)
    after = (*shape[: step.axis], *shape[step.axis + 1 :], step.made)
    return numpy.moveaxis(made.reshape(after), -1, step.axis).copy()


def _line(values: Any, step: Step) -> Any:
    """One line, which may be shorter or longer than it should be."""
    taken, made = dtypes(step, values.dtype)
    if step.what == "real":
        values = _mirrored(values.astype(taken), step.length)
    fitted = _fitted(values, step.length, taken)
    if step.what == "half" and step.forward and _divisor(step.length) >= max(2, core.ranks()):
        return _half(fitted, step.scale)
    spectrum = _complex(fitted, step.forward, step.scale)
    if step.what == "real":
        return spectrum.real.astype(made)
    return spectrum[: step.made].astype(made)


def _fitted(values: Any, length: int, dtype: Any) -> Any:
    """Cut, or with zeros at the end."""
    if values.shape[0] == length:
        return values.astype(dtype, copy=False)
    if values.shape[0] > length:
        return values[:length].astype(dtype)
    made = empty((length,), dtype)
    made[: values.shape[0]] = values
    return made


def _mirrored(half: Any, length: int) -> Any:
    """The whole spectrum of real values; imaginary parts at the ends of a half mean nothing."""
    half = _fitted(half, length // 2 + 1, half.dtype)
    half.imag[:1] = 0
    if length % 2 == 0:
        half.imag[-1:] = 0
    made = empty((length,), half.dtype)
    made[: length // 2 + 1] = half
    made[length // 2 + 1 :] = ufuncs["conjugate"](half[1 : (length + 1) // 2][::-1])
    return made


def _complex(values: Any, forward: bool, scale: float) -> Any:
    length = values.shape[0]
    rows = _divisor(length)
    # Two of a small length are no matrix of which every rank has a row.
    if rows < core.ranks() and length > 4 * core.ranks() ** 2:
        return _by_convolution(values, forward, scale)
    return Matrix(rows, length // rows, rows, length).spectrum(values, forward, scale)


def _half(values: Any, scale: float) -> Any:
    """The first half of the spectrum of real values, by half of the work. Of the columns, which are
    real, half of a spectrum is enough; then each row has elements of the half that is wanted and of
    the other one, of which those in the mirror are the conjugates.
    """
    length = values.shape[0]
    rows = _divisor(length)
    # Real columns of even length are done in half of the time.
    rows = length // rows if rows % 2 else rows
    matrix = Matrix(rows, length // rows, rows // 2 + 1, length // 2 + 1)
    return matrix.spectrum(values, True, scale)


def _divisor(length: int) -> int:
    """The largest one that is not above the square root; rather one not much smaller that is, as
    what it leaves, a multiple of 8: such transforms are the fastest.
    """
    root = math.isqrt(length)
    sizes = [size for size in range(root, 0, -1) if length % size == 0]
    least = max(root // 4, core.ranks())
    even = (s for s in sizes if s >= least and s % 8 == 0 and length // s % 8 == 0)
    return next(even, sizes[0])


def _by_convolution(values: Any, forward: bool, scale: float) -> Any:
    length = values.shape[0]
    longer = 1 << (2 * length - 2).bit_length()
    chirp = _chirp(length, forward)
    back = ufuncs["conjugate"](chirp)
    one, other = empty((longer,), "c16"), empty((longer,), "c16")
    one[:length] = values * chirp
    other[:length] = back
    other[longer - length + 1 :] = back[1:][::-1]
    product = _complex(one, True, 1.0) * _complex(other, True, 1.0)
    found = _complex(product, False, scale / longer)[:length] * chirp
    return found.astype(numpy.result_type(values.dtype, 1j))


def _chirp(length: int, forward: bool) -> Any:
    """The roots of unity of twice the order to the power of squares; each rank makes its own."""
    lies = core.placed("b", (length,))
    count = lies.local_shape(core.rank())[0]
    first = lies.global_index(core.rank(), (0,))[0] if count else 0
    places = numpy.arange(first, first + count)
    turns = places * places % (2 * length) / length
    piece = numpy.exp((-1j if forward else 1j) * numpy.pi * turns)
    return core.from_piece(lies, piece, True)
