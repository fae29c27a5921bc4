"""Objects of other libraries beside our arrays: those that take part in NumPy's operations.

They may have operators and functions of their own (masked arrays, sparse matrices, series), or make
an array of themselves, which may be one of ours, as NumPy does not expect it.
"""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy

from dappled._array import ndarray
from dappled._installed import is_librarys

_PLAIN = (numpy.generic, ndarray)
# Classes of which the first object made an array of ours of itself, or did not.
_makers: dict[type, bool] = {}


class Derived(numpy.ndarray[Any, Any]):
    """NumPy's array, where a program derives a class from ours."""


def takes_part(value: Any) -> bool:
    """Whether NumPy asks an object what becomes of an operation with it."""
    kind: Any = type(value)
    return _kind_takes_part(kind)


@functools.cache
def _kind_takes_part(kind: type) -> bool:
    if issubclass(kind, _PLAIN):
        return False
    if issubclass(kind, numpy.ndarray):  # a mask, or a matrix; but a file is an array like others
        own: Any = kind.__array_ufunc__
        priority: Any = kind.__array_priority__
        own_way = own is not numpy.ndarray.__array_ufunc__ or issubclass(kind, Derived)
        return own_way or _is_higher(priority)
    return hasattr(kind, "__array_ufunc__") or hasattr(kind, "__array_priority__")


def has_say(value: Any) -> bool:
    """Whether an object of the program says itself what becomes of a ufunc, as NumPy's recipe for
    classes like arrays has it: it is asked with ours. Libraries are asked with NumPy's arrays.
    """
    kind: Any = type(value)
    return _kind_has_say(kind)


@functools.cache
def _kind_has_say(kind: type) -> bool:
    known: Any = kind
    if issubclass(kind, (*_PLAIN, numpy.ndarray)) or is_librarys(known):
        return False
    return getattr(kind, "__array_ufunc__", None) is not None


def is_left_to(value: Any) -> bool:
    """Whether arrays of ours leave an operation to an object of the program, as NumPy's do: it gets
    ours. Libraries are asked by NumPy, with its arrays.
    """
    kind: Any = type(value)
    if hasattr(kind, "__array_ufunc__") or is_librarys(kind):
        return False
    return _is_higher(getattr(value, "__array_priority__", None))


def _is_higher(priority: Any) -> bool:
    return isinstance(priority, int | float) and priority > 0


def is_asked(value: Any) -> bool:
    """Whether an object has its say in a function of NumPy's: asked for it, or by its class."""
    kind: Any = type(value)
    return asks(kind) or (isinstance(value, numpy.ndarray) and takes_part(value))


@functools.cache
def asks(kind: Any) -> bool:
    """Whether objects of a class do functions of NumPy's in their own way."""
    own = getattr(kind, "__array_function__", None)
    return own not in (None, numpy.ndarray.__array_function__, ndarray.__array_function__)


# Libraries that go on in compiled code, where an array must be NumPy's.
_COMPILED = {"matplotlib", "networkx", "pandas", "scipy", "skimage", "sklearn", "statsmodels"}
_ON_THE_WAY = ("dappled", "numpy")


def is_for_library(level: int = 1) -> bool:
    """Whether who asks, from so many frames above, is a library that goes on in compiled code."""
    return _is_library(_asking(sys._getframe(level)))


def is_for_masked(level: int = 1) -> bool:
    """Whether a masked array is made of what is asked for."""
    frame = sys._getframe(level)
    while frame.f_back and _package(frame) == "dappled":
        frame = frame.f_back
    return frame.f_globals.get("__name__") == "numpy.ma.core" and frame.f_code.co_name == "__new__"


def library_frames() -> list[Any]:
    """The frames of such a library on the way from the program to who asks, outermost first."""
    found: list[Any] = []
    frame = _asking(sys._getframe(1))
    while _is_library(frame):
        found.append(frame)
        frame = _asking(frame.f_back)
    return found[::-1]


def _asking(frame: Any) -> Any:
    """The innermost frame from one on that is not on the way to NumPy's functions and ours."""
    while frame and _package(frame) in _ON_THE_WAY:
        frame = frame.f_back
    return frame


def _is_library(frame: Any) -> bool:
    return frame is not None and _package(frame) in _COMPILED


def _package(frame: Any) -> str:
    return str(frame.f_globals.get("__name__") or "").partition(".")[0]


def as_ours(value: Any, asked: Callable[[type], bool] = lambda kind: True) -> Any:
    """What an object makes of itself, if that is an array of ours: NumPy would refuse it."""
    kind: Any = type(value)
    if not _makes_arrays(kind) or not asked(kind) or _makers.get(kind) is False:
        return value
    made = value.__array__()
    ours = _makers.setdefault(kind, isinstance(made, ndarray))
    return made if ours and isinstance(made, ndarray) else value


def all_ours(value: Any) -> Any:
    """The same of what is in lists and tuples; a value itself if nothing is made of it."""
    if type(value) not in (list, tuple):
        return as_ours(value, is_only_made)
    made = type(value)(map(all_ours, value))
    return made if any(map(operator.is_not, made, value)) else value


@functools.cache
def _makes_arrays(kind: type) -> bool:
    known = kind.__module__.partition(".")[0] in ("dappled", "numpy")
    return not known and not issubclass(kind, numpy.ndarray | type) and hasattr(kind, "__array__")


@functools.cache
def is_only_made(kind: type) -> bool:
    """Whether NumPy's functions can do nothing with an object but ask it for an array."""
    return not (hasattr(kind, "__array_ufunc__") or hasattr(kind, "__array_function__"))
