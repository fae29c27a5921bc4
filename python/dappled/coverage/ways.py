"""How a name of NumPy's is computed on several ranks, from what we offer under it."""

from __future__ import annotations

import inspect
import types
from typing import Any

import numpy

from dappled._array import core
from dappled._products import GENERALISED
from dappled._tables import COMPUTED, FOREIGN, GATHERED, PIECEWISE, PLAIN

NOT_ARRAYS = "not arrays"
WAYS = (COMPUTED, PIECEWISE, GATHERED, NOT_ARRAYS)

# Classes that are numbers, descriptions or errors.
_PLAIN = (numpy.generic, numpy.dtype, numpy.iinfo, numpy.finfo, BaseException)
_CONCATENATING = type(numpy.r_).__mro__[1]
_INDEXING = (_CONCATENATING, type(numpy.mgrid).__mro__[1])


def way(theirs: Any, ours: Any, name: str = "") -> str:
    """How what NumPy has under a name is computed, of which ours is given.

    >>> import dappled, numpy
    >>> way(numpy.sum, dappled.sum), way(numpy.divmod, dappled.divmod), way(numpy.pi, dappled.pi)
    ('native', 'piecewise', 'not arrays')
    """
    if isinstance(ours, core.ufunc):
        return _of_ufunc(ours)
    if name in PLAIN:
        return NOT_ARRAYS
    if found := getattr(ours, "__way__", None):
        return str(found)
    if isinstance(theirs, type):
        return _of_class(theirs, ours, name)
    if isinstance(theirs, _INDEXING):
        return GATHERED
    if not callable(theirs) or isinstance(theirs, types.ModuleType) or name in FOREIGN:
        return NOT_ARRAYS
    return GATHERED


def _of_ufunc(ours: Any) -> str:
    if ours._native or ours._numpy in GENERALISED:
        return COMPUTED
    return PIECEWISE if ours._numpy.signature is None else GATHERED


def _of_class(theirs: type, ours: Any, name: str) -> str:
    if issubclass(theirs, _PLAIN) or name in FOREIGN:
        return NOT_ARRAYS
    return COMPUTED if ours in (core.ndarray, core.ufunc) else GATHERED


def way_of_member(kind: Any, name: str) -> str:
    """The same of a method or an attribute of a class of ours."""
    member = inspect.getattr_static(kind, name, None)
    if member is None:  # what a ufunc says of itself, which is asked of NumPy's
        return NOT_ARRAYS
    if isinstance(member, staticmethod | classmethod):
        member = member.__func__
    if isinstance(member, property):
        member = member.fget
    return NOT_ARRAYS if name in PLAIN else str(getattr(member, "__way__", COMPUTED))
