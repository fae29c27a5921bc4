"""Keywords of the Python array API standard 2024.12 that NumPy lacks."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any

from dappled._dispatch.fallback import with_numpy_metadata

Function = Callable[..., Any]


def with_array_api_keywords(function: Function, name: str) -> Function:
    """A function with the standard's keywords next to NumPy's.

    >>> import dappled as np
    >>> np.argsort([3, 1, 3], descending=True), np.diff([1, 4], prepend=None)
    (array([0, 2, 1]), array([3]))
    >>> np.fft.fftfreq(2, dtype=np.float32)
    array([ 0. , -0.5], dtype=float32)
    """
    if name not in _EXTENDED:
        return function
    result = with_numpy_metadata(_EXTENDED[name](function), function, function.__module__)
    result.__dict__["__signature__"] = _signature(function, _KEYWORDS.get(name, {}))
    return result


def _signature(function: Function, keywords: dict[str, Any]) -> inspect.Signature:
    theirs = inspect.signature(function)
    kind = inspect.Parameter.KEYWORD_ONLY
    more = [inspect.Parameter(name, kind, default=value) for name, value in keywords.items()]
    return theirs.replace(parameters=[*theirs.parameters.values(), *more])


def _sort(sort: Function) -> Function:
    def call(a: Any, axis: Any = -1, *args: Any, descending: bool = False, **kwargs: Any) -> Any:
        result = sort(a, axis, *args, **kwargs)
        return _flip(result, 0 if axis is None else axis) if descending else result

    return call


def _argsort(argsort: Function) -> Function:
    def call(a: Any, axis: Any = -1, *args: Any, descending: bool = False, **kwargs: Any) -> Any:
        if not descending:
            return argsort(a, axis, *args, **kwargs)
        ours = import_module("dappled").asarray(a)
        row, along = (ours.reshape(-1), 0) if axis is None else (ours, axis)
        if not args and kwargs.get("kind") is None:  # the standard's default
            kwargs["stable"] = True if kwargs.get("stable") is None else kwargs["stable"]
        # Reversed, so that of equal elements the first stays first.
        result = argsort(_flip(row, along), along, *args, **kwargs)
        return row.shape[along] - 1 - _flip(result, along)

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
        result = function(*args, **kwargs)
        return result if dtype is None else result.astype(dtype)

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
