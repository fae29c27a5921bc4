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
from dappled._fallback import dressed, gathered
from dappled._line import users_frame
from dappled._rebind import rebound
from dappled._tables import COMPUTED, GATHERED

ufunc: Any = core.ufunc


# Of texts these make matrices.
_MATRICES = (type(numpy.c_), type(numpy.r_))


class _Indexed:
    """An object that makes arrays when it is indexed; on ranks, by NumPy's steps over ours."""

    __way__ = COMPUTED

    def __init__(self, theirs: Any) -> None:
        self._theirs = theirs
        self._kind: type = type(theirs)
        self.__doc__ = theirs.__doc__

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str) and self._kind in _MATRICES:
            frame = users_frame(1)  # whose names are in the key
            return numpy.bmat(key, frame.f_globals, frame.f_locals)
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
    return isinstance(first, str) and first in ("r", "c")


@functools.cache
def _steps(kind: type) -> Any:
    return rebound(inspect.getattr_static(kind, "__getitem__"))


_of_arrays = gathered(numpy.bmat)


def _bmat(obj: Any, ldict: Any = None, gdict: Any = None) -> Any:
    if not isinstance(obj, str) or gdict is not None:
        return _of_arrays(obj, ldict, gdict)
    frame = users_frame(1)  # whose names are in the text
    return numpy.bmat(obj, frame.f_locals, frame.f_globals)


bmat = dressed(_bmat, numpy.bmat, "dappled", GATHERED)


c_ = _Indexed(numpy.c_)
r_ = _Indexed(numpy.r_)
mgrid = _Indexed(numpy.mgrid)
ogrid = _Indexed(numpy.ogrid)
