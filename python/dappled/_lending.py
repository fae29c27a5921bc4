"""Copies of arrays in pieces that others are given, and what becomes of what they write there.

To write into what a library was given (SciPy's `output=`) is to write into the array, and a copy
would lose it. So a library may write its copy, and what it has written goes into the array when the
function that the program called returns, or when nobody holds the copy any more. A masked array
has its copy for itself. All others may read theirs only: NumPy then says so, where it would be
lost.
"""

from __future__ import annotations

import weakref
import zlib
from typing import Any

import numpy

from dappled._foreign import is_for_masked, library_frame

# No name of a variable: nobody but us finds it among those of a function.
_HERE = "lent by dappled"


def lent(array: Any, values: Any) -> Any:
    """The values of an array in pieces, brought together, for who asks for them as NumPy's."""
    if is_for_masked():
        return values
    frame = library_frame()
    if frame is None or not array._writeable or not values.size:
        values.flags.writeable = False
        return values
    loan = Loan(array, values)
    frame.f_locals.setdefault(_HERE, _Loans()).loans.append(weakref.ref(loan))
    raw: Any = numpy.asarray(loan)
    return numpy.ndarray(values.shape, values.dtype, raw, strides=values.strides)


class Loan:
    """A copy of an array, which keeps its memory and lives as long as somebody sees it."""

    def __init__(self, array: Any, values: Any) -> None:
        self._array = array
        self._values = values
        self._raw = values.ravel("K").view("u1")
        self.__array_interface__ = self._raw.__array_interface__
        self._mark = self._marked()

    def _marked(self) -> tuple[int, int]:
        """Numbers that change with the bytes."""
        return zlib.crc32(self._raw), zlib.adler32(self._raw)

    def end(self) -> None:
        """What was written is written into the array; from now on the copy is a copy."""
        array, self._array = self._array, None
        if array is not None and self._marked() != self._mark:
            array[...] = self._values

    __del__ = end


class _Loans:
    """Lies among the variables of a function of a library, and goes when it returns."""

    def __init__(self) -> None:
        self.loans: list[weakref.ref[Loan]] = []

    def __del__(self) -> None:
        for loan in filter(None, (seen() for seen in self.loans)):
            loan.end()
