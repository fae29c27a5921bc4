"""Classes that stand in the place of NumPy's: their objects are NumPy's, made in our way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Standing(type):
    """The class of such classes. One that a program derives makes its objects as NumPy does."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        make = vars(cls).get("_make")
        return (make or super().__call__)(*args, **kwargs)

    def __instancecheck__(cls, value: Any) -> bool:
        theirs: Any = cls.__base__ if "_make" in vars(cls) else ()
        return isinstance(value, theirs) or super().__instancecheck__(value)


def standing(theirs: type, module: str, make: Callable[..., Any]) -> Any:
    """A class whose objects a function makes, in the place of one of NumPy's."""
    names = {"__doc__": theirs.__doc__, "__module__": module, "_make": staticmethod(make)}
    return Standing(theirs.__name__, (theirs,), names)
