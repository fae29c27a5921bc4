"""The second door: a NumPy function that was called with an array of ours."""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from dappled._array import core, ndarray
from dappled._crossing import Crossing
from dappled._fallback import gathered
from dappled._foreign import asks, is_asked, is_for_library
from dappled._tables import DESCRIBING, VIEWS

# Functions that look at no element: of a distributed array only ours know the answer.
_OURS = {*DESCRIBING, "may_share_memory", "shares_memory"}


def _array_function(
    self: Any, func: Callable[..., Any], types: Any, args: Any, kwargs: dict[str, Any]
) -> Any:
    if any(map(asks, types)):
        return NotImplemented  # whose objects know what to do, and not we
    if is_for_library(2) and func.__name__ not in _OURS:
        return _theirs(func, args, kwargs)
    found = ours(func)
    if isinstance(found, core.function) and any(map(is_asked, (*args, *kwargs.values()))):
        found = found._general  # they were not asked for these arguments: not again
    return found(*args, **kwargs)


def asked(function: Callable[..., Any], args: Any, kwargs: dict[str, Any] | None) -> Any:
    """NumPy's function where objects have their say: it asks them, or keeps their class."""
    given = (*args, *(kwargs or {}).values())
    if any(asks(kind) for one in given for kind in map(type, _items(one))):
        found = function(*args, **(kwargs or {}))
        return Crossing(function.__name__).back(found)
    return _by_numpy(function)(*args, **(kwargs or {}))


_by_numpy = functools.cache(gathered)


def _items(value: Any) -> list[Any]:
    """A value, or the items of a list of them."""
    if type(value) not in (list, tuple):
        return [value]
    return [deeper for item in value for deeper in _items(item)]


def _theirs(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """NumPy's function on NumPy's arrays; only what was written into is ours."""
    lends = func.__name__ in VIEWS
    crossing = Crossing(f"numpy.{func.__name__}", writeable=True, lends=lends)
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
