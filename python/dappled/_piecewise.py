"""Element-wise functions of NumPy's, run on the pieces of distributed arrays: nothing is gathered.

All arrays are brought to the blocks that the result will have; every rank computes its block with
NumPy. Whether that can be done is known from dtypes and shapes alone, so that all ranks agree; an
error that depends on values is raised on all of them.
"""

from __future__ import annotations

import pickle
import types
from collections.abc import Callable
from typing import Any

import numpy

from dappled._array import core, is_gathered, ndarray
from dappled._comm import together
from dappled._line import called_by_user
from dappled._tables import NATIVE_CODES

# Keyword arguments that say how an element is computed, and nothing of other arrays.
_PLAIN = {"casting", "dtype", "sig", "signature", "subok"}
_SCALARS = (bool, int, float, complex, numpy.generic)


def piecewise(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A ufunc of NumPy's on our arrays, piece by piece; NotImplemented if it must be gathered."""
    if core.ranks() == 1 or len(args) != function.nin or function.signature is not None:
        return NotImplemented
    if not kwargs.keys() <= _PLAIN or not any(map(in_pieces, args)):
        return NotImplemented
    return applied(function, args, kwargs)


def applied(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """An element-wise function on our arrays, piece by piece; NotImplemented if it can't be."""
    together(getattr(function, "__name__", "vectorize"))
    arrays = [_array(value) for value in args]
    shape = _shape(arrays)
    if not shape or any(isinstance(value, ndarray) and value._held is not None for value in arrays):
        return NotImplemented
    empty = function(*map(_without_elements, arrays), **kwargs)
    if not all(kind in NATIVE_CODES for kind in _codes(empty)):
        return NotImplemented
    blocks = None
    parts: list[Any] = []
    for value in arrays:
        part = value
        if not isinstance(value, _SCALARS):
            part, blocks = core.part(
                value if isinstance(value, ndarray) else core.wrap(value), shape
            )
        parts.append(part)
    results = agreed(lambda: called_by_user(function, *parts, **kwargs))
    return _rebuilt(results, blocks)


def agreed(compute: Callable[[], Any]) -> Any:
    """What a function gives on this rank, if it raises on none; else the first rank's error."""
    result, error = None, b""
    try:
        result = compute()
    except Exception as raised:
        error = _pickled(raised)
    for other in core.gather("an element-wise function", error):
        if other:
            raise pickle.loads(other)
    return result


def _pickled(error: Exception) -> bytes:
    try:
        pickle.loads(found := pickle.dumps(error))
    except Exception:  # an error of which only the text can be told
        return pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))
    return found


def in_pieces(value: Any) -> bool:
    """Whether a value is an array of ours of which each rank has its part only."""
    return isinstance(value, ndarray) and value._held is None and is_gathered(value)


def uses_pieces(function: Any, seen: frozenset[int] = frozenset()) -> bool:
    """Whether a function of the user's can see an array in pieces beside its arguments.

    Then all ranks must call it for all elements: looking into such an array is for all to do.
    """
    function = getattr(function, "__func__", function)
    if in_pieces(function):
        return True
    if not isinstance(function, types.FunctionType) or id(function) in seen:
        return False
    known = function.__globals__
    cells = [cell.cell_contents for cell in function.__closure__ or () if cell != types.CellType()]
    values = [*cells, *(known[name] for name in function.__code__.co_names if name in known)]
    values += function.__defaults__ or ()
    return any(uses_pieces(value, seen | {id(function)}) for value in values)


def _array(value: Any) -> Any:
    if isinstance(value, (ndarray, *_SCALARS)):
        return value
    return numpy.asarray(value)


def _shape(arrays: list[Any]) -> tuple[int, ...] | None:
    shapes = [value.shape for value in arrays if not isinstance(value, _SCALARS)]
    try:
        return numpy.broadcast_shapes(*shapes)
    except ValueError:  # NumPy has words for it
        return None


def _without_elements(value: Any) -> Any:
    """What decides dtypes: of an array its own, of a scalar also the value."""
    return value if isinstance(value, _SCALARS) else numpy.empty(0, value.dtype)


def _codes(results: Any) -> list[str]:
    several = results if isinstance(results, tuple) else (results,)
    return [result.dtype.str[1:] if result.dtype.isnative else "" for result in several]


def _rebuilt(results: Any, blocks: Any) -> Any:
    """Our arrays from this rank's pieces."""
    if isinstance(results, tuple):
        return tuple(_rebuilt(result, blocks) for result in results)
    return core.from_piece(blocks, results).copy()
