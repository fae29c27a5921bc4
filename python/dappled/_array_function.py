"""The second door: a NumPy function that was called with an array of ours."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from dappled._array import ndarray
from dappled._crossing import Crossing
from dappled._fallback import gathered
from dappled._tables import DESCRIBING

# Libraries that go on in compiled code, where an array must be NumPy's.
_COMPILED = {"matplotlib", "pandas", "scipy", "skimage", "sklearn", "statsmodels"}


def _array_function(
    self: Any, func: Callable[..., Any], types: Any, args: Any, kwargs: dict[str, Any]
) -> Any:
    if _asked_by() in _COMPILED and func.__name__ not in DESCRIBING:
        return _theirs(func, args, kwargs)
    return ours(func)(*args, **kwargs)


def _asked_by() -> str:
    """The package that called NumPy's function."""
    name = sys._getframe(2).f_globals.get("__name__") or ""
    return str(name).partition(".")[0]


def _theirs(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """NumPy's function on NumPy's arrays; only what was written into is ours."""
    crossing = Crossing(f"numpy.{func.__name__}", writeable=True)
    over = {name: crossing.over(value, name == "out") for name, value in kwargs.items()}
    result = func(*map(crossing.over, args), **over)
    crossing.write_back()
    return kwargs["out"] if isinstance(kwargs.get("out"), ndarray) else result


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
