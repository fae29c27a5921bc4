"""Subclasses that a program derives from the array: they derive from NumPy's array.

`__new__`, `view` and `__array_finalize__` assume NumPy's memory. NumPy computes with such arrays,
and every rank has all of their elements.
"""

from __future__ import annotations

from typing import Any

from dappled._dispatch.convert import NumPyCall
from dappled._interop.duck_arrays import ProgramSubclass
from dappled._ndarray.core import core, ndarray


class NumPyBase(ProgramSubclass):
    """The base class of a program's subclasses."""

    def view(self, *args: Any, **kwargs: Any) -> Any:
        """A view as NumPy's; a plain one is ours, except on several ranks, where it would be a
        copy.
        """
        numpy_call = NumPyCall("ndarray.view")
        named = {name: numpy_call.to_numpy(value) for name, value in kwargs.items()}
        seen = super().view(*map(numpy_call.to_numpy, args), **named)
        return numpy_call.from_numpy(seen) if core.ranks() == 1 else seen


class NumPyBaseWithUfuncs(NumPyBase):
    """The base class of subclasses that define `__array_ufunc__`."""

    def __array_ufunc__(self, ufunc: Any, method: Any, *inputs: Any, **kwargs: Any) -> Any:
        """NumPy's implementation, with our arrays converted to NumPy's."""
        numpy_call = NumPyCall(ufunc.__name__)
        named = {name: numpy_call.to_numpy(value, name == "out") for name, value in kwargs.items()}
        over = map(numpy_call.to_numpy, inputs)
        result = super().__array_ufunc__(ufunc, method, *over, **named)
        numpy_call.write_back()
        return numpy_call.from_numpy(result)


class ArrayMeta(type):
    """The metaclass of our class: a subclass derives from NumPy's array instead."""

    __slots__ = ()

    def __new__(cls, name: str, bases: tuple[type, ...], names: Any, **kwargs: Any) -> Any:
        base = NumPyBaseWithUfuncs if "__array_ufunc__" in names else NumPyBase
        return type(name, tuple(base if one is ndarray else one for one in bases), names, **kwargs)


def attach() -> None:
    """Lets programs derive classes from ours."""
    core.set_kind(ArrayMeta)
