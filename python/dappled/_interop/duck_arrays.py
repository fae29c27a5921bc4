"""Arrays of other libraries next to ours: which protocol decides an operation.

They define operators and functions of their own (masked arrays, sparse matrices, series), or
convert themselves to arrays, possibly to ours, which NumPy does not expect.
"""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy

from dappled._interop.libraries import is_library_class
from dappled._ndarray.core import ndarray

_PLAIN = (numpy.generic, ndarray)
# Classes whose first object converted itself to one of our arrays, or did not.
_converts_to_ours: dict[type, bool] = {}


class ProgramSubclass(numpy.ndarray[Any, Any]):
    """NumPy's array as the base of a program's subclass of ours."""


def overrides_operators(value: Any) -> bool:
    """Whether NumPy lets an object decide about an operator with it."""
    kind: Any = type(value)
    return _class_overrides_operators(kind)


@functools.cache
def _class_overrides_operators(kind: type) -> bool:
    if issubclass(kind, _PLAIN):
        return False
    if issubclass(kind, numpy.ndarray):  # masked arrays and matrices; a memmap is an ordinary array
        own: Any = kind.__array_ufunc__
        priority: Any = kind.__array_priority__
        own_way = own is not numpy.ndarray.__array_ufunc__ or issubclass(kind, ProgramSubclass)
        return own_way or _is_higher(priority)
    return hasattr(kind, "__array_ufunc__") or hasattr(kind, "__array_priority__")


def overrides_ufuncs(value: Any) -> bool:
    """Whether an object of the program implements `__array_ufunc__`.

    It is called with our arrays; libraries are called with NumPy's.
    """
    kind: Any = type(value)
    return _class_overrides_ufuncs(kind)


@functools.cache
def _class_overrides_ufuncs(kind: type) -> bool:
    known: Any = kind
    if issubclass(kind, (*_PLAIN, numpy.ndarray)) or is_library_class(known):
        return False
    return getattr(kind, "__array_ufunc__", None) is not None


def defers_to(value: Any) -> bool:
    """Whether our arrays defer an operator to an object of the program, as NumPy's do.

    Libraries are called by NumPy, with its arrays.
    """
    kind: Any = type(value)
    if hasattr(kind, "__array_ufunc__") or is_library_class(kind):
        return False
    return _is_higher(getattr(value, "__array_priority__", None))


def _is_higher(priority: Any) -> bool:
    return isinstance(priority, int | float) and priority > 0


def overrides_functions(value: Any) -> bool:
    """Whether an object overrides NumPy's functions, by protocol or by its class."""
    kind: Any = type(value)
    return class_overrides_functions(kind) or (
        isinstance(value, numpy.ndarray) and overrides_operators(value)
    )


@functools.cache
def class_overrides_functions(kind: Any) -> bool:
    """Whether a class implements `__array_function__`."""
    own = getattr(kind, "__array_function__", None)
    return own not in (None, numpy.ndarray.__array_function__, ndarray.__array_function__)


# Libraries whose compiled code needs NumPy's arrays.
_COMPILED_LIBRARIES = {
    "matplotlib",
    "networkx",
    "pandas",
    "scipy",
    "skimage",
    "sklearn",
    "statsmodels",
}
_SKIPPED_PACKAGES = ("dappled", "numpy")


def is_called_by_library(level: int = 1) -> bool:
    """Whether the caller, `level` frames above, is a library with compiled code."""
    frame: Any = sys._getframe(level)
    while frame:  # one loop, not `_calling_frame`: small draws of random numbers call this
        package = _top_level_package(frame.f_globals.get("__name__"))
        if package not in _SKIPPED_PACKAGES:
            return package in _COMPILED_LIBRARIES
        frame = frame.f_back
    return False


def is_called_by_masked_array(level: int = 1) -> bool:
    """Whether the caller constructs a masked array."""
    frame = sys._getframe(level)
    while frame.f_back and _package(frame) == "dappled":
        frame = frame.f_back
    return frame.f_globals.get("__name__") == "numpy.ma.core" and frame.f_code.co_name == "__new__"


def library_frames() -> list[Any]:
    """The frames of a library between the program and the caller, outermost first."""
    result: list[Any] = []
    frame = _calling_frame(sys._getframe(1))
    while _is_library(frame):
        result.append(frame)
        frame = _calling_frame(frame.f_back)
    return result[::-1]


def _calling_frame(frame: Any) -> Any:
    """The innermost frame outside NumPy and this package."""
    while frame and _package(frame) in _SKIPPED_PACKAGES:
        frame = frame.f_back
    return frame


def _is_library(frame: Any) -> bool:
    return frame is not None and _package(frame) in _COMPILED_LIBRARIES


def _package(frame: Any) -> str:
    return _top_level_package(frame.f_globals.get("__name__"))


@functools.cache
def _top_level_package(module: str | None) -> str:
    return (module or "").partition(".")[0]


def as_dappled(value: Any, asked: Callable[[type], bool] = lambda kind: True) -> Any:
    """The array of ours that an object converts itself to; else the object."""
    kind: Any = type(value)
    if not _converts_to_array(kind) or not asked(kind) or _converts_to_ours.get(kind) is False:
        return value
    result = value.__array__()
    ours = _converts_to_ours.setdefault(kind, isinstance(result, ndarray))
    return result if ours and isinstance(result, ndarray) else value


def all_as_dappled(value: Any) -> Any:
    """`as_dappled` for the items of lists and tuples; the same object if nothing changes."""
    if type(value) not in (list, tuple):
        return as_dappled(value, only_converts)
    result = type(value)(map(all_as_dappled, value))
    return result if any(map(operator.is_not, result, value)) else value


@functools.cache
def _converts_to_array(kind: type) -> bool:
    known = kind.__module__.partition(".")[0] in ("dappled", "numpy")
    return not known and not issubclass(kind, numpy.ndarray | type) and hasattr(kind, "__array__")


@functools.cache
def only_converts(kind: type) -> bool:
    """Whether an object supports NumPy's functions only by conversion to an array."""
    return not (hasattr(kind, "__array_ufunc__") or hasattr(kind, "__array_function__"))
