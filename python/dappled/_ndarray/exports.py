"""Pickles, copies and memory of arrays: `__array__`, `__reduce__`, DLPack, `ctypes`."""

from __future__ import annotations

import copy
from typing import Any

import numpy

from dappled._dispatch.numpy_facts import GATHERED
from dappled._interop.writeback import lend
from dappled._ndarray.core import core, from_numpy, needs_gather
from dappled._ranks.comm import check_collective
from dappled._ranks.config import warn_about_gather


def unpickle(values: Any) -> Any:
    """Reconstructs an array from its pickle."""
    return from_numpy(values)


def _reduce(self: Any) -> Any:
    # Writeable, because a pickle of a read-only array is read-only when it comes back.
    values = core.unwrap(self, writeable=True)
    return unpickle, (values if values.flags.writeable else values.copy(),)


def _copy(self: Any) -> Any:
    return self.copy(order="K")


def _deepcopy(self: Any, memo: Any) -> Any:
    if self.dtype.hasobject:
        return core.wrap(copy.deepcopy(core.unwrap(self), memo))
    return self.copy(order="K")


def contiguous_memory(array: Any) -> Any:
    """A NumPy array over the memory of a replicated array; BufferError if it is distributed."""
    if needs_gather(array):
        raise BufferError(
            f"an array distributed over {core.ranks()} ranks has no contiguous memory: `a.local` "
            "is this rank's piece, `a.numpy()` gathers"
        )
    return core.unwrap(array, writeable=True)


def _dlpack(self: Any, **options: Any) -> Any:
    return contiguous_memory(self).__dlpack__(**options)


def _dlpack_device(self: Any) -> Any:
    return contiguous_memory(self).__dlpack_device__()


def _array(self: Any, dtype: Any = None, *, copy: bool | None = None) -> Any:
    if needs_gather(self):
        if copy is False:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        return numpy.array(_gathered(self, copy), dtype=dtype, copy=None)
    return numpy.array(core.unwrap(self, writeable=True), dtype=dtype, copy=copy)


def _gathered(array: Any, copy: bool | None = None) -> Any:
    check_collective("numpy.asarray")
    warn_about_gather("numpy.asarray", array)
    values = core.unwrap(array, writeable=True)
    return values if copy else lend(array, values)


def _interface(self: Any) -> dict[str, Any]:
    """NumPy's description of the memory, which it keeps alive.

    A gathered copy is handed over as a buffer, not by its address.
    """
    # NumPy reads this attribute before it calls `__array__`: structures would lose their padding,
    # dates and swapped long doubles have no buffers, and objects none that others may hold.
    if self.dtype.kind not in "biufcSU" or not self.dtype.isnative:
        raise AttributeError("__array_interface__")
    if needs_gather(self):
        values = _gathered(self)
        own = {"data": memoryview(values.ravel("K")), "strides": values.strides}
        return {**values.__array_interface__, **own}
    values = core.unwrap(self, writeable=True)
    return {**values.__array_interface__, "lent": values}


def _whole_memory(name: str) -> property:
    def get(self: Any) -> Any:
        return getattr(contiguous_memory(self), name)

    get.__dict__["__execution__"] = GATHERED
    return property(get)


def _size(self: Any) -> int:
    """Bytes as NumPy counts them: those of the elements if the array owns them."""
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
