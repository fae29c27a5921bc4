"""The second door: a NumPy function that was called with an array of ours."""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from dappled._fallback import gathered


def _array_function(
    self: Any, func: Callable[..., Any], types: Any, args: Any, kwargs: dict[str, Any]
) -> Any:
    return ours(func)(*args, **kwargs)


@functools.cache
def ours(function: Callable[..., Any]) -> Callable[..., Any]:
    """Our function of the same name; where we have none, one that gathers."""
    package, _, rest = (getattr(function, "__module__", None) or "").partition(".")
    name = function.__name__
    # What `numpy.char` has of its own lies in `numpy.strings`, under a private name.
    places = [(rest, name), ("char", name.lstrip("_"))] if rest == "strings" else [(rest, name)]
    for path, name in places if package == "numpy" else ():
        found = getattr(_module(f"dappled.{path}".rstrip(".")), name, None)
        if found and _is_of(found, function):
            return found  # type: ignore[no-any-return]
    return gathered(function)


def _is_of(ours: Any, function: Callable[..., Any]) -> bool:
    """Whether a function of ours was made, perhaps by several steps, from this one of NumPy's."""
    while ours is not function and hasattr(ours, "__wrapped__"):
        ours = ours.__wrapped__
    return ours is function


def _module(name: str) -> ModuleType | None:
    try:
        return import_module(name)
    except ImportError:
        return None


METHODS = {"__array_function__": _array_function}
