"""Reductions, scans and arg-reductions without kernels, on local pieces.

Reduced axes are made local first, so every rank reduces as NumPy does. Where all axes are reduced,
ranks reduce their pieces and then the partial results, if that is exact.
"""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from dappled._dispatch.callsite import call_from_user_frame
from dappled._ndarray.core import core, is_communicable, is_native, ndarray, ufuncs
from dappled._ndarray.core import where as chosen
from dappled._ndarray.memory_order import elementwise_order, transpose_to, undo_transpose
from dappled._ranks.comm import check_collective
from dappled._ranks.consensus import collective_try
from dappled._ranks.map_blocks import from_local_piece, is_distributed
from dappled._routines.broadcasting import broadcast_to, fits
from dappled._routines.ufunc.accumulate import accumulate_in_relay, can_relay
from dappled.protocol import Distribution

# Exact in any order.
_EXACT = {"bitwise_and", "bitwise_or", "bitwise_xor", "fmax", "fmin", "logical_and", "logical_or"}
_EXACT |= {"logical_xor", "maximum", "minimum"}
# Associative up to rounding.
ASSOCIATIVE = _EXACT | {"add", "gcd", "hypot", "lcm", "logaddexp", "logaddexp2", "multiply"}


def reduce_distributed(ufunc: Any, array: Any, options: dict[str, Any]) -> Any:
    """`ufunc.reduce` of a distributed array; NotImplemented if a gather is needed."""
    plain = is_distributed(array) and options.get("out") is None
    axes = normalise_axes(array, options.get("axis", 0)) if plain else None
    where = _where_mask(options.get("where", True), array) if axes is not None else None
    if core.ranks() == 1 or axes is None or where is None or not (array.ndim and array.size):
        return NotImplemented
    named = {key: options[key] for key in options if key not in ("axis", "out", "where")}
    keepdims = bool(named.pop("keepdims", False))
    named = {key: value for key, value in named.items() if value is not None or key == "initial"}

    def fold(axes: list[int], part: Any, where: Any = True) -> Any:
        return ufunc.reduce(part, axis=tuple(axes), keepdims=keepdims, where=where, **named)

    with numpy.errstate(all="ignore"):  # for the dtype alone
        like = fold(axes, numpy.zeros((1,) * array.ndim, array.dtype))
    if not hasattr(like, "dtype"):  # a Python object, which cannot be sent
        return NotImplemented
    if len(axes) < array.ndim and is_communicable(like.dtype):
        return _map_in_memory_order(array, axes, fold, keepdims, where)
    native = ufunc.__name__ in ("add", "multiply")  # whose order of additions is NumPy's
    exact = ufunc.__name__ in ASSOCIATIVE and (not native or like.dtype.kind in "iumb")
    if not exact and where:
        return _reduce_masked(ufunc, array, where[0], named, keepdims)
    return _reduce_all(ufunc, array, named, keepdims, where) if exact else NotImplemented


def _reduce_masked(
    ufunc: Any, array: Any, mask: Any, options: dict[str, Any], keepdims: bool
) -> Any:
    """Reduces all elements in the core, with the identity where the mask is False."""
    if ufunc.__name__ not in ("add", "multiply") or not is_native(array.dtype):
        return NotImplemented
    if options.get("initial") is None and "initial" in options:
        return NotImplemented
    seen = chosen(mask, array, array.dtype.type(ufunc.identity))
    return ufuncs[ufunc.__name__].reduce(seen, axis=None, keepdims=keepdims, **options)


def _where_mask(where: Any, array: Any) -> list[Any] | None:
    """The mask broadcast to the array, in a list; empty without a mask, None if invalid."""
    if where is True:
        return []
    mask = where if isinstance(where, ndarray) else core.wrap(numpy.asarray(where))
    if mask.dtype != bool or not fits(mask.shape, array.shape):
        return None  # NumPy raises the error
    return [broadcast_to(mask, array.shape)]


def accumulate_distributed(ufunc: Any, array: Any, options: dict[str, Any]) -> Any:
    """`ufunc.accumulate` of a distributed array; NotImplemented if a gather is needed."""
    axes = normalise_axes(array, options.get("axis", 0)) if is_distributed(array) else None
    if core.ranks() == 1 or not axes or len(axes) > 1 or options.get("out") is not None:
        return NotImplemented
    (axis,), kind = axes, options.get("dtype")
    if not array.size:
        nothing = numpy.empty(array.shape, array.dtype)
        return core.wrap(call_from_user_frame(ufunc.accumulate, nothing, axis, kind))
    if array.size // array.shape[axis] >= core.ranks():
        return _map_in_memory_order(
            array, axes, lambda axes, part: ufunc.accumulate(part, axes[0], kind), True
        )
    like = call_from_user_frame(ufunc.accumulate, numpy.zeros(1, array.dtype), 0, kind).dtype
    return (
        accumulate_in_relay(ufunc, array, axis, like) if can_relay(ufunc, like) else NotImplemented
    )


def _map_in_memory_order(
    array: Any,
    axes: list[int],
    compute: Callable[..., Any],
    keeps: bool,
    beside: Sequence[Any] = (),
) -> Any:
    """`map_along_axes` in memory order, in which ufuncs traverse and allocate arrays."""
    order = elementwise_order([array, *beside], array.shape)
    seen, *others = (transpose_to(one, order) for one in (array, *beside))
    positions = [order.index(axis) for axis in axes]
    result = map_along_axes(seen, positions, functools.partial(compute, positions), keeps, others)
    kept = [axis for axis in order if keeps or axis not in axes]
    return undo_transpose(result, [sorted(kept).index(axis) for axis in kept])


def arg_reduce_distributed(name: str, array: Any, axis: Any, keepdims: bool) -> Any:
    """`argmin` or `argmax` of a distributed array; NotImplemented if a gather is needed."""
    axes = None if axis is None or not is_distributed(array) else normalise_axes(array, axis)
    if core.ranks() == 1 or not axes or array.ndim == 1 or not array.shape[axes[0]]:
        return NotImplemented
    find = getattr(numpy, name)
    return map_along_axes(
        array, axes, lambda part: find(part, axes[0], keepdims=keepdims), keepdims
    )


def map_along_axes(
    array: Any,
    axes: list[int],
    compute: Callable[..., Any],
    keeps: bool,
    beside: Sequence[Any] = (),
) -> Any:
    """NumPy's results on pieces in which these axes are local, joined along the others.

    `keeps` says that the result has these axes, too; `beside` are more arrays of the same shape.
    """
    check_collective("a reduction")
    kinds = "".join("n" if axis in axes else "b" for axis in range(array.ndim))
    target = Distribution(array.shape, kinds, nprocs=core.ranks())
    parts = [one.redistribute(target).local for one in (array, *beside)]
    result = collective_try(lambda: call_from_user_frame(compute, *parts))
    kept = [axis for axis in range(array.ndim) if keeps or axis not in axes]
    whole = dict(zip(kept, result.shape, strict=True))
    shape = [whole[axis] if axis in axes else array.shape[axis] for axis in kept]
    kinds = "".join(kinds[axis] for axis in kept)
    grid = [target.grid_shape[axis] for axis in kept]
    return from_local_piece(Distribution(shape, kinds, grid_shape=grid), result)


def _reduce_all(
    ufunc: Any, array: Any, options: dict[str, Any], keepdims: bool, where: Sequence[Any]
) -> Any:
    """Reduces the pieces of all ranks, then the partial results."""
    check_collective("a reduction")
    part, _ = core.part(array, array.shape)
    mask: Any = core.part(where[0], array.shape)[0] if where else True
    first = {key: options[key] for key in options if key != "initial" or ufunc.identity is None}
    own = collective_try(
        lambda: ufunc.reduce(part, axis=None, where=mask, **first) if part.size else None
    )
    selected = [pickle.loads(sent) for sent in core.gather("a reduction", pickle.dumps(own))]
    folded = numpy.asarray([value for value in selected if value is not None])
    result = call_from_user_frame(ufunc.reduce, folded, **options)
    if not keepdims:
        return result
    return core.wrap(numpy.reshape(result, (1,) * array.ndim))


def normalise_axes(array: Any, axis: Any) -> list[int] | None:
    """The axes as nonnegative integers; None where NumPy raises."""
    given = range(array.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if not all(_is_integer(one) and -array.ndim <= one < array.ndim for one in given):
        return None
    axes = [int(one) % array.ndim for one in given]
    return axes if len(set(axes)) == len(axes) else None


def _is_integer(axis: Any) -> bool:
    return hasattr(axis, "__index__") and type(axis) is not bool
