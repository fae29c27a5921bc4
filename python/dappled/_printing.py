"""What NumPy prints; of a distributed array only the items that are printed are fetched."""

from __future__ import annotations

import contextlib
import sys
from typing import Any

import numpy

from dappled._array import core, is_gathered, ndarray
from dappled._array import empty as empty_array
from dappled._comm import is_local


def _repr(self: Any) -> str:
    if _is_alone() and is_gathered(self):
        return _own_part(self)
    shown, settings = _shown(self)
    with settings:
        text = repr(shown)
        return text if shown.shape == self.shape else _with_shape(text, shown.shape, self.shape)


def _with_shape(text: str, shown: tuple[int, ...], shape: tuple[int, ...]) -> str:
    """What is printed of the corners of an array, with the shape of the array in its place.

    The shape is on a line of its own if it does not fit on the last one, as NumPy decides.
    """
    body, found, dtype = text.rpartition(f"shape={shown}")
    if not found:
        return text
    body, extras = body.rstrip(), f"shape={shape}{dtype}"
    width = len(body) - (body.rfind("\n") + 1) + len(extras) + 1
    indent = "\n" + " " * (text.index("(") + 1)
    is_long = width > numpy.get_printoptions()["linewidth"]
    return body + (indent if is_long else " ") + extras


def _str(self: Any) -> str:
    if _is_alone() and is_gathered(self):
        return _own_part(self)
    shown, settings = _shown(self)
    with settings:
        return str(shown)


def _format(self: Any, spec: str) -> str:
    if self.ndim == 0:
        return format(core.unwrap(self), spec)
    return object.__format__(self, spec)  # which refuses any spec, as NumPy does


def _is_alone() -> bool:
    """Whether the other ranks may be elsewhere: then nothing may be sent."""
    return core.ranks() > 1 and (is_local() or sys.exc_info()[0] is not None)


def _own_part(array: Any) -> str:
    """An array as this rank sees it without a message."""
    if isinstance(array.base, ndarray):
        return f"<a view of shape {array.shape}, {array.dtype}, into\n{_own_part(array.base)}>"
    head = f"<array of shape {array.shape}, {array.dtype}, {array.distribution!r}"
    state = array._explain().partition("\n")[0].rpartition(": ")[2]
    shown = f"has\n{array.local!r}" if state == "stored" else f"has it {state}"
    return f"{head}: rank {core.rank()} {shown}>"


def _shown(array: Any) -> tuple[Any, Any]:
    """What NumPy shall print, and the settings under which that looks like the whole array."""
    options: dict[str, Any] = {**numpy.get_printoptions()}
    edge = options["edgeitems"]
    # Without edges NumPy looks at all elements, and shows the last one.
    if not is_gathered(array) or array.size <= options["threshold"] or not edge:
        return core.unwrap(array), contextlib.nullcontext()
    kept = {name: options[name] for name in _FORGOTTEN if name in options}
    return core.unwrap(_corners(array, edge)), numpy.printoptions(threshold=0, **kept)


# Settings that NumPy forgets where others are made.
_FORGOTTEN = ("formatter", "override_repr")


def _corners(array: Any, edge: int) -> Any:
    """The first and last items along every axis, and one in between: NumPy puts dots for it."""
    for axis, length in enumerate(array.shape):
        if length > 2 * edge + 1:
            before = (slice(None),) * axis
            kept = _first_like(array, axis, 2 * edge + 1)
            kept[(*before, slice(edge + 1))] = array[(*before, slice(edge + 1))]
            kept[(*before, slice(edge + 1, None))] = array[(*before, slice(length - edge, None))]
            array = kept
    return array


def _first_like(array: Any, axis: int, length: int) -> Any:
    shape = (*array.shape[:axis], length, *array.shape[axis + 1 :])
    return empty_array(shape, array.dtype, "C")


METHODS = {"__format__": _format, "__repr__": _repr, "__str__": _str}
