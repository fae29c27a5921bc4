"""Drop-in subclasses of NumPy classes whose constructor is ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class DropInMeta(type):
    """The metaclass of drop-in classes; a program's subclasses are constructed by NumPy."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        make = vars(cls).get("_make")
        return (make or super().__call__)(*args, **kwargs)

    def __instancecheck__(cls, value: Any) -> bool:
        theirs: Any = cls.__base__ if "_make" in vars(cls) else ()
        return isinstance(value, theirs) or super().__instancecheck__(value)


def drop_in_class(theirs: type, module: str, make: Callable[..., Any]) -> Any:
    """A drop-in subclass of a NumPy class whose objects `make` creates."""
    names = {"__doc__": theirs.__doc__, "__module__": module, "_make": staticmethod(make)}
    return DropInMeta(theirs.__name__, (theirs,), names)
