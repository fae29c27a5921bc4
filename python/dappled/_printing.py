"""What NumPy prints; of a distributed array only the items that are printed are fetched."""

from __future__ import annotations

from typing import Any

import numpy

from dappled._array import core, is_gathered
from dappled._array import empty as empty_array


def _repr(self: Any) -> str:
    shown, options = _shown(self)
    with numpy.printoptions(**options):
        return repr(shown).replace(f"shape={shown.shape}", f"shape={self.shape}")


def _str(self: Any) -> str:
    shown, options = _shown(self)
    with numpy.printoptions(**options):
        return str(shown)


def _format(self: Any, spec: str) -> str:
    if self.ndim == 0:
        return format(core.unwrap(self), spec)
    return object.__format__(self, spec)  # which refuses any spec, as NumPy does


def _shown(array: Any) -> tuple[Any, dict[str, Any]]:
    """What NumPy shall print, and the settings under which that looks like the whole array."""
    options = numpy.get_printoptions()
    edge = options["edgeitems"]
    if not is_gathered(array) or array.size <= options["threshold"]:
        return core.unwrap(array), {}
    return core.unwrap(_corners(array, edge)), {"threshold": 0}


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
