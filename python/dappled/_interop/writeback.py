"""Copies of distributed arrays that NumPy and other libraries receive.

A library gets a private copy, which it may overwrite without effect on the array. Only an array
that was passed as a documented output (`out=`, `output=`; see `OUTPUTS`) is written back, when the
library function that the program called returns. A masked array owns its copy. The program and
unknown libraries get a read-only copy: NumPy then raises where a write would be lost.
"""

from __future__ import annotations

import inspect
import weakref
import zlib
from collections.abc import Iterator
from typing import Any

import numpy

from dappled._compat.cpython_private import keep_in_frame
from dappled._interop.duck_arrays import is_called_by_masked_array, library_frames

# Parameters that libraries document as outputs.
OUTPUTS = {"out", "output"}
# Values of parameters, or of an estimator's settings, that ask to overwrite the first array.
IN_PLACE = {"copy": False, "in_place": True, "inplace": True}

# Not an identifier, so it cannot clash with a local variable of the library function.
_KEY = "lent by dappled"


def lend(array: Any, values: Any) -> Any:
    """The gathered values of a distributed array, for the caller that requested a NumPy array."""
    if is_called_by_masked_array():
        return values
    frames = library_frames()
    if not frames or not array._writeable:
        values.flags.writeable = False
        return values
    if not values.size or not is_output(array, frames):
        return values
    loan = Loan(array, values)
    keep_in_frame(frames[0], _KEY, _Loans).loans.append(weakref.ref(loan))
    raw: Any = numpy.asarray(loan)
    return numpy.ndarray(values.shape, values.dtype, raw, strides=values.strides)


def is_output(array: Any, frames: list[Any]) -> bool:
    """Whether the program passed an array as an output to a library, called by these frames.

    The outermost function that has the array as a parameter decides; one that takes it in `*args`
    is a decorator, and the function behind it decides.
    """
    for frame in frames:
        code, values = frame.f_code, frame.f_locals
        count = code.co_argcount + code.co_kwonlyargcount
        names = [name for name in code.co_varnames[:count] if name in values]
        named = {name: values[name] for name in names} | _keywords(code, values)
        result = [name for name, value in named.items() if _holds(value, array)]
        if result:
            return any(_is_written(name, named) for name in result)
    return False


def _keywords(code: Any, values: Any) -> dict[str, Any]:
    """The keyword arguments (`**kwargs`) of a frame's function."""
    if not code.co_flags & inspect.CO_VARKEYWORDS:
        return {}
    position = code.co_argcount + code.co_kwonlyargcount
    position += bool(code.co_flags & inspect.CO_VARARGS)
    result = values.get(code.co_varnames[position])
    return result if isinstance(result, dict) else {}


def _holds(value: Any, array: Any) -> bool:
    """Whether a value is an array, or a sequence that it is in."""
    return value is array or (
        type(value) in (list, tuple) and any(_holds(item, array) for item in value)
    )


def _is_written(name: str, given: dict[str, Any]) -> bool:
    if name in OUTPUTS:
        return True
    arrays = (key for key, value in given.items() if key != "self" and hasattr(value, "shape"))
    options = {**getattr(given.get("self"), "__dict__", {}), **given}
    in_place = any(options.get(key) is value for key, value in IN_PLACE.items())
    return in_place and name == next(arrays, None)


class Loan:
    """A copy whose changes are written back to a distributed array."""

    def __init__(self, array: Any, values: Any) -> None:
        self._array = array
        self._values = values
        self._raw = values.ravel("K").view("u1")
        self.__array_interface__ = self._raw.__array_interface__
        self._checksum = self._checksums()

    def _checksums(self) -> tuple[int, int]:
        return zlib.crc32(self._raw), zlib.adler32(self._raw)

    def is_of(self, array: Any) -> bool:
        """Whether writes to this copy will change an array."""
        own = self._array
        return own is not None and (own is array or own._distance(array) is not None)

    def end(self) -> None:
        """Writes the copy into the array if it has changed; from now on it is a plain copy."""
        array, self._array = self._array, None
        if array is not None and self._checksums() != self._checksum:
            array[...] = self._values

    __del__ = end


class _Loans:
    """Lives among the local variables of a library function, and ends its loans on return."""

    def __init__(self) -> None:
        self.loans: list[weakref.ref[Loan]] = []

    def __del__(self) -> None:
        for loan in filter(None, (seen() for seen in self.loans)):
            loan.end()


def loan_of(values: Any) -> Loan | None:
    """The loan behind a NumPy array, if it sees the memory of one."""
    return next((base for base in _bases(values) if isinstance(base, Loan)), None)


def _bases(values: Any) -> Iterator[Any]:
    while values is not None:
        yield values
        values = values.obj if isinstance(values, memoryview) else getattr(values, "base", None)
