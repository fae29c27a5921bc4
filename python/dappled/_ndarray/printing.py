"""`repr` and `str`: NumPy's text; of a distributed array only the printed items are fetched."""

from __future__ import annotations

import contextlib
import sys
from typing import Any

import numpy

from dappled._ndarray.core import core, ndarray, needs_gather
from dappled._ndarray.core import empty as empty_array
from dappled._ranks.comm import is_local


def _repr(self: Any) -> str:
    if _may_not_communicate() and needs_gather(self):
        return _local_repr(self)
    shown, settings = _printed_values(self)
    with settings:
        text = repr(shown)
        return text if shown.shape == self.shape else _with_shape(text, shown.shape, self.shape)


def _with_shape(text: str, shown: tuple[int, ...], shape: tuple[int, ...]) -> str:
    """NumPy's text for the corners of an array, with the shape of the whole array.

    The shape is on a line of its own if it does not fit on the last one.
    """
    body, result, dtype = text.rpartition(f"shape={shown}")
    if not result:
        return text
    body, extras = body.rstrip(), f"shape={shape}{dtype}"
    width = len(body) - (body.rfind("\n") + 1) + len(extras) + 1
    indent = "\n" + " " * (text.index("(") + 1)
    is_long = width > numpy.get_printoptions()["linewidth"]
    return body + (indent if is_long else " ") + extras


def _str(self: Any) -> str:
    if _may_not_communicate() and needs_gather(self):
        return _local_repr(self)
    shown, settings = _printed_values(self)
    with settings:
        return str(shown)


def _format(self: Any, spec: str) -> str:
    if self.ndim == 0:
        return format(core.unwrap(self), spec)
    return object.__format__(self, spec)  # raises for any format spec, as NumPy does


def _may_not_communicate() -> bool:
    """Whether other ranks may be elsewhere in the program, so nothing may be sent."""
    return core.ranks() > 1 and (is_local() or sys.exc_info()[0] is not None)


def _local_repr(array: Any) -> str:
    """The part of an array that this rank has, without communication."""
    if isinstance(array.base, ndarray):
        return f"<a view of shape {array.shape}, {array.dtype}, into\n{_local_repr(array.base)}>"
    head = f"<array of shape {array.shape}, {array.dtype}, {array.distribution!r}"
    state = array._explain().partition("\n")[0].rpartition(": ")[2]
    shown = f"has\n{array.local!r}" if state == "stored" else f"has it {state}"
    return f"{head}: rank {core.rank()} {shown}>"


def _printed_values(array: Any) -> tuple[Any, Any]:
    """The values that NumPy prints, and the print options for them."""
    options: dict[str, Any] = {**numpy.get_printoptions()}
    edge = options["edgeitems"]
    # Without edge items NumPy reads all elements and prints the last one.
    if not needs_gather(array) or array.size <= options["threshold"] or not edge:
        return core.unwrap(array), contextlib.nullcontext()
    kept = {name: options[name] for name in _OPTIONS_THAT_RESET if name in options}
    return core.unwrap(_corners(array, edge)), numpy.printoptions(threshold=0, **kept)


# Options that NumPy resets when others are set.
_OPTIONS_THAT_RESET = ("formatter", "override_repr")


def _corners(array: Any, edge: int) -> Any:
    """The first and last items along every axis, and one between: NumPy prints an ellipsis."""
    for axis, length in enumerate(array.shape):
        if length > 2 * edge + 1:
            before = (slice(None),) * axis
            kept = _empty_along(array, axis, 2 * edge + 1)
            kept[(*before, slice(edge + 1))] = array[(*before, slice(edge + 1))]
            kept[(*before, slice(edge + 1, None))] = array[(*before, slice(length - edge, None))]
            array = kept
    return array


def _empty_along(array: Any, axis: int, length: int) -> Any:
    shape = (*array.shape[:axis], length, *array.shape[axis + 1 :])
    return empty_array(shape, array.dtype, "C")


METHODS = {"__format__": _format, "__repr__": _repr, "__str__": _str}
