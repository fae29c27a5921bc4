"""Reductions, scans and searches that only NumPy knows, on the pieces of distributed arrays.

Axes that are folded are made whole first, so that every rank folds what its results need as NumPy
does. Where all axes are folded, ranks fold their pieces and then what comes of them, if that is
exact.
"""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from dappled._agreeing import agreed
from dappled._array import core, is_moved, is_native, ndarray, ufuncs
from dappled._array import where as chosen
from dappled._broadcasting import broadcast_to, fits
from dappled._comm import together
from dappled._line import called_by_user
from dappled._order import common_order, in_order, turned
from dappled._piecewise import in_pieces, joined
from dappled._relaying import is_relayed, relayed
from dappled.protocol import Distribution

# Of these it does not matter in which order elements are folded.
_EXACT = {"bitwise_and", "bitwise_or", "bitwise_xor", "fmax", "fmin", "logical_and", "logical_or"}
_EXACT |= {"logical_xor", "maximum", "minimum"}
# Of these, but for rounding, neither how they are taken together.
ASSOCIATIVE = _EXACT | {"add", "gcd", "hypot", "lcm", "logaddexp", "logaddexp2", "multiply"}


def reduced(ufunc: Any, array: Any, options: dict[str, Any]) -> Any:
    """`ufunc.reduce` of an array in pieces; NotImplemented if it must be gathered."""
    plain = in_pieces(array) and options.get("out") is None
    axes = axes_of(array, options.get("axis", 0)) if plain else None
    where = _everywhere(options.get("where", True), array) if axes is not None else None
    if core.ranks() == 1 or axes is None or where is None or not (array.ndim and array.size):
        return NotImplemented
    named = {key: options[key] for key in options if key not in ("axis", "out", "where")}
    keepdims = bool(named.pop("keepdims", False))
    named = {key: value for key, value in named.items() if value is not None or key == "initial"}

    def fold(axes: list[int], part: Any, where: Any = True) -> Any:
        return ufunc.reduce(part, axis=tuple(axes), keepdims=keepdims, where=where, **named)

    with numpy.errstate(all="ignore"):  # it is asked for the dtype alone
        like = fold(axes, numpy.zeros((1,) * array.ndim, array.dtype))
    if not hasattr(like, "dtype"):  # an object, which is of no use elsewhere
        return NotImplemented
    if len(axes) < array.ndim and is_moved(like.dtype):
        return _in_memory(array, axes, fold, keepdims, where)
    native = ufunc.__name__ in ("add", "multiply")  # whose order is NumPy's
    exact = ufunc.__name__ in ASSOCIATIVE and (not native or like.dtype.kind in "iumb")
    if not exact and where:
        return _filled(ufunc, array, where[0], named, keepdims)
    return _all(ufunc, array, named, keepdims, where) if exact else NotImplemented


def _filled(ufunc: Any, array: Any, places: Any, options: dict[str, Any], keepdims: bool) -> Any:
    """All elements folded by the core, with what changes nothing where they do not count."""
    if ufunc.__name__ not in ("add", "multiply") or not is_native(array.dtype):
        return NotImplemented
    if options.get("initial") is None and "initial" in options:
        return NotImplemented
    seen = chosen(places, array, array.dtype.type(ufunc.identity))
    return ufuncs[ufunc.__name__].reduce(seen, axis=None, keepdims=keepdims, **options)


def _everywhere(where: Any, array: Any) -> list[Any] | None:
    """The places that count, an array as long as the one that is folded, if some do not."""
    if where is True:
        return []
    places = where if isinstance(where, ndarray) else core.wrap(numpy.asarray(where))
    if places.dtype != bool or not fits(places.shape, array.shape):
        return None  # NumPy has words for it
    return [broadcast_to(places, array.shape)]


def accumulated(ufunc: Any, array: Any, options: dict[str, Any]) -> Any:
    """`ufunc.accumulate` of an array in pieces; NotImplemented if it must be gathered."""
    axes = axes_of(array, options.get("axis", 0)) if in_pieces(array) else None
    if core.ranks() == 1 or not axes or len(axes) > 1 or options.get("out") is not None:
        return NotImplemented
    (axis,), kind = axes, options.get("dtype")
    if not array.size:
        nothing = numpy.empty(array.shape, array.dtype)
        return core.wrap(called_by_user(ufunc.accumulate, nothing, axis, kind))
    if array.size // array.shape[axis] >= core.ranks():
        return _in_memory(
            array, axes, lambda axes, part: ufunc.accumulate(part, axes[0], kind), True
        )
    like = called_by_user(ufunc.accumulate, numpy.zeros(1, array.dtype), 0, kind).dtype
    return relayed(ufunc, array, axis, like) if is_relayed(ufunc, like) else NotImplemented


def _in_memory(
    array: Any,
    axes: list[int],
    compute: Callable[..., Any],
    keeps: bool,
    beside: Sequence[Any] = (),
) -> Any:
    """As `along`, in the order of memory, as ufuncs go through an array and make another."""
    order = common_order([array, *beside], array.shape)
    seen, *others = (in_order(one, order) for one in (array, *beside))
    places = [order.index(axis) for axis in axes]
    made = along(seen, places, functools.partial(compute, places), keeps, others)
    kept = [axis for axis in order if keeps or axis not in axes]
    return turned(made, [sorted(kept).index(axis) for axis in kept])


def placed(name: str, array: Any, axis: Any, keepdims: bool) -> Any:
    """`argmin` or `argmax` of an array in pieces; NotImplemented if it must be gathered."""
    axes = None if axis is None or not in_pieces(array) else axes_of(array, axis)
    if core.ranks() == 1 or not axes or array.ndim == 1 or not array.shape[axes[0]]:
        return NotImplemented
    find = getattr(numpy, name)
    return along(array, axes, lambda part: find(part, axes[0], keepdims=keepdims), keepdims)


def along(
    array: Any,
    axes: list[int],
    compute: Callable[..., Any],
    keeps: bool,
    beside: Sequence[Any] = (),
) -> Any:
    """What NumPy makes of pieces in which these axes are whole, joined along the others.

    `keeps` says that the result has these axes, too; `beside` are more arrays of the same shape.
    """
    together("a reduction")
    kinds = "".join("n" if axis in axes else "b" for axis in range(array.ndim))
    target = Distribution(array.shape, kinds, nprocs=core.ranks())
    parts = [one.redistribute(target).local for one in (array, *beside)]
    result = agreed(lambda: called_by_user(compute, *parts))
    kept = [axis for axis in range(array.ndim) if keeps or axis not in axes]
    whole = dict(zip(kept, result.shape, strict=True))
    shape = [whole[axis] if axis in axes else array.shape[axis] for axis in kept]
    kinds = "".join(kinds[axis] for axis in kept)
    grid = [target.grid_shape[axis] for axis in kept]
    return joined(Distribution(shape, kinds, grid_shape=grid), result)


def _all(
    ufunc: Any, array: Any, options: dict[str, Any], keepdims: bool, where: Sequence[Any]
) -> Any:
    """All elements folded, those of each rank first."""
    together("a reduction")
    part, _ = core.part(array, array.shape)
    places: Any = core.part(where[0], array.shape)[0] if where else True
    first = {key: options[key] for key in options if key != "initial" or ufunc.identity is None}
    own = agreed(
        lambda: ufunc.reduce(part, axis=None, where=places, **first) if part.size else None
    )
    found = [pickle.loads(sent) for sent in core.gather("a reduction", pickle.dumps(own))]
    folded = numpy.asarray([value for value in found if value is not None])
    result = called_by_user(ufunc.reduce, folded, **options)
    if not keepdims:
        return result
    return core.wrap(numpy.reshape(result, (1,) * array.ndim))


def axes_of(array: Any, axis: Any) -> list[int] | None:
    """The axes that are meant; None where NumPy has words for it."""
    given = range(array.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if not all(_is_number(one) and -array.ndim <= one < array.ndim for one in given):
        return None
    axes = [int(one) % array.ndim for one in given]
    return axes if len(set(axes)) == len(axes) else None


def _is_number(axis: Any) -> bool:
    return hasattr(axis, "__index__") and type(axis) is not bool
