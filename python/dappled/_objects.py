"""Objects of NumPy's namespace that are neither functions nor plain classes."""

from __future__ import annotations

import functools
import inspect
import types
from importlib import import_module
from typing import Any

import numpy

from dappled._array import core
from dappled._crossing import Crossing
from dappled._piecewise import applied, in_pieces, measured, uses_pieces
from dappled._rebind import rebound
from dappled._tables import COMPUTED, PIECEWISE

ufunc: Any = core.ufunc


class _Indexed:
    """An object that makes arrays when it is indexed; on ranks, by NumPy's steps over ours."""

    __way__ = COMPUTED

    def __init__(self, theirs: Any) -> None:
        self._theirs = theirs
        self._kind: type = type(theirs)
        self.__doc__ = theirs.__doc__

    def __getitem__(self, key: Any) -> Any:
        if core.ranks() > 1 and not _is_matrix(key):
            return _steps(self._kind)(self._on_ranks(), key)
        crossing = Crossing(type(self._theirs).__name__, writeable=True)
        return crossing.back(self._theirs[crossing.over(key)])

    def _on_ranks(self) -> Any:
        """What NumPy's steps ask of the object itself."""
        names = ("axis", "matrix", "ndmin", "sparse", "trans1d")
        known = {name: getattr(self._theirs, name) for name in names if hasattr(self._theirs, name)}
        return types.SimpleNamespace(concatenate=import_module("dappled").concatenate, **known)

    def __len__(self) -> int:
        return len(self._theirs)

    def __repr__(self) -> str:
        return repr(self._theirs)


def _is_matrix(key: Any) -> bool:
    """Whether a key asks for a matrix, which NumPy makes."""
    first = key[0] if isinstance(key, tuple) and key else key
    return isinstance(key, str) or (isinstance(first, str) and first in ("r", "c"))


@functools.cache
def _steps(kind: type) -> Any:
    return rebound(inspect.getattr_static(kind, "__getitem__"))


c_ = _Indexed(numpy.c_)
r_ = _Indexed(numpy.r_)
mgrid = _Indexed(numpy.mgrid)
ogrid = _Indexed(numpy.ogrid)


class vectorize(numpy.vectorize):  # the name is NumPy's
    __doc__ = numpy.vectorize.__doc__
    __way__ = PIECEWISE

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function over all elements of our arrays."""
        pyfunc: Any = self.pyfunc
        if pyfunc is numpy._NoValue:  # a decorator with options: this call brings the function
            return super().__call__(*args, **kwargs)
        if (found := self._piecewise(args, kwargs)) is not NotImplemented:
            return found
        crossing = Crossing("dappled.vectorize")
        over = {name: crossing.over(value) for name, value in kwargs.items()}
        return crossing.back(super().__call__(*map(crossing.over, args), **over))

    def _piecewise(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The same on the pieces, where the function looks at nothing else in pieces."""
        ours: Any = self
        special = kwargs or ours.signature is not None or ours.excluded
        if core.ranks() == 1 or special or not any(map(in_pieces, args)):
            return NotImplemented
        if uses_pieces(ours.pyfunc) or any(numpy.size(value) == 0 for value in args):
            return NotImplemented
        first = ours.pyfunc(*map(_first, args))
        otypes = ours.otypes or _kinds(first)
        function = numpy.vectorize(ours.pyfunc, otypes=otypes)
        if set(otypes) & set("MSUVm"):  # whose size or unit depends on the values
            return measured(function, args, {}, _arrays(first, otypes))
        return applied(function, args, {})


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
