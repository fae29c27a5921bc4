"""NEP 18: a NumPy function called with one of our arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from dappled._dispatch.convert import NumPyCall
from dappled._dispatch.fallback import gathered
from dappled._dispatch.numpy_facts import METADATA_ONLY, VIEWS
from dappled._interop.duck_arrays import (
    class_overrides_functions,
    is_called_by_library,
    overrides_functions,
)
from dappled._ndarray.core import core, ndarray

# Functions of metadata alone, also for libraries.
_METADATA_FUNCTIONS = {*METADATA_ONLY, "may_share_memory", "shares_memory"}


def _array_function(
    self: Any, func: Callable[..., Any], types: Any, args: Any, kwargs: dict[str, Any]
) -> Any:
    if any(map(class_overrides_functions, types)):
        return NotImplemented  # their implementation decides
    if is_called_by_library(2) and func.__name__ not in _METADATA_FUNCTIONS:
        return _call_for_library(func, args, kwargs)
    result = our_function(func)
    if isinstance(result, core.function) and any(
        map(overrides_functions, (*args, *kwargs.values()))
    ):
        result = result._general  # the overrides were tried already
    return result(*args, **kwargs)


def call_with_overrides(
    function: Callable[..., Any], args: Any, kwargs: dict[str, Any] | None
) -> Any:
    """NumPy's function with objects that override it, or whose class it keeps."""
    given = (*args, *(kwargs or {}).values())
    if any(class_overrides_functions(kind) for one in given for kind in map(type, _items(one))):
        result = function(*args, **(kwargs or {}))
        return NumPyCall(function.__name__).from_numpy(result)
    return _by_numpy(function)(*args, **(kwargs or {}))


_by_numpy = functools.cache(gathered)


def _items(value: Any) -> list[Any]:
    """A value, or the items of a list of them."""
    if type(value) not in (list, tuple):
        return [value]
    return [deeper for item in value for deeper in _items(item)]


def _call_for_library(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """NumPy's function on NumPy arrays; only an `out` of ours is returned."""
    lends = func.__name__ in VIEWS
    numpy_call = NumPyCall(f"numpy.{func.__name__}", writeable=True, lends=lends)
    over = {name: numpy_call.to_numpy(value, name == "out") for name, value in kwargs.items()}
    result = func(*map(numpy_call.to_numpy, args), **over)
    numpy_call.write_back()
    return kwargs["out"] if isinstance(kwargs.get("out"), ndarray) else result


@functools.cache
def our_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """Our function of the same name, or one that gathers."""
    package, _, rest = (getattr(function, "__module__", None) or "").partition(".")
    name = function.__name__
    # Functions of `numpy.char` are in `numpy.strings` under a private name.
    candidates = [(rest, name), ("char", name.lstrip("_"))] if rest == "strings" else [(rest, name)]
    for path, name in candidates if package == "numpy" else ():
        result = getattr(_module(f"dappled.{path}".rstrip(".")), name, None)
        if result and _wraps(result, function):
            return result  # type: ignore[no-any-return]
    return gathered(function)


def _wraps(ours: Any, function: Callable[..., Any]) -> bool:
    """Whether a function of ours wraps this one of NumPy's."""
    while ours is not function and hasattr(ours, "__wrapped__"):
        ours = ours.__wrapped__
    return ours is function


def _module(name: str) -> ModuleType | None:
    try:
        return import_module(name)
    except ImportError:
        return None


METHODS = {"__array_function__": _array_function}
