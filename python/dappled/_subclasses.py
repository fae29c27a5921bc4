"""Classes that a program derives from the array: they are NumPy's.

What such a class says of itself (`__new__`, `view`, `__array_finalize__`) is about NumPy's memory,
and NumPy's way to make results. So it is derived from NumPy's array instead, and all of NumPy is
true of it; its arrays are computed by NumPy, and whole on every rank.
"""

from __future__ import annotations

from typing import Any

from dappled._array import core, ndarray
from dappled._crossing import Crossing
from dappled._foreign import Derived


class Beneath(Derived):
    """NumPy's array, which knows our class: what a program's classes are derived from."""

    def view(self, *args: Any, **kwargs: Any) -> Any:
        """A view, as NumPy's; a plain one is ours, but on several ranks, where that is a copy."""
        crossing = Crossing("ndarray.view")
        named = {name: crossing.over(value) for name, value in kwargs.items()}
        seen = super().view(*map(crossing.over, args), **named)
        return crossing.back(seen) if core.ranks() == 1 else seen


class Asked(Beneath):
    """The same for classes with ufuncs of their own, which hand arrays of ours on to NumPy's."""

    def __array_ufunc__(self, ufunc: Any, method: Any, *inputs: Any, **kwargs: Any) -> Any:
        """NumPy's own, which would leave it to arrays of ours if it were given any."""
        crossing = Crossing(ufunc.__name__)
        named = {name: crossing.over(value, name == "out") for name, value in kwargs.items()}
        over = map(crossing.over, inputs)
        made = super().__array_ufunc__(ufunc, method, *over, **named)
        crossing.write_back()
        return crossing.back(made)


class Kind(type):
    """The class of our class: what is derived from ours is derived from NumPy's."""

    __slots__ = ()

    def __new__(cls, name: str, bases: tuple[type, ...], names: Any, **kwargs: Any) -> Any:
        base = Asked if "__array_ufunc__" in names else Beneath
        return type(name, tuple(base if one is ndarray else one for one in bases), names, **kwargs)


def attach() -> None:
    """Lets programs derive classes from ours."""
    core.set_kind(Kind)
