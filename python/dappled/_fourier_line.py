"""The Fourier transform of a line that is in pieces: no rank has the whole of it.

The line is a matrix, row by row. Its columns are transformed, each element is multiplied by a root
of unity, then its rows are transformed; what comes out lies column by column (Bailey, 1990). Each
time the matrix is moved so that lines are whole. A length without such a matrix, a prime for
example, is done by the convolution of a longer one (Bluestein, 1970).
"""

from __future__ import annotations

import math
from typing import Any

import numpy

from dappled._array import core, empty, ufuncs
from dappled._fourier import Step, dtypes, resized


def by_lines(array: Any, step: Step) -> Any:
    """Line by line along an axis: for few long ones."""
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
    spectrum = _complex(_fitted(values, step.length, taken), step.forward, step.scale)
    if step.what == "real":
        return spectrum.real.astype(made)
    return spectrum[: step.made].astype(made)


def _fitted(values: Any, length: int, dtype: Any) -> Any:
    """Cut, or with zeros at the end."""
    if values.shape[0] >= length:
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
    rows = _rows(length)
    # Two of a small length are no matrix of which every rank has a row.
    if rows < core.ranks() and length > 4 * core.ranks() ** 2:
        return _by_convolution(values, forward, scale)
    spectrum = numpy.result_type(values.dtype, 1j)
    kind = numpy.dtype(spectrum)
    matrix = values.reshape(rows, length // rows).redistribute("nb")
    lies, source = matrix.distribution, numpy.ascontiguousarray(matrix.local)
    piece = numpy.empty(source.shape, kind)
    if piece.size:
        core.fourier(source, piece, 0, rows, forward, 1.0)
        first = lies.global_index(core.rank(), (0, 0))
        core.twisted(piece, first, length, forward)
    turned = core.from_piece(lies, piece, True).redistribute("bn")
    lies, piece = turned.distribution, numpy.ascontiguousarray(turned.local)
    made = numpy.empty(piece.shape, kind)
    if made.size:
        core.fourier(piece, made, 1, length // rows, forward, scale)
    return core.from_piece(lies, made, True).T.reshape(-1, copy=True)


def _rows(length: int) -> int:
    """The largest divisor that is not above the square root."""
    return next(size for size in range(math.isqrt(length), 0, -1) if length % size == 0)


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
