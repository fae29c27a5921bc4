"""NumPy's functions that are written in Python, run over our arrays.

Many of NumPy's functions are a few lines of Python over others: `roll` is `empty_like` and some
assignments, `nanmean` is `isnan`, `copyto`, `sum` and `divide`. Such a function is given to
Python once more with other globals, in which every function of NumPy's is ours. So it gathers
nothing, stays lazy, and has NumPy's steps, results, errors and warnings whatever NumPy's version.

A global is replaced like this, and what is not known is always right, if slower:

    numpy.ndarray                          our class
    a ufunc, or a bound method of one      ours
    a public function                      what `dappled` has under that name
    a private one, in Python               itself rebound
    a private one, in C                    one that gathers, or that leaves it to others
    the helper class `_array_converter`    `ArrayConverter`
    the class `broadcast`                  itself, of the shapes alone
    a module of NumPy's                    its names, each replaced when it is asked for
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy

from dappled._array import core, ndarray, ufuncs, wrapped
from dappled._converter import ArrayConverter
from dappled._fallback import adopt, dressed, shadow
from dappled._line import called_by_user
from dappled._tables import DESCRIBING, FOREIGN

_made: dict[Any, Any] = {}
# Quick ways that may be refused: then NumPy goes on with what need not be in one place.
_REFUSED = {"_unique_hash"}


def _broadcast(*arrays: Any) -> Any:
    """`numpy.broadcast`, which is asked for shapes alone."""
    return numpy.broadcast(*shadow(arrays))


_CLASSES = {"_array_converter": ArrayConverter, "broadcast": _broadcast}


def rebound(function: Any, module: str = "dappled") -> Callable[..., Any]:
    """A function of NumPy's over our arrays."""
    code = in_python(function)
    if code is None:
        return adopt(function, module)
    return dressed(_with_out(_copy(code), code), function, module)


def _inner(function: Any) -> Callable[..., Any]:
    """A rebound function that others call: the frames to the program's are as many as NumPy's."""
    code = in_python(function)
    return adopt(function) if code is None else dressed(_copy(code), function, "dappled")


def _with_out(rebound: Any, code: types.FunctionType) -> Any:
    """A rebound function whose `out` may be NumPy's: it sees an array of ours over that memory."""
    names = code.__code__.co_varnames[: code.__code__.co_argcount + code.__code__.co_kwonlyargcount]
    if "out" not in names:
        return rebound
    place = names.index("out")

    def call(*args: Any, **kwargs: Any) -> Any:
        out = args[place] if len(args) > place else kwargs.get("out")
        if type(out) is not numpy.ndarray:
            return called_by_user(rebound, *args, **kwargs)
        shared = core.share(out)
        if len(args) > place:
            args = (*args[:place], shared, *args[place + 1 :])
        else:
            kwargs = {**kwargs, "out": shared}
        found = called_by_user(rebound, *args, **kwargs)
        return out if found is shared else found

    return call


def apart(function: Any) -> Callable[..., Any]:
    """A rebound function to which others, when they are rebound, are not led: ours is better."""
    made = rebound(function)
    _made.pop(in_python(function), None)
    return made


def rewrapped(function: Any, module: str = "dappled") -> Callable[..., Any]:
    """A rebound function whose result may be an array of NumPy's."""
    inner = rebound(function, module)

    def call(*args: Any, **kwargs: Any) -> Any:
        result = called_by_user(inner, *args, **kwargs)  # what it warns of is the user's line
        given = any(result is value for value in (*args, *kwargs.values()))  # as an `out`
        return wrapped(result) if type(result) is numpy.ndarray and not given else result

    return dressed(call, function, module, vars(inner)["__way__"])


def on_ranks(function: Any, module: str = "dappled") -> Callable[..., Any]:
    """A function that is rebound where there are several ranks, and NumPy's on one."""
    alone, inner = adopt(function, module), rewrapped(function, module)

    def call(*args: Any, **kwargs: Any) -> Any:
        return (alone if core.ranks() == 1 else inner)(*args, **kwargs)

    return dressed(call, function, module, vars(inner)["__way__"])


def in_python(function: Any) -> types.FunctionType | None:
    """The Python function behind one of NumPy's, without the dispatch around it."""
    while not isinstance(function, types.FunctionType) and hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function if isinstance(function, types.FunctionType) else None


def _with_view_flags(code: types.CodeType) -> types.CodeType:
    """Code that reads `_flags` instead of `flags`: a part of a distributed array that is not
    contiguous has other flags than its gathered copy, and NumPy chooses an order by them.
    """
    names = tuple("_flags" if name == "flags" else name for name in code.co_names)
    inner = (
        _with_view_flags(one) if isinstance(one, types.CodeType) else one for one in code.co_consts
    )
    return code.replace(co_names=names, co_consts=tuple(inner))


def _copy(function: types.FunctionType) -> Any:
    if function in _made:
        return _made[function]
    theirs = function.__globals__
    ours = {"__builtins__": builtins, "__name__": theirs["__name__"]}
    copy = types.FunctionType(
        _with_view_flags(function.__code__),
        ours,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    _made[function] = copy  # before its globals, among which it may be itself
    ours |= {name: _global(name, theirs) for name in _names(function.__code__) if name in theirs}
    return copy


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _global(name: str, theirs: dict[str, Any]) -> Any:
    made = _value(theirs[name])
    return _with_like(theirs[name], made) if name.endswith("_with_like") else made


def _with_like(function: Any, made: Callable[..., Any]) -> Callable[..., Any]:
    """A function that asks its first argument, which it does not get."""

    def call(like: Any, *args: Any, **kwargs: Any) -> Any:
        ours = isinstance(like, ndarray)
        return made(*args, **kwargs) if ours else function(like, *args, **kwargs)

    return call


def _value(value: Any) -> Any:
    if value is numpy.ndarray:
        return import_module("dappled").ndarray
    if isinstance(value, types.ModuleType):
        return _Names(value) if _is_numpys(value.__name__) else value
    if isinstance(getattr(value, "__self__", None), numpy.ufunc):
        return getattr(_value(value.__self__), value.__name__)
    if isinstance(value, type):
        return _CLASSES.get(value.__name__, value)
    if not callable(value):
        return value
    return _function(value)


def _function(value: Any) -> Any:
    name = getattr(value, "__name__", "")
    if name in FOREIGN or not _is_numpys(getattr(value, "__module__", None) or "numpy"):
        return value
    if name in _REFUSED:
        return lambda *args, **kwargs: NotImplemented
    if isinstance(value, numpy.ufunc):
        return ufuncs[name] if name in ufuncs else adopt(value)
    if in_python(value) in _made:
        return _made[in_python(value)]
    if name in numpy.__all__ and value in _behind(getattr(numpy, name)):
        return getattr(import_module("dappled"), name)
    if value in _behind(getattr(numpy.linalg, name, None)):
        return getattr(import_module("dappled.linalg"), name)
    if name in DESCRIBING:
        return adopt(value)
    return _inner(value) if name else value


def _behind(function: Any) -> tuple[Any, Any]:
    """A function, and what NumPy dispatches to behind it, which it calls itself at times."""
    return function, getattr(function, "__wrapped__", function)


def _is_numpys(module: str) -> bool:
    return module.partition(".")[0] == "numpy"


class _Names:
    """A module of NumPy's as a rebound function sees it."""

    def __init__(self, theirs: types.ModuleType) -> None:
        self._theirs = theirs

    def __getattr__(self, name: str) -> Any:
        value = _value(getattr(self._theirs, name))
        setattr(self, name, value)
        return value
