"""Arrays in pieces in a random order: NumPy's, which every rank has; elements stay in pieces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from dappled._crossing import Proxy
from dappled._fallback import dressed
from dappled._piecewise import in_pieces
from dappled._tables import PIECEWISE

Function = Callable[..., Any]


def ordering(function: Function, otherwise: Function, module: str) -> Function:
    """Our `choice`, `permutation` or `shuffle`, of a generator or of the module."""
    arrange = ORDERING[function.__name__]
    bound = getattr(function, "__self__", None)
    is_method = not isinstance(bound, numpy.random.RandomState)

    def call(*args: Any, **kwargs: Any) -> Any:
        first, *given = args if is_method else (bound, *args)
        theirs = first._numpy if isinstance(first, Proxy) else first
        if not given or not _is_ordered(theirs, given, kwargs):
            return otherwise(*args, **kwargs)
        return arrange(theirs, *given, **kwargs)

    return dressed(call, function, module, PIECEWISE)


def _is_ordered(generator: Any, given: list[Any], options: dict[str, Any]) -> bool:
    """Whether an array in pieces has an axis that can be ordered; NumPy says what is wrong else."""
    array, axis = given[0], options.get("axis", 0)
    if not in_pieces(array) or len(given) > 3 or not isinstance(axis, int):
        return False
    several = array.ndim > 1 and isinstance(generator, numpy.random.RandomState)
    return -array.ndim <= axis < array.ndim and not (several and "size" in options)


def _order(generator: Any, length: int) -> Any:
    order = numpy.arange(length)
    generator.shuffle(order)
    return order


def _shuffle(generator: Any, x: Any, axis: int = 0) -> None:
    x[...] = numpy.take(x, _order(generator, x.shape[axis]), axis=axis)


def _permutation(generator: Any, x: Any, axis: int = 0) -> Any:
    return numpy.take(x, _order(generator, x.shape[axis]), axis=axis)


def _choice(generator: Any, a: Any, *args: Any, axis: int = 0, **kwargs: Any) -> Any:
    chosen = generator.choice(a.shape[axis], *args, **kwargs)
    return numpy.take(a, chosen, axis=axis)


ORDERING: dict[str, Function] = {
    "choice": _choice,
    "permutation": _permutation,
    "shuffle": _shuffle,
}
