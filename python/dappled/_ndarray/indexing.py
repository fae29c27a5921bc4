"""Advanced indexing of distributed arrays: get, set and `ufunc.at`.

The core resolves keys and moves elements. Python casts values, and raises NumPy's errors for keys
that the core does not know.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy

from dappled._dispatch.callsite import call_from_user_frame
from dappled._ndarray.core import core, ndarray, ufuncs
from dappled._ndarray.index_keys import (
    is_basic_index,
    is_distributed_index,
    raise_like_numpy,
    scalar_key,
)
from dappled._ranks.comm import check_collective
from dappled._ranks.consensus import collective_try
from dappled._ranks.map_blocks import is_distributed
from dappled._routines.broadcasting import fits
from dappled._routines.creation import asarray


def getitem(array: Any, key: Any) -> Any:
    """The elements that an advanced index selects; NotImplemented for the fallback."""
    if not is_distributed_index(array, key):
        return NotImplemented
    check_collective("indexing")
    if (single := scalar_key(key)) is not None:
        result = array[single]
        return result.copy("K") if isinstance(result, ndarray) else result
    result = core.index(array, key)
    return raise_like_numpy(array, key) if result is None else result


def setitem(array: Any, key: Any, value: Any) -> Any:
    """Assigns through an advanced index; NotImplemented for the fallback."""
    if not is_distributed_index(array, key, value):
        return _write_sequence(array, key, value)
    check_collective("indexing")
    if (single := scalar_key(key)) is not None:
        array[single] = value
        return None
    try:
        given = call_from_user_frame(_cast, value, array.dtype)
    except Exception:
        raise_like_numpy(array, key)  # an error in the key is raised first
        raise
    return None if core.assign_index(array, key, given) else raise_like_numpy(array, key)


def _write_sequence(array: Any, key: Any, value: Any) -> Any:
    """Assigns a sequence through a basic key; NotImplemented for rare or invalid keys."""
    keys = key if isinstance(key, tuple) else (key,)
    known = isinstance(value, list | tuple | range) and all(map(is_basic_index, keys))
    if not (known and is_distributed(array) and array._writeable and not array._items):
        return NotImplemented
    part = array[key]
    try:
        result = asarray(value, array.dtype)
    except (OverflowError, TypeError, ValueError):
        return NotImplemented
    # A single element, or a sequence too deeply nested
    if not isinstance(part, ndarray) or result.ndim > part.ndim:
        return NotImplemented
    part[...] = result
    return None


def at(ufunc: Any, array: Any, key: Any, *values: Any) -> Any:
    """`ufunc.at`; NotImplemented for the fallback."""
    keys = key if isinstance(key, tuple) else (key,)
    if isinstance(array, ndarray) and core.ranks() > 1 and len(values) == ufunc.nin - 1:
        _check_loop(ufunc, array, values)
    if is_distributed(array) and all(map(is_basic_index, keys)):
        dots = () if any(one is ... for one in keys) else (...,)  # a view even of a single element
        return _at_unique(ufunc, array, (*keys, *dots), values)
    if not isinstance(array, ndarray) or not is_distributed_index(array, key, *values):
        return NotImplemented
    check_collective("ufunc.at")
    if not array._writeable:
        return NotImplemented
    value = asarray(values[0]) if values else None
    try:
        routed = core.route_index(array, key, value)
    except ValueError:
        routed = None
    if routed is None:  # NumPy raises, also for superfluous axes of length 1
        return NotImplemented
    view, rows, positions, given = routed
    operands = () if value is None else (core.unwrap(value) if given is None else given,)
    # Raised on all ranks before anything is written.
    collective_try(lambda: ufunc.at(rows.local, positions, *operands))
    view[...] = rows.reshape(view.shape)
    return None


def _check_loop(ufunc: Any, array: Any, values: tuple[Any, ...]) -> None:
    """Raises NumPy's dtype error, which precedes errors about indices."""
    rows = [one if hasattr(one, "dtype") or not numpy.ndim(one) else asarray(one) for one in values]
    like = [numpy.ones(1, one.dtype) if hasattr(one, "dtype") else one for one in rows]
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        call_from_user_frame(ufunc.at, numpy.ones(1, array.dtype), numpy.empty(0, int), *like)


def _at_unique(ufunc: Any, array: Any, key: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
    """`ufunc.at` with a basic key, which selects no element twice."""
    view = array[key]
    given = tuple(map(asarray, values))
    ours: Any = ufuncs.get(ufunc.__name__)
    known = ours is not None and ours._numpy is ufunc and ufunc.nout == 1 and view._writeable
    if not known or not all(fits(value.shape, view.shape) for value in given):
        return NotImplemented
    if view.ndim:
        view[...] = ours(view, *given)  # cast like an assignment
    else:  # a ufunc returns a scalar
        single = tuple(one for one in key if one is not ...)
        result = ours(array[single], *map(core.unwrap, given))
        array[single] = numpy.asarray(result)  # cast, where a Python number would raise
    return None


def _cast(value: Any, dtype: Any) -> Any:
    """A value in the dtype that it is assigned to."""
    if isinstance(value, ndarray):
        return value if value.dtype == dtype else value.astype(dtype)
    if isinstance(value, numpy.ndarray):
        result = value if value.dtype == dtype else value.astype(dtype)
    elif isinstance(value, numpy.generic):
        result = numpy.asarray(value).astype(dtype)  # a NumPy scalar is cast like an array
    elif isinstance(value, bool | int | float | complex | str | bytes):
        result = numpy.empty((), dtype)
        result[()] = value
    else:
        result = numpy.asarray(value, dtype)
    return asarray(result)
