"""`a.flags`: NumPy's description of an array's memory."""

from __future__ import annotations

from typing import Any

import numpy

from dappled._ndarray.core import core, ndarray

_THEIRS = type(numpy.empty(0).flags)
_SHORT = {"C": "c_contiguous", "F": "f_contiguous", "O": "owndata", "W": "writeable"}
_SHORT |= {"A": "aligned", "X": "writebackifcopy", "B": "behaved", "CA": "carray"}
_SHORT |= {"FA": "farray", "CONTIGUOUS": "c_contiguous", "FORTRAN": "f_contiguous"}
_BITS = {"c_contiguous": 1, "f_contiguous": 2, "owndata": 4, "aligned": 256, "writeable": 1024}
_SHOWN = ("c_contiguous", "f_contiguous", "owndata", "writeable", "aligned", "writebackifcopy")


class Flags:
    """The flags of one array, computed on access; `writeable` can be set."""

    _array: Any
    _gathered = True  # of the gathered copy
    writebackifcopy = False

    def __init__(self, array: Any) -> None:
        object.__setattr__(self, "_array", array)

    @property
    def c_contiguous(self) -> bool:
        return self._contiguous()[0]

    @property
    def f_contiguous(self) -> bool:
        return self._contiguous()[1]

    @property
    def owndata(self) -> bool:
        return self._array.base is None

    @property
    def writeable(self) -> bool:
        return bool(self._array._writeable)

    @property
    def aligned(self) -> bool:
        return _is_aligned(self._array)

    @property
    def fnc(self) -> bool:
        return self.f_contiguous and not self.c_contiguous

    @property
    def forc(self) -> bool:
        return self.f_contiguous or self.c_contiguous

    @property
    def behaved(self) -> bool:
        return self.writeable and self.aligned

    @property
    def carray(self) -> bool:
        return self.behaved and self.c_contiguous

    @property
    def farray(self) -> bool:
        return self.behaved and self.fnc

    @property
    def num(self) -> int:
        return sum(bit for name, bit in _BITS.items() if getattr(self, name))

    contiguous = c_contiguous
    fortran = f_contiguous

    def __getitem__(self, key: str) -> Any:
        name = _SHORT.get(key, key.lower()) if isinstance(key, str) else ""
        if name not in dir(Flags) or name.startswith("_"):
            raise KeyError("Unknown flag")
        return getattr(self, name)

    def __setitem__(self, key: str, value: Any) -> None:
        name = _SHORT.get(key, str(key).lower())
        if name not in ("writeable", "aligned", "writebackifcopy"):
            raise KeyError("Unknown flag")
        setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        # NumPy raises if the flag cannot be set.
        setattr(_settable_meta(self._array).flags, name, value)
        if name == "writeable":
            self._array._writeable = bool(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Flags | _THEIRS) and self.num == other.num

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        lines = (f"  {name.upper()} : {getattr(self, name)}" for name in _SHOWN)
        return "\n".join(lines) + "\n"

    def _contiguous(self) -> tuple[bool, bool]:
        held = self._array._held
        if held is not None:
            return held.flags.c_contiguous, held.flags.f_contiguous
        c_order, f_order = self._array._contiguous(self._gathered)
        return c_order, f_order


class ViewFlags(Flags):
    """The flags of a view itself; `Flags` describes its gathered copy."""

    _gathered = False


def _is_aligned(array: Any) -> bool:
    """Whether every element is aligned for its dtype."""
    if array._held is not None:
        return bool(array._held.flags.aligned)
    step, base = array.dtype.alignment, array.base
    axes = zip(array.shape, array._strides, strict=True)
    if step == 1 or not array.size:
        return True
    if any(length > 1 and stride % step for length, stride in axes):
        return False
    if base is None:
        return True
    distance = array._distance(base) if isinstance(base, ndarray) else None
    if distance is None:  # memory that another object owns
        return bool(core.unwrap(array).flags.aligned)
    return bool(distance % step == 0)


def _settable_meta(array: Any) -> Any:
    """A small NumPy array whose flags can be set as those of an array."""
    owner = numpy.empty(1)
    if array.base is None:
        return owner
    owner.flags.writeable = _may_be_written(array.base)
    return owner[:]


def _may_be_written(base: Any) -> bool:
    if hasattr(base, "flags"):
        return bool(base.flags.writeable)
    try:
        return not memoryview(base).readonly
    except TypeError:
        return True


METHODS = {"flags": property(Flags), "_flags": property(ViewFlags)}
