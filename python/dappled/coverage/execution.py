"""How a NumPy name is executed on several ranks."""

from __future__ import annotations

import inspect
import types
from typing import Any

import numpy

from dappled._dispatch.numpy_facts import (
    COMPUTED,
    GATHERED,
    PIECEWISE,
    WITHOUT_ARRAYS,
    WITHOUT_EXECUTION,
)
from dappled._ndarray.core import core
from dappled._routines.products import GENERALISED

NOT_ARRAYS = "not arrays"
EXECUTIONS = (COMPUTED, PIECEWISE, GATHERED, NOT_ARRAYS)

# Classes that are numbers, descriptions or errors.
_SCALAR_CLASSES = (numpy.generic, numpy.dtype, numpy.iinfo, numpy.finfo, BaseException)
_CONCATENATING = type(numpy.r_).__mro__[1]
_INDEXING = (_CONCATENATING, type(numpy.mgrid).__mro__[1])


def execution_of(theirs: Any, ours: Any, name: str = "") -> str:
    """How NumPy's object `theirs` is executed, given ours.

    >>> import dappled, numpy
    >>> names = ("sum", "divmod", "pi")
    >>> [execution_of(getattr(numpy, name), getattr(dappled, name)) for name in names]
    ['native', 'piecewise', 'not arrays']
    """
    if isinstance(ours, core.ufunc):
        return _ufunc_execution(ours)
    if name in WITHOUT_EXECUTION:
        return NOT_ARRAYS
    if result := getattr(ours, "__execution__", None):
        return str(result)
    if isinstance(theirs, type):
        return _class_execution(theirs, ours, name)
    if isinstance(theirs, _INDEXING):
        return GATHERED
    if not callable(theirs) or isinstance(theirs, types.ModuleType) or name in WITHOUT_ARRAYS:
        return NOT_ARRAYS
    return GATHERED


def _ufunc_execution(ours: Any) -> str:
    if ours._native or ours._numpy in GENERALISED:
        return COMPUTED
    return PIECEWISE if ours._numpy.signature is None else GATHERED


def _class_execution(theirs: type, ours: Any, name: str) -> str:
    if issubclass(theirs, _SCALAR_CLASSES) or name in WITHOUT_ARRAYS:
        return NOT_ARRAYS
    return COMPUTED if ours in (core.ndarray, core.ufunc) else GATHERED


def execution_of_member(kind: Any, name: str) -> str:
    """How a method or an attribute of a class of ours is executed."""
    member = inspect.getattr_static(kind, name, None)
    if member is None:  # what a ufunc says of itself, which is asked of NumPy's
        return NOT_ARRAYS
    if isinstance(member, staticmethod | classmethod):
        member = member.__func__
    if isinstance(member, property):
        member = member.fget
    return (
        NOT_ARRAYS if name in WITHOUT_EXECUTION else str(getattr(member, "__execution__", COMPUTED))
    )
