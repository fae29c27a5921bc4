"""Rebinding: NumPy's Python functions run over our arrays.

Many of NumPy's functions are a few lines of Python over others: `roll` is `empty_like` and some
assignments, `nanmean` is `isnan`, `copyto`, `sum` and `divide`. Rebinding copies a function with
other globals, in which every NumPy function is ours. The copy gathers nothing, stays lazy, and has
NumPy's steps, results, errors and warnings, whatever NumPy's version.

A global is replaced as follows; an unknown one is used as it is, which is correct, if slower:

```text
numpy.ndarray                          our class
a ufunc, or a bound method of one      ours
a public function                      `dappled`'s function of that name
a private Python function              itself rebound
a private C function                   one that gathers, or one that is unavailable
the helper class `_array_converter`    `ArrayConverter`
the class `broadcast`                  itself, with metadata arrays
a module of NumPy                      an object that replaces its names on access
```
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy

from dappled._compat.cpython_private import with_renamed_attribute
from dappled._compat.numpy_private import ARRAY_CONVERTER, HASHED_UNIQUE, LIKE_SUFFIX
from dappled._dispatch.array_converter import ArrayConverter
from dappled._dispatch.callsite import call_from_user_frame
from dappled._dispatch.fallback import adopt, with_numpy_metadata
from dappled._dispatch.meta import as_meta
from dappled._dispatch.numpy_facts import METADATA_ONLY, WITHOUT_ARRAYS
from dappled._ndarray.core import core, from_numpy, ndarray, ufuncs

_rebound: dict[Any, Any] = {}
# Optional fast paths: NumPy continues without them.
_UNAVAILABLE = {HASHED_UNIQUE}


def _broadcast(*arrays: Any) -> Any:
    """`numpy.broadcast` of metadata arrays."""
    return numpy.broadcast(*as_meta(arrays))


_CLASSES = {ARRAY_CONVERTER: ArrayConverter, "broadcast": _broadcast}


def rebound(function: Any, module: str = "dappled") -> Callable[..., Any]:
    """A NumPy function over our arrays."""
    code = python_function(function)
    if code is None:
        return adopt(function, module)
    return with_numpy_metadata(_with_out(_copy(code), code), function, module)


def _rebound_callee(function: Any) -> Callable[..., Any]:
    """A rebound function that other rebound functions call, with NumPy's number of frames."""
    code = python_function(function)
    return (
        adopt(function) if code is None else with_numpy_metadata(_copy(code), function, "dappled")
    )


def _with_out(rebound: Any, code: types.FunctionType) -> Any:
    """A rebound function that accepts a NumPy array as `out`."""
    names = code.__code__.co_varnames[: code.__code__.co_argcount + code.__code__.co_kwonlyargcount]
    if "out" not in names:
        return rebound
    position = names.index("out")

    def call(*args: Any, **kwargs: Any) -> Any:
        out = args[position] if len(args) > position else kwargs.get("out")
        if type(out) is not numpy.ndarray:
            return call_from_user_frame(rebound, *args, **kwargs)
        shared = core.share(out)
        if len(args) > position:
            args = (*args[:position], shared, *args[position + 1 :])
        else:
            kwargs = {**kwargs, "out": shared}
        result = call_from_user_frame(rebound, *args, **kwargs)
        return out if result is shared else result

    return call


def rebound_separately(function: Any) -> Callable[..., Any]:
    """A rebound function that rebinding of other functions does not use."""
    result = rebound(function)
    _rebound.pop(python_function(function), None)
    return result


def rebound_and_wrapped(function: Any, module: str = "dappled") -> Callable[..., Any]:
    """A rebound function whose result may be a NumPy array."""
    inner = rebound(function, module)

    def call(*args: Any, **kwargs: Any) -> Any:
        result = call_from_user_frame(inner, *args, **kwargs)  # warnings name the user's line
        given = any(result is value for value in (*args, *kwargs.values()))  # as an `out`
        return from_numpy(result) if type(result) is numpy.ndarray and not given else result

    return with_numpy_metadata(call, function, module, vars(inner)["__execution__"])


def rebound_on_ranks(function: Any, module: str = "dappled") -> Callable[..., Any]:
    """A function that is rebound on several ranks, and NumPy's on one."""
    alone, inner = adopt(function, module), rebound_and_wrapped(function, module)

    def call(*args: Any, **kwargs: Any) -> Any:
        return (alone if core.ranks() == 1 else inner)(*args, **kwargs)

    return with_numpy_metadata(call, function, module, vars(inner)["__execution__"])


def python_function(function: Any) -> types.FunctionType | None:
    """The Python function behind a NumPy function, without its dispatcher."""
    while not isinstance(function, types.FunctionType) and hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function if isinstance(function, types.FunctionType) else None


def _copy(function: types.FunctionType) -> Any:
    if function in _rebound:
        return _rebound[function]
    theirs = function.__globals__
    ours = {"__builtins__": builtins, "__name__": theirs["__name__"]}
    copy = types.FunctionType(
        # A non-contiguous view of a distributed array has other flags than its gathered copy, and
        # NumPy's functions choose a memory order by them.
        with_renamed_attribute(function.__code__, "flags", "_flags"),
        ours,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    _rebound[function] = copy  # before its globals, which may contain it
    ours |= {
        name: _global(name, theirs) for name in _global_names(function.__code__) if name in theirs
    }
    return copy


def _global_names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _global_names(constant)


def _global(name: str, theirs: dict[str, Any]) -> Any:
    result = _replacement(theirs[name])
    return _without_like(theirs[name], result) if name.endswith(LIKE_SUFFIX) else result


def _without_like(function: Any, result: Callable[..., Any]) -> Callable[..., Any]:
    """A function without its `like` argument."""

    def call(like: Any, *args: Any, **kwargs: Any) -> Any:
        ours = isinstance(like, ndarray)
        return result(*args, **kwargs) if ours else function(like, *args, **kwargs)

    return call


def _replacement(value: Any) -> Any:
    if value is numpy.ndarray:
        return import_module("dappled").ndarray
    if isinstance(value, types.ModuleType):
        return _ModuleReplacement(value) if _is_numpy_module(value.__name__) else value
    if isinstance(getattr(value, "__self__", None), numpy.ufunc):
        return getattr(_replacement(value.__self__), value.__name__)
    if isinstance(value, type):
        return _CLASSES.get(value.__name__, value)
    if not callable(value):
        return value
    return _function_replacement(value)


def _function_replacement(value: Any) -> Any:
    name = getattr(value, "__name__", "")
    if name in WITHOUT_ARRAYS or not _is_numpy_module(
        getattr(value, "__module__", None) or "numpy"
    ):
        return value
    if name in _UNAVAILABLE:
        return lambda *args, **kwargs: NotImplemented
    if isinstance(value, numpy.ufunc):
        return ufuncs[name] if name in ufuncs else adopt(value)
    if python_function(value) in _rebound:
        return _rebound[python_function(value)]
    if name in numpy.__all__ and value in _behind(getattr(numpy, name)):
        return getattr(import_module("dappled"), name)
    if value in _behind(getattr(numpy.linalg, name, None)):
        return getattr(import_module("dappled.linalg"), name)
    if name in METADATA_ONLY:
        return adopt(value)
    return _rebound_callee(value) if name else value


def _behind(function: Any) -> tuple[Any, Any]:
    """A function, and the implementation behind its dispatcher."""
    return function, getattr(function, "__wrapped__", function)


def _is_numpy_module(module: str) -> bool:
    return module.partition(".")[0] == "numpy"


class _ModuleReplacement:
    """A NumPy module as a rebound function sees it."""

    def __init__(self, theirs: types.ModuleType) -> None:
        self._theirs = theirs

    def __getattr__(self, name: str) -> Any:
        value = _replacement(getattr(self._theirs, name))
        setattr(self, name, value)
        return value
