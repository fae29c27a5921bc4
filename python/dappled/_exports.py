"""Copies, pickles, and the memory of a whole array: what leaves through no function."""

from __future__ import annotations

import copy
from typing import Any

import numpy

from dappled._array import core, is_gathered, wrapped
from dappled._comm import together
from dappled._config import note_gather
from dappled._lending import lent
from dappled._tables import GATHERED


def restored(values: Any) -> Any:
    """An array from its pickle."""
    return wrapped(values)


def _reduce(self: Any) -> Any:
    # Writeable, because a pickle of a read-only array is read-only when it comes back.
    values = core.unwrap(self, writeable=True)
    return restored, (values if values.flags.writeable else values.copy(),)


def _copy(self: Any) -> Any:
    return self.copy(order="K")


def _deepcopy(self: Any, memo: Any) -> Any:
    if self.dtype.hasobject:
        return core.wrap(copy.deepcopy(core.unwrap(self), memo))
    return self.copy(order="K")


def memory(array: Any) -> Any:
    """NumPy's array over the memory of a whole array; pieces have no such memory."""
    if is_gathered(array):
        raise BufferError(
            f"in pieces over {core.ranks()} ranks: `a.local` is this rank's piece, "
            "`a.numpy()` gathers"
        )
    return core.unwrap(array, writeable=True)


def _dlpack(self: Any, **options: Any) -> Any:
    return memory(self).__dlpack__(**options)


def _dlpack_device(self: Any) -> Any:
    return memory(self).__dlpack_device__()


def _array(self: Any, dtype: Any = None, *, copy: bool | None = None) -> Any:
    if is_gathered(self):
        if copy is False:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        return numpy.array(_gathered(self, copy), dtype=dtype, copy=None)
    return numpy.array(core.unwrap(self, writeable=True), dtype=dtype, copy=copy)


def _gathered(array: Any, copy: bool | None = None) -> Any:
    together("numpy.asarray")
    note_gather("numpy.asarray", array)
    values = core.unwrap(array, writeable=True)
    return values if copy else lent(array, values)


def _interface(self: Any) -> dict[str, Any]:
    """NumPy's description of the memory. It keeps the memory, which is lent for so long; what was
    brought together for it is handed over itself, not by its address.
    """
    # NumPy asks for it before it asks for an array: structures lose their holes in it, dates and
    # swapped long doubles have no buffers, and objects none that others may hold.
    if self.dtype.kind not in "biufcSU" or not self.dtype.isnative:
        raise AttributeError("__array_interface__")
    if is_gathered(self):
        values = _gathered(self)
        own = {"data": memoryview(values.ravel("K")), "strides": values.strides}
        return {**values.__array_interface__, **own}
    values = core.unwrap(self, writeable=True)
    return {**values.__array_interface__, "lent": values}


def _whole_memory(name: str) -> property:
    def get(self: Any) -> Any:
        return getattr(memory(self), name)

    get.__dict__["__way__"] = GATHERED
    return property(get)


def _size(self: Any) -> int:
    """Bytes, as NumPy counts them: those of the elements where they are its own."""
    plain = object.__sizeof__(self)
    return plain if self.base is not None else plain + int(self.nbytes)


METHODS = {
    "__array__": _array,
    "__array_interface__": property(_interface),
    "__copy__": _copy,
    "__deepcopy__": _deepcopy,
    "__dlpack__": _dlpack,
    "__dlpack_device__": _dlpack_device,
    "__reduce__": _reduce,
    "__sizeof__": _size,
    "ctypes": _whole_memory("ctypes"),
    "data": _whole_memory("data"),
}
