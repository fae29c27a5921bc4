"""`vectorize`: a function of the user's over arrays in pieces, each rank calling it for its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from dappled._array import core
from dappled._crossing import Crossing
from dappled._piecewise import applied, in_pieces, measured, uses_pieces
from dappled._side_effects import watched
from dappled._signatures import over_rows
from dappled._tables import PIECEWISE


class vectorize(numpy.vectorize):  # the name is NumPy's
    __doc__ = numpy.vectorize.__doc__
    __way__ = PIECEWISE

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function over all elements of our arrays."""
        pyfunc: Any = self.pyfunc
        if pyfunc is numpy._NoValue:  # a decorator with options: this call brings the function
            return super().__call__(*args, **kwargs)
        if core.ranks() > 1 and any(map(in_pieces, (*args, *kwargs.values()))):
            found = self._on_ranks(args, kwargs)
            if found is not NotImplemented:
                return found
        crossing = Crossing("dappled.vectorize")
        over = {name: crossing.over(value) for name, value in kwargs.items()}
        return crossing.back(super().__call__(*map(crossing.over, args), **over))

    def _on_ranks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The same on the pieces, where the function looks at nothing else in pieces."""
        ours: Any = self
        function, given, fixed = _bound(ours.pyfunc, ours.excluded, args, kwargs)
        alone = not uses_pieces(ours.pyfunc) and not any(map(_shows_pieces, fixed))
        if ours.signature is not None:
            return over_rows(ours, function, given, alone)
        if not alone or any(numpy.size(value) == 0 for value in given):
            return NotImplemented
        check = watched(ours.pyfunc, "vectorize")
        first = function(*map(_first, given))
        check()
        otypes = ours.otypes or _kinds(first)
        vectorized = numpy.vectorize(function, otypes=otypes)

        def each(*parts: Any) -> Any:
            made = vectorized(*parts)
            check()
            return made

        if set(otypes) & set("MSUVm"):  # whose size or unit depends on the values
            return measured(each, given, {}, _arrays(first, otypes))
        return applied(each, given, {}, order="K")


def _bound(
    function: Callable[..., Any], excluded: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Callable[..., Any], tuple[Any, ...], list[Any]]:
    """A function of what it is called for again and again, these arguments, and those that are
    the same for all calls.
    """
    if not kwargs and not excluded:
        return function, args, []
    places = [place for place in range(len(args)) if place not in excluded]
    names = [name for name in kwargs if name not in excluded]

    def call(*values: Any) -> Any:
        given = dict(enumerate(args)) | dict(zip(places, values, strict=False))
        named = dict(zip(names, values[len(places) :], strict=True))
        return function(*given.values(), **kwargs | named)

    varied = (*(args[place] for place in places), *(kwargs[name] for name in names))
    fixed = [value for place, value in enumerate(args) if place in excluded]
    return call, varied, [*fixed, *(kwargs[name] for name in kwargs if name in excluded)]


def _shows_pieces(value: Any) -> bool:
    """Whether a function that is given a value can see an array in pieces."""
    items = value if type(value) in (list, tuple) else [value]
    return any(map(uses_pieces, value.values() if type(value) is dict else items))


def _first(value: Any) -> Any:
    return value[(0,) * value.ndim] if isinstance(value, core.ndarray) else numpy.ravel(value)[0]


def _kinds(outputs: Any) -> str:
    """The dtypes that all results shall have: as NumPy has it, those of the first."""
    several = outputs if isinstance(outputs, tuple) else (outputs,)
    return "".join(numpy.asarray(output).dtype.char for output in several)


def _arrays(outputs: Any, otypes: str) -> Any:
    """Outputs for one element as arrays of these dtypes."""
    if not isinstance(outputs, tuple):
        return numpy.asarray([outputs]).astype(otypes)
    return tuple(
        numpy.asarray([one]).astype(kind) for one, kind in zip(outputs, otypes, strict=True)
    )
