"""`dist=`: where an array lies that a function makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from dappled._array import core, is_moved, ndarray
from dappled._fallback import dressed


def placeable(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function with `dist=`: a Distribution, a letter for each axis, or None.

    >>> import dappled as np
    >>> np.ones((2, 3), dist="bc")
    array([[1., 1., 1.],
           [1., 1., 1.]])
    >>> np.zeros(5, dist="bb")
    Traceback (most recent call last):
    ...
    dappled.protocol.ProtocolError: L04: 'dist': got 'bb', expected 1 entries, one for each axis
    """

    def call(*args: Any, dist: Any = None, **kwargs: Any) -> Any:
        if dist is None:
            return function(*args, **kwargs)
        if given and core.ranks() > 1 and args and not isinstance(args[0], ndarray):
            return _scattered(given(*args, **kwargs), dist)
        return placed(function(*args, **kwargs), dist)

    given = _GIVEN.get(function.__name__)
    return dressed(call, function, function.__module__)


# Functions of values that every rank has: each takes its part of what NumPy makes of them.
_GIVEN: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (numpy.array, numpy.asarray, numpy.asanyarray, numpy.ascontiguousarray)
}


def _scattered(values: Any, dist: Any) -> Any:
    made = core.scatter(values, core.placed(dist, values.shape))
    return _refuse(values.dtype) if made is None else made


def _refuse(dtype: Any) -> Any:
    raise TypeError(f"an array of dtype {dtype} is held whole: it takes no dist")


def placed(made: Any, dist: Any) -> Any:
    """What a function has made, each array of it laid out so."""
    if isinstance(made, list | tuple):
        return type(made)(placed(array, dist) for array in made)
    if not isinstance(made, ndarray):
        return made
    wanted = core.placed(dist, made.shape)
    if not is_moved(made.dtype):
        _refuse(made.dtype)
    return made if _lies(made, wanted) else made.redistribute(wanted)


def _lies(made: Any, wanted: Any) -> bool:
    try:
        return bool(made.distribution == wanted)
    except ValueError:  # a part of an array, which has no distribution of its own
        return False
