"""Element-wise NumPy functions on local pieces of distributed arrays, without a gather.

All arrays are redistributed to the blocks of the result, and every rank computes its block. Whether
that is possible follows from dtypes and shapes alone, so all ranks decide alike. An error that
depends on values is raised on all ranks.
"""

from __future__ import annotations

import pickle
import types
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy

from dappled._dispatch.callsite import call_from_user_frame
from dappled._ndarray.core import core, is_communicable, ndarray, needs_gather
from dappled._ndarray.memory_order import elementwise_order, flags_of, transpose_to, undo_transpose
from dappled._ranks.comm import check_collective
from dappled._ranks.consensus import collective_try

# Keyword arguments without arrays.
_PLAIN = {"casting", "dtype", "sig", "signature", "subok"}
_ORDERS = ("K", "A", "C", "F")
_SCALARS = (bool, int, float, complex, numpy.generic)
_ARRAYS = (ndarray, numpy.ndarray)


def map_ufunc(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A NumPy ufunc on local pieces; NotImplemented if a gather is needed."""
    if core.ranks() == 1 or len(args) != function.nin or function.signature is not None:
        return NotImplemented
    out, where = kwargs.get("out"), kwargs.get("where", True)
    out = out[0] if type(out) is tuple and len(out) == 1 else out
    named = {key: kwargs[key] for key in kwargs if key not in ("order", "out", "where")}
    order = kwargs.get("order") or "K"
    plain = named.keys() <= _PLAIN and order in _ORDERS
    if not plain or not any(map(is_distributed, (*args, out, where))):
        return NotImplemented
    arrays = {} if where is True else {"where": where}
    if out is None:
        return map_blocks(function, args, named, arrays, order)
    if type(out) is tuple:
        several = len(out) == function.nout and where is True
        return (
            _write_each(map_blocks(function, args, named), out, named)
            if several
            else NotImplemented
        )
    known = isinstance(out, ndarray) and out._writeable
    if not known or _broadcast_shape([*args, out, where]) != out.shape:
        return NotImplemented
    result = map_blocks(function, args, named, {**arrays, "out": out})
    if result is not NotImplemented:
        out[...] = result
    return result if result is NotImplemented else out


def _write_each(result: Any, out: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Writes several results into their `out` arrays."""
    casting = named.get("casting", "same_kind")
    known = result is not NotImplemented and all(map(_fits_target, result, out))
    if not known or not all(
        target is None or numpy.can_cast(one.dtype, target.dtype, casting)
        for one, target in zip(result, out, strict=True)
    ):
        return NotImplemented
    for one, target in zip(result, out, strict=True):
        if target is not None:
            target[...] = one
    return tuple(one if target is None else target for one, target in zip(result, out, strict=True))


def _fits_target(result: Any, out: Any) -> bool:
    return out is None or (
        isinstance(out, ndarray) and out._writeable and out.shape == result.shape
    )


def map_blocks(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    named: dict[str, Any] | None = None,
    order: Any = "C",
) -> Any:
    """An element-wise function on local pieces; NotImplemented if that is not possible.

    `named` are more arrays; of `out` each rank gets a copy of its block. `order` is the memory
    order of the result.
    """
    check_collective(getattr(function, "__name__", "vectorize"))
    named = named or {}
    arrays = [_as_argument(value) for value in (*args, *named.values())]
    shape = _broadcast_shape(arrays)
    if not shape or not all(map(_can_be_split, arrays)):
        return NotImplemented
    sample = _sample_call(function, arrays, kwargs, 0, named)
    if not _can_be_ours(sample):
        return NotImplemented
    axes = _result_axes(arrays, shape, order)
    parts, blocks = _local_parts(arrays, shape, axes)
    given, more = _split_named(parts, named)
    results = collective_try(
        lambda: _checked_dtypes(call_from_user_frame(function, *given, **kwargs, **more), sample)
    )
    return _map_results(
        lambda piece: undo_transpose(from_local_piece(blocks, piece), axes), results
    )


def _split_named(parts: list[Any], names: Iterable[str]) -> tuple[list[Any], dict[str, Any]]:
    """Blocks of positional arguments, and of keyword arguments."""
    positions = len(parts) - len(list(names))
    more = dict(zip(names, parts[positions:], strict=True))
    return parts[:positions], {
        name: part.copy() if name == "out" else part for name, part in more.items()
    }


def _checked_dtypes(results: Any, sample: Any) -> Any:
    """Results, if they have the dtypes that all ranks expect; else TypeError."""
    result = _map_results(lambda one: one.dtype, results)
    expected = _map_results(lambda one: one.dtype, sample)
    if result != expected:
        raise TypeError(
            f"np.vectorize: result dtype is {result} on rank {core.rank()} but {expected} was "
            "expected; pass otypes="
        )
    return results


def map_blocks_with_common_dtype(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], sample: Any = None
) -> Any:
    """A function whose result dtype depends on values, such as a string length.

    Ranks compute a common dtype. `sample` is its result for one element, if known.
    """
    check_collective(getattr(function, "__name__", "vectorize"))
    arrays = [_as_argument(value) for value in args]
    shape = _broadcast_shape(arrays)
    if not shape or 0 in shape or not all(map(_can_be_split, arrays)):
        return NotImplemented
    sample = _sample_call(function, arrays, kwargs, 1) if sample is None else sample
    if not _can_be_ours(sample):
        return NotImplemented
    axes = _result_axes(arrays, shape, "K")
    parts, blocks = _local_parts(arrays, shape, axes)
    has_any = all(numpy.size(part) for part in parts)
    own = collective_try(
        lambda: call_from_user_frame(function, *parts, **kwargs) if has_any else None
    )
    if own is None:
        own = _map_results(
            lambda one: numpy.empty(blocks.local_shape(core.rank()), one.dtype), sample
        )
    kinds = pickle.dumps(_map_results(lambda one: one.dtype, own))
    every = [pickle.loads(sent) for sent in core.gather("a dtype", kinds)]
    if not isinstance(own, tuple):
        return undo_transpose(from_local_piece(blocks, own.astype(numpy.result_type(*every))), axes)
    cast = zip(own, zip(*every, strict=True), strict=True)
    result = (
        from_local_piece(blocks, one.astype(numpy.result_type(*kinds))) for one, kinds in cast
    )
    return tuple(undo_transpose(one, axes) for one in result)


def _map_results(act: Callable[[Any], Any], results: Any) -> Any:
    return tuple(map(act, results)) if isinstance(results, tuple) else act(results)


def _sample_call(
    function: Any, arrays: list[Any], kwargs: dict[str, Any], size: int, names: Iterable[str] = ()
) -> Any:
    """The result for `size` elements: dtypes, or NumPy's error on every rank."""
    given, more = _split_named([_sample_argument(value, size) for value in arrays], names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*given, **kwargs, **more)


def _result_axes(arrays: list[Any], shape: tuple[int, ...], order: str) -> list[int]:
    """The memory order of a result."""
    given = [one for one in arrays if isinstance(one, _ARRAYS)]
    if order == "K":
        return elementwise_order(given, shape)
    columns = order == "F" or (order == "A" and all(flags_of(one).f_contiguous for one in given))
    return list(range(len(shape)))[:: -1 if columns else 1]


def _local_parts(
    arrays: list[Any], shape: tuple[int, ...], axes: list[int]
) -> tuple[list[Any], Any]:
    """This rank's block of every array, and the distribution of the blocks."""
    blocks = None
    shape = tuple(shape[axis] for axis in axes)
    parts: list[Any] = []
    for value in arrays:
        part = value
        if isinstance(value, _ARRAYS):
            whole = value if isinstance(value, ndarray) else core.wrap(value)
            part, blocks = core.part(transpose_to(whole, axes), shape)
        parts.append(part)
    return parts, blocks


def is_distributed(value: Any) -> bool:
    """Whether a value is a distributed array of ours."""
    return isinstance(value, ndarray) and value._held is None and needs_gather(value)


def references_distributed_array(function: Any, seen: frozenset[int] = frozenset()) -> bool:
    """Whether a user's function can access a distributed array other than its arguments.

    Then all ranks must call it for all elements, because such an access is collective.
    """
    function = getattr(function, "__func__", function)
    if is_distributed(function):
        return True
    if not isinstance(function, types.FunctionType) or id(function) in seen:
        return False
    known = function.__globals__
    cells = [cell.cell_contents for cell in function.__closure__ or () if cell != types.CellType()]
    values = [*cells, *(known[name] for name in function.__code__.co_names if name in known)]
    values += function.__defaults__ or ()
    return any(references_distributed_array(value, seen | {id(function)}) for value in values)


def _as_argument(value: Any) -> Any:
    """An array; a scalar stays, because NumPy's promotion depends on its class."""
    if isinstance(value, (ndarray, *_SCALARS)):
        return value
    array = numpy.asarray(value)
    return array if array.ndim or type(value) is numpy.ndarray else value


def _can_be_split(value: Any) -> bool:
    """Whether every rank can have its block of a value."""
    return not isinstance(value, ndarray | numpy.ndarray) or is_communicable(value.dtype)


def _broadcast_shape(values: list[Any]) -> tuple[int, ...] | None:
    shapes = [value.shape if isinstance(value, ndarray) else numpy.shape(value) for value in values]
    try:
        return numpy.broadcast_shapes(*shapes)
    except ValueError:  # NumPy raises the error
        return None


def _sample_argument(value: Any, size: int) -> Any:
    """The argument that determines dtypes: zeros of an array's dtype, or the scalar itself."""
    arrays = isinstance(value, ndarray | numpy.ndarray)
    return numpy.zeros(size, value.dtype) if arrays else value


def _can_be_ours(results: Any) -> bool:
    """Whether arrays of ours can have the dtypes of results."""
    several = results if isinstance(results, tuple) else (results,)
    return all(type(one) is numpy.ndarray and is_communicable(one.dtype) for one in several)


def from_local_piece(distribution: Any, piece: Any) -> Any:
    """Our array from this rank's piece; a small one is replicated."""
    own = piece.flags.owndata and piece.flags.writeable
    result = core.from_piece(distribution, piece if own else piece.copy(), True)
    small = core.blocks(result.shape, result.itemsize) is None
    return result.redistribute("n" * result.ndim) if small else result
