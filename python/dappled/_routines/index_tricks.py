"""Indexing objects: r_, c_, mgrid, ogrid, bmat."""

from __future__ import annotations

import functools
import inspect
import types
from importlib import import_module
from typing import Any

import numpy

from dappled._dispatch.callsite import user_frame
from dappled._dispatch.convert import NumPyCall
from dappled._dispatch.fallback import gathered, with_numpy_metadata
from dappled._dispatch.numpy_facts import COMPUTED, GATHERED
from dappled._dispatch.rebind import rebound
from dappled._ndarray.core import core

ufunc: Any = core.ufunc


# These make matrices of strings.
_CONCATENATORS = (type(numpy.c_), type(numpy.r_))


class _IndexingObject:
    """An object that makes arrays when it is indexed; on several ranks, by NumPy's Python code."""

    __execution__ = COMPUTED

    def __init__(self, theirs: Any) -> None:
        self._theirs = theirs
        self._kind: type = type(theirs)
        self.__doc__ = theirs.__doc__

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str) and self._kind in _CONCATENATORS:
            frame = user_frame(1)  # the key contains names of the caller
            return numpy.bmat(key, frame.f_globals, frame.f_locals)
        if core.ranks() > 1 and not _is_matrix(key):
            return _rebound_getitem(self._kind)(self._on_ranks(), key)
        numpy_call = NumPyCall(type(self._theirs).__name__, writeable=True)
        return numpy_call.from_numpy(self._theirs[numpy_call.to_numpy(key)])

    def _on_ranks(self) -> Any:
        """The attributes of the object that NumPy's Python code reads."""
        names = ("axis", "matrix", "ndmin", "sparse", "trans1d")
        known = {name: getattr(self._theirs, name) for name in names if hasattr(self._theirs, name)}
        return types.SimpleNamespace(concatenate=import_module("dappled").concatenate, **known)

    def __len__(self) -> int:
        return len(self._theirs)

    def __repr__(self) -> str:
        return repr(self._theirs)


def _is_matrix(key: Any) -> bool:
    """Whether a key requests a matrix, which NumPy creates."""
    first = key[0] if isinstance(key, tuple) and key else key
    return isinstance(first, str) and first in ("r", "c")


@functools.cache
def _rebound_getitem(kind: type) -> Any:
    return rebound(inspect.getattr_static(kind, "__getitem__"))


_gathered_bmat = gathered(numpy.bmat)


def _bmat(obj: Any, ldict: Any = None, gdict: Any = None) -> Any:
    if not isinstance(obj, str) or gdict is not None:
        return _gathered_bmat(obj, ldict, gdict)
    frame = user_frame(1)  # the string contains names of the caller
    return numpy.bmat(obj, frame.f_locals, frame.f_globals)


bmat = with_numpy_metadata(_bmat, numpy.bmat, "dappled", GATHERED)


c_ = _IndexingObject(numpy.c_)
r_ = _IndexingObject(numpy.r_)
mgrid = _IndexingObject(numpy.mgrid)
ogrid = _IndexingObject(numpy.ogrid)
