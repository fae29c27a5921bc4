"""Our function from NumPy's: its arguments cross over, its results cross back."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import numpy

from dappled._array import core, ndarray
from dappled._crossing import Crossing
from dappled._first import by_first
from dappled._line import called_by_user
from dappled._piecewise import in_pieces, measured
from dappled._tables import (
    COMPUTED,
    DESCRIBING,
    ELEMENT_WISE,
    GATHERED,
    PIECEWISE,
    VIEWS,
    WHOLE_TEXTS,
    WRITTEN,
)

Function = Callable[..., Any]


def gathered(function: Function, module: str = "dappled") -> Function:
    """A function of ours that gives the whole arrays to NumPy's function of the same name."""
    name = function.__name__
    label = f"{module}.{name}"
    crosses = _Crossings(function)

    def is_shared(args: tuple[Any, ...]) -> bool:
        return module == "dappled.linalg" and core.ranks() > 1 and any(map(in_pieces, args))

    def call(*args: Any, **kwargs: Any) -> Any:
        if core.ranks() > 1 and are_kept(crosses.written(args, kwargs)):
            crossed(*shadow((args, kwargs)))
        return crossed(args, kwargs)

    def crossed(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        crossing = Crossing(label, crosses.views)
        over, named = crosses.over(crossing, args, kwargs)
        act = functools.partial(by_first, called_by_user) if is_shared(args) else called_by_user
        result = act(function, *over, **named)
        crossing.write_back()
        return crossing.back(result)

    return dressed(call, function, module, GATHERED)


def numpys(function: Function) -> Function:
    """NumPy's function on NumPy's arrays, for libraries: only an `out` of ours is returned as ours.

    On several ranks each computes all of it.
    """
    label = f"numpy.{function.__name__}"
    crosses = _Crossings(function)

    def call(*args: Any, **kwargs: Any) -> Any:
        crossing = Crossing(label, writeable=True)
        over, named = crosses.over(crossing, args, kwargs)
        result = function(*over, **named)
        crossing.write_back()
        return kwargs["out"] if isinstance(kwargs.get("out"), ndarray) else result

    return call


def are_kept(written: Iterable[Any]) -> bool:
    """Whether one of those that are to be written is in pieces, and may only be read. NumPy refuses
    that whatever the values, so that it is asked with shadows, before anything is gathered.
    """
    return any(in_pieces(one) and not one._writeable for one in written)


def described(function: Function, module: str = "dappled") -> Function:
    """A function of ours that needs to know shapes and dtypes alone: nothing is gathered."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*shadow(args), **shadow(kwargs))

    return dressed(call, function, module)


def textual(function: Function, module: str = "dappled") -> Function:
    """A function of ours that NumPy's does on the pieces, where all its arguments are elements."""
    otherwise = gathered(function, module)

    def call(*args: Any, **kwargs: Any) -> Any:
        if core.ranks() > 1 and any(map(in_pieces, args)) and "out" not in kwargs:
            found = measured(function, args, kwargs)
            if found is not NotImplemented:
                return found
        return otherwise(*args, **kwargs)

    return dressed(call, function, module, PIECEWISE)


def adopt(function: Function, module: str = "dappled") -> Function:
    """Our function of the kind that NumPy's needs."""
    name = function.__name__
    if name in DESCRIBING:
        return described(function, module)
    texts = module in ("dappled.char", "dappled.strings") and name not in WHOLE_TEXTS
    make = textual if texts or name in ELEMENT_WISE else gathered
    return make(function, module)


def dressed(ours: Function, function: Function, module: str, way: str | None = None) -> Function:
    """Ours with the name, text and signature of NumPy's, or of another of ours; `way` says how it
    is computed on several ranks, for `dappled coverage`.
    """
    ours.__name__ = ours.__qualname__ = function.__name__
    ours.__doc__ = function.__doc__
    ours.__module__ = module
    ours.__dict__["__wrapped__"] = function
    ours.__dict__["__way__"] = way or getattr(function, "__way__", COMPUTED)
    return ours


def shadow(value: Any) -> Any:
    """The same shapes and dtypes with no values and hardly any memory."""
    if isinstance(value, ndarray):
        if value.ndim == 0:  # of which some functions want the value, and it is everywhere
            return core.unwrap(value)
        return numpy.broadcast_to(numpy.zeros((), value.dtype), value.shape)
    if type(value) in (list, tuple):
        return type(value)(map(shadow, value))
    if type(value) is dict:
        return {key: shadow(item) for key, item in value.items()}
    return value


_OVERWRITES = "overwrite_input"


class _Crossings:
    """How a function's arguments cross: which of them it writes into, by place and by name."""

    def __init__(self, function: Function) -> None:
        self.views = function.__name__ in VIEWS
        self._function = function
        self._written: set[Any] = {"out", *WRITTEN.get(function.__name__, ())}

    @functools.cached_property
    def _parameters(self) -> list[str]:
        try:
            return list(inspect.signature(self._function).parameters)
        except ValueError:  # a function in C that does not tell
            return []

    def over(
        self, crossing: Crossing, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """The arguments as NumPy takes them."""
        places = {name: place for place, name in enumerate(self._parameters[: len(args)])}
        written = self._written | {places[name] for name in self._written if name in places}
        # Leave to write what is lent to be read.
        if _OVERWRITES in kwargs:
            kwargs = {**kwargs, _OVERWRITES: False}
        elif _OVERWRITES in places:
            at = places[_OVERWRITES]
            args = (*args[:at], False, *args[at + 1 :])
        return crossing.all_over(args, kwargs, written)

    def written(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The arguments that are written."""
        named = [*zip(self._parameters, args, strict=False), *kwargs.items()]
        return [value for name, value in named if name in self._written]
