"""The keyword `dist=` of functions that create arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from dappled._dispatch.fallback import with_numpy_metadata
from dappled._ndarray.core import core, is_communicable, ndarray


def with_dist_keyword(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function with `dist=`: a Distribution, a letter for each axis, or None.

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
            return _scatter(given(*args, **kwargs), dist)
        return redistribute_result(function(*args, **kwargs), dist)

    given = _FROM_VALUES.get(function.__name__)
    return with_numpy_metadata(call, function, function.__module__)


# Functions of replicated values: each rank takes its piece of NumPy's result.
_FROM_VALUES: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (numpy.array, numpy.asarray, numpy.asanyarray, numpy.ascontiguousarray)
}


def _scatter(values: Any, dist: Any) -> Any:
    result = core.scatter(values, core.placed(dist, values.shape))
    return _raise_not_supported(values.dtype) if result is None else result


def _raise_not_supported(dtype: Any) -> Any:
    raise TypeError(
        f"dist= is not supported for dtype {dtype}: such arrays are replicated on every rank"
    )


def redistribute_result(result: Any, dist: Any) -> Any:
    """A result with each array redistributed."""
    if isinstance(result, list | tuple):
        return type(result)(redistribute_result(array, dist) for array in result)
    if not isinstance(result, ndarray):
        return result
    wanted = core.placed(dist, result.shape)
    if not is_communicable(result.dtype):
        _raise_not_supported(result.dtype)
    return result if _has_distribution(result, wanted) else result.redistribute(wanted)


def _has_distribution(result: Any, wanted: Any) -> bool:
    try:
        return bool(result.distribution == wanted)
    except ValueError:  # a part of an array, which has no distribution of its own
        return False
