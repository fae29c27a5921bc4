"""What the Python array API standard 2024.12 has and NumPy has not: a few keywords."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any

from dappled._fallback import dressed

Function = Callable[..., Any]


def standard(function: Function, name: str) -> Function:
    """A function with the keywords that the standard gives it, beside NumPy's.

    >>> import dappled as np
    >>> np.argsort([3, 1, 3], descending=True), np.diff([1, 4], prepend=None)
    (array([0, 2, 1]), array([3]))
    >>> np.fft.fftfreq(2, dtype=np.float32)
    array([ 0. , -0.5], dtype=float32)
    """
    if name not in _EXTENDED:
        return function
    made = dressed(_EXTENDED[name](function), function, function.__module__)
    made.__dict__["__signature__"] = _signature(function, _KEYWORDS.get(name, {}))
    return made


def _signature(function: Function, keywords: dict[str, Any]) -> inspect.Signature:
    theirs = inspect.signature(function)
    kind = inspect.Parameter.KEYWORD_ONLY
    more = [inspect.Parameter(name, kind, default=value) for name, value in keywords.items()]
    return theirs.replace(parameters=[*theirs.parameters.values(), *more])


def _sort(sort: Function) -> Function:
    def call(a: Any, axis: Any = -1, *args: Any, descending: bool = False, **kwargs: Any) -> Any:
        found = sort(a, axis, *args, **kwargs)
        return _flip(found, 0 if axis is None else axis) if descending else found

    return call


def _argsort(argsort: Function) -> Function:
    def call(a: Any, axis: Any = -1, *args: Any, descending: bool = False, **kwargs: Any) -> Any:
        if not descending:
            return argsort(a, axis, *args, **kwargs)
        ours = import_module("dappled").asarray(a)
        row, along = (ours.reshape(-1), 0) if axis is None else (ours, axis)
        if not args and kwargs.get("kind") is None:  # the standard's default
            kwargs["stable"] = True if kwargs.get("stable") is None else kwargs["stable"]
        # From behind, so that of equal elements the first stays the first.
        found = argsort(_flip(row, along), along, *args, **kwargs)
        return row.shape[along] - 1 - _flip(found, along)

    return call


def _flip(array: Any, axis: int) -> Any:
    return import_module("dappled").flip(array, axis=axis)


def _diff(diff: Function) -> Function:
    def call(*args: Any, **kwargs: Any) -> Any:
        none = [name for name in ("prepend", "append") if kwargs.get(name, ...) is None]
        return diff(*args, **{name: kwargs[name] for name in kwargs if name not in none})

    return call


def _frequencies(function: Function) -> Function:
    def call(*args: Any, dtype: Any = None, **kwargs: Any) -> Any:
        found = function(*args, **kwargs)
        return found if dtype is None else found.astype(dtype)

    return call


_KEYWORDS: dict[str, dict[str, Any]] = {
    "sort": {"descending": False},
    "argsort": {"descending": False},
    "fft.fftfreq": {"dtype": None},
    "fft.rfftfreq": {"dtype": None},
}
_EXTENDED: dict[str, Callable[[Function], Function]] = {
    "sort": _sort,
    "argsort": _argsort,
    "diff": _diff,
    "fft.fftfreq": _frequencies,
    "fft.rfftfreq": _frequencies,
}
