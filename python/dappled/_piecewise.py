"""Element-wise functions of NumPy's, run on the pieces of distributed arrays: nothing is gathered.

All arrays are brought to the blocks that the result will have; every rank computes its block with
NumPy. Whether that can be done is known from dtypes and shapes alone, so that all ranks agree; an
error that depends on values is raised on all of them.
"""

from __future__ import annotations

import pickle
import types
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy

from dappled._agreeing import agreed
from dappled._array import core, is_gathered, is_moved, ndarray
from dappled._comm import together
from dappled._line import called_by_user
from dappled._order import common_order, flags_of, in_order, turned

# Keyword arguments that say how an element is computed, and nothing of other arrays.
_PLAIN = {"casting", "dtype", "sig", "signature", "subok"}
_ORDERS = ("K", "A", "C", "F")
_SCALARS = (bool, int, float, complex, numpy.generic)
_ARRAYS = (ndarray, numpy.ndarray)


def piecewise(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A ufunc of NumPy's on our arrays, piece by piece; NotImplemented if it must be gathered."""
    if core.ranks() == 1 or len(args) != function.nin or function.signature is not None:
        return NotImplemented
    out, where = kwargs.get("out"), kwargs.get("where", True)
    out = out[0] if type(out) is tuple and len(out) == 1 else out
    named = {key: kwargs[key] for key in kwargs if key not in ("order", "out", "where")}
    order = kwargs.get("order") or "K"
    plain = named.keys() <= _PLAIN and order in _ORDERS
    if not plain or not any(map(in_pieces, (*args, out, where))):
        return NotImplemented
    arrays = {} if where is True else {"where": where}
    if out is None:
        return applied(function, args, named, arrays, order)
    if type(out) is tuple:
        several = len(out) == function.nout and where is True
        return _into_each(applied(function, args, named), out, named) if several else NotImplemented
    known = isinstance(out, ndarray) and out._writeable
    if not known or _shape([*args, out, where]) != out.shape:
        return NotImplemented
    made = applied(function, args, named, {**arrays, "out": out})
    if made is not NotImplemented:
        out[...] = made
    return made if made is NotImplemented else out


def _into_each(made: Any, out: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Several results, each written into an array where there is one."""
    casting = named.get("casting", "same_kind")
    known = made is not NotImplemented and all(map(_has_room, made, out))
    if not known or not all(
        target is None or numpy.can_cast(one.dtype, target.dtype, casting)
        for one, target in zip(made, out, strict=True)
    ):
        return NotImplemented
    for one, target in zip(made, out, strict=True):
        if target is not None:
            target[...] = one
    return tuple(one if target is None else target for one, target in zip(made, out, strict=True))


def _has_room(made: Any, out: Any) -> bool:
    return out is None or (isinstance(out, ndarray) and out._writeable and out.shape == made.shape)


def applied(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    named: dict[str, Any] | None = None,
    order: Any = "C",
) -> Any:
    """An element-wise function on our arrays, piece by piece; NotImplemented if it can't be.

    `named` are arrays, too; of what is written each rank has a copy of its part. The order is that
    of the axes in memory.
    """
    together(getattr(function, "__name__", "vectorize"))
    named = named or {}
    arrays = [_array(value) for value in (*args, *named.values())]
    shape = _shape(arrays)
    if not shape or not all(map(_has_parts, arrays)):
        return NotImplemented
    sample = _sample(function, arrays, kwargs, 0, named)
    if not _is_made(sample):
        return NotImplemented
    axes = _axes(arrays, shape, order)
    parts, blocks = _parts(arrays, shape, axes)
    given, more = _divided(parts, named)
    results = agreed(lambda: _alike(called_by_user(function, *given, **kwargs, **more), sample))
    return _each(lambda piece: turned(joined(blocks, piece), axes), results)


def _divided(parts: list[Any], names: Iterable[str]) -> tuple[list[Any], dict[str, Any]]:
    """Parts of arguments by place, and of those by name."""
    places = len(parts) - len(list(names))
    more = dict(zip(names, parts[places:], strict=True))
    return parts[:places], {
        name: part.copy() if name == "out" else part for name, part in more.items()
    }


def _alike(results: Any, sample: Any) -> Any:
    """Results, if they have the dtypes that all ranks expect."""
    if _each(lambda one: one.dtype, results) != _each(lambda one: one.dtype, sample):
        raise TypeError("a function whose dtype depends on the values")
    return results


def measured(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], sample: Any = None
) -> Any:
    """The same of a function that makes texts as long as the longest: ranks agree on a dtype.

    `sample` is what it gives for one element, if that is known.
    """
    together(getattr(function, "__name__", "vectorize"))
    arrays = [_array(value) for value in args]
    shape = _shape(arrays)
    if not shape or 0 in shape or not all(map(_has_parts, arrays)):
        return NotImplemented
    sample = _sample(function, arrays, kwargs, 1) if sample is None else sample
    if not _is_made(sample):
        return NotImplemented
    axes = _axes(arrays, shape, "K")
    parts, blocks = _parts(arrays, shape, axes)
    has_any = all(numpy.size(part) for part in parts)
    own = agreed(lambda: called_by_user(function, *parts, **kwargs) if has_any else None)
    if own is None:
        own = _each(lambda one: numpy.empty(blocks.local_shape(core.rank()), one.dtype), sample)
    kinds = pickle.dumps(_each(lambda one: one.dtype, own))
    every = [pickle.loads(sent) for sent in core.gather("a dtype", kinds)]
    if not isinstance(own, tuple):
        return turned(joined(blocks, own.astype(numpy.result_type(*every))), axes)
    cast = zip(own, zip(*every, strict=True), strict=True)
    made = (joined(blocks, one.astype(numpy.result_type(*kinds))) for one, kinds in cast)
    return tuple(turned(one, axes) for one in made)


def _each(act: Callable[[Any], Any], results: Any) -> Any:
    return tuple(map(act, results)) if isinstance(results, tuple) else act(results)


def _sample(
    function: Any, arrays: list[Any], kwargs: dict[str, Any], size: int, names: Iterable[str] = ()
) -> Any:
    """What a function gives for so many elements: its dtypes, or NumPy's error on every rank."""
    given, more = _divided([_like(value, size) for value in arrays], names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*given, **kwargs, **more)


def _axes(arrays: list[Any], shape: tuple[int, ...], order: str) -> list[int]:
    """The order in which the axes of a result lie in memory."""
    given = [one for one in arrays if isinstance(one, _ARRAYS)]
    if order == "K":
        return common_order(given, shape)
    columns = order == "F" or (order == "A" and all(flags_of(one).f_contiguous for one in given))
    return list(range(len(shape)))[:: -1 if columns else 1]


def _parts(arrays: list[Any], shape: tuple[int, ...], axes: list[int]) -> tuple[list[Any], Any]:
    """This rank's part of every array with its axes in an order, and the blocks that these are."""
    blocks = None
    shape = tuple(shape[axis] for axis in axes)
    parts: list[Any] = []
    for value in arrays:
        part = value
        if isinstance(value, _ARRAYS):
            whole = value if isinstance(value, ndarray) else core.wrap(value)
            part, blocks = core.part(in_order(whole, axes), shape)
        parts.append(part)
    return parts, blocks


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
    """An array, or a scalar as it is: NumPy looks at its class."""
    if isinstance(value, (ndarray, *_SCALARS)):
        return value
    array = numpy.asarray(value)
    return array if array.ndim or type(value) is numpy.ndarray else value


def _has_parts(value: Any) -> bool:
    """Whether every rank can have its part of a value."""
    return not isinstance(value, ndarray | numpy.ndarray) or is_moved(value.dtype)


def _shape(values: list[Any]) -> tuple[int, ...] | None:
    shapes = [value.shape if isinstance(value, ndarray) else numpy.shape(value) for value in values]
    try:
        return numpy.broadcast_shapes(*shapes)
    except ValueError:  # NumPy has words for it
        return None


def _like(value: Any, size: int) -> Any:
    """What decides dtypes: of an array its own, of a scalar also the value."""
    arrays = isinstance(value, ndarray | numpy.ndarray)
    return numpy.zeros(size, value.dtype) if arrays else value


def _is_made(results: Any) -> bool:
    """Whether arrays of ours can be like results."""
    several = results if isinstance(results, tuple) else (results,)
    return all(type(one) is numpy.ndarray and is_moved(one.dtype) for one in several)


def joined(distribution: Any, piece: Any) -> Any:
    """Our array from this rank's piece, which nobody else has; a small one is whole."""
    own = piece.flags.owndata and piece.flags.writeable
    made = core.from_piece(distribution, piece if own else piece.copy(), True)
    small = core.blocks(made.shape, made.itemsize) is None
    return made.redistribute("n" * made.ndim) if small else made
