"""The Fourier transform of a line that is in pieces: no rank has the whole of it.

The line is a matrix, row by row. Its columns are transformed, each element is multiplied by a root
of unity, then its rows are transformed; what comes out lies column by column (Bailey, 1990). Each
time the matrix is moved so that lines are whole. Of real values half as much is done. A length
without such a matrix, a prime for example, is done by the convolution of a longer one (Bluestein,
1970).
"""

from __future__ import annotations

import math
from typing import Any

import numpy

from dappled._array import core, empty, ufuncs
from dappled._fourier import Step, dtypes, resized
from dappled._threads import scratch


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
    fitted = _fitted(values, step.length, taken)
    if step.what == "half" and step.forward and _rows(step.length) >= max(2, core.ranks()):
        return _half(fitted, step.scale)
    spectrum = _complex(fitted, step.forward, step.scale)
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
    piece = scratch(source.shape, kind)
    if piece.size:
        core.fourier(source, piece, 0, rows, forward, 1.0)
        first = lies.global_index(core.rank(), (0, 0))
        core.twisted(piece, first, length, forward)
    turned = core.from_piece(lies, piece, True).redistribute("bn")
    lies, piece = turned.distribution, numpy.ascontiguousarray(turned.local)
    made = scratch(piece.shape, kind)
    if made.size:
        core.fourier(piece, made, 1, length // rows, forward, scale)
    return core.from_piece(lies, made, True).T.reshape(-1, copy=True)


def _half(values: Any, scale: float) -> Any:
    """The first half of the spectrum of real values, by half of the work. Of the columns, which are
    real, half of a spectrum is enough; then each row has elements of the half that is wanted and of
    the other one, of which those in the mirror are the conjugates.
    """
    length = values.shape[0]
    rows = _rows(length)
    columns, some, wanted = length // rows, rows // 2 + 1, length // 2 + 1
    lines = -(-wanted // rows)
    made = _rows_of_half(values.reshape(rows, columns), some, scale)
    lies = core.placed("bn", (some, lines))
    there = core.from_piece(lies, made[:, :lines].copy(), True)
    mirrored = core.from_piece(lies, numpy.conj(made[:, ::-1][:, :lines]).copy(), True)
    out = empty((lines, rows), made.dtype)
    out[:, :some] = there.T
    out[:, some:] = mirrored[1 : rows - some + 1][::-1].T
    return out.reshape(-1)[:wanted].copy()


def _rows_of_half(matrix: Any, some: int, scale: float) -> Any:
    """This rank's rows, whole, of which the first so many are made."""
    rows, columns = matrix.shape
    source = matrix.redistribute("nb")
    first = source.distribution.global_index(core.rank(), (0, 0)) if source.local.size else (0, 0)
    memory = numpy.ascontiguousarray(source.local)
    piece = scratch((some, memory.shape[1]), numpy.result_type(memory.dtype, 1j))
    if piece.size:
        core.fourier(memory, piece, 0, rows, True, 1.0)
        core.twisted(piece, first, rows * columns, True)
    turned = core.from_piece(core.placed("nb", (some, columns)), piece, True).redistribute("bn")
    whole = numpy.ascontiguousarray(turned.local)
    made = scratch(whole.shape, piece.dtype)
    if made.size:
        core.fourier(whole, made, 1, columns, True, scale)
    return made


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
