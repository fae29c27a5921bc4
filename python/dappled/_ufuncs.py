"""Our ufuncs: NumPy's, on our arrays.

The core computes a plain call that is native. What is left comes here: keyword arguments, other
dtypes, the methods; and NumPy's own ufuncs that were called with an array of ours.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy

from dappled._array import core, few, is_native, ufuncs
from dappled._creation import asarray
from dappled._crossing import Crossing
from dappled._fallback import are_kept, shadow
from dappled._folding import accumulated, reduced
from dappled._foreign import as_ours, has_say, is_only_made, takes_part
from dappled._indexing import at
from dappled._line import called_by_user
from dappled._masked import compared
from dappled._piecewise import in_pieces, piecewise
from dappled._products import GENERALISED
from dappled._segments import parted
from dappled._tables import COMPUTED, PIECEWISE

OURS = {ufunc._numpy: ufunc for ufunc in ufuncs.values()}


def call(ufunc: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
    """Calls a ufunc of ours with all that NumPy allows."""
    given, named = _without_none(ufunc, args, kwargs or {})
    if given is not args or (kwargs and named is not kwargs):
        return ufunc(*given, **named)
    result = _into_nothing(ufunc, args, kwargs) if kwargs else NotImplemented
    if result is NotImplemented and kwargs:
        result = _into(ufunc, args, kwargs)
    if result is NotImplemented:
        return called(ufunc._numpy, "__call__", args, kwargs or {})
    return result


def _without_none(
    ufunc: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments without an `out` that is None, or a `where` that is all, as if nothing had been
    said; and with an `out` by its name, alone.
    """
    if len(args) > ufunc.nin and "out" in kwargs:
        return args, kwargs  # which NumPy refuses
    if kwargs.get("out", ...) is None:
        kwargs = {name: value for name, value in kwargs.items() if name != "out"}
    if kwargs.get("where") is True or kwargs.get("where") is numpy._NoValue:
        kwargs = {name: value for name, value in kwargs.items() if name != "where"}
    while len(args) > ufunc.nin and args[-1] is None:
        args = args[:-1]
    if ufunc.nout == 1 and len(args) == ufunc.nin + 1 and "out" not in kwargs:
        if ufunc.__name__ in _NAMED:
            called_by_user(ufunc._numpy, *[numpy.zeros(1)] * 3)
        args, kwargs = args[:-1], {**kwargs, "out": args[-1]}
    if isinstance(out := kwargs.get("out"), tuple) and len(out) == 1 and out[0] is not ...:
        kwargs = {**kwargs, "out": out[0]}
    return args, kwargs


# Of which NumPy warns that an `out` should have its name.
_NAMED = ("maximum", "minimum")


def _into_nothing(ufunc: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`ufunc(…, out=array)` into arrays without elements: NumPy checks it, and nothing is computed.

    An argument may have elements all the same, as one that is repeated no times.
    """
    given = kwargs.get("out")
    out: tuple[Any, ...] = given if isinstance(given, tuple) else (given,)
    arrays = (core.ndarray, numpy.ndarray)
    known = (bool, int, float, complex, numpy.generic, list, *arrays)
    where = kwargs.get("where", True)
    if (
        not all(isinstance(one, core.ndarray) and not one.size and one._writeable for one in out)
        or not all(type(one) in arrays or isinstance(one, known[:-2]) for one in (*args, where))
        or (len(args), len(out)) != (ufunc.nin, ufunc.nout)
        or ufunc.signature is not None
    ):
        return NotImplemented
    taken = [numpy.asarray(one) if isinstance(one, list) else one for one in (*args, where)]
    if not all(_has_room(one, tuple(taken)) for one in out):
        return NotImplemented
    empty = [numpy.empty(0, one.dtype) if type(one) in arrays else one for one in taken]
    into = tuple(numpy.empty(0, one.dtype) for one in out)
    called_by_user(ufunc._numpy, *empty[:-1], **{**kwargs, "out": into, "where": empty[-1]})
    return given if len(out) > 1 else out[0]


def _into(ufunc: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`ufunc(…, out=array)` where the core can do it; `out=...` asks for an array of any kind."""
    given = kwargs.get("out")
    out = given[0] if isinstance(given, tuple) and len(given) == 1 else given
    if not (ufunc._native and kwargs.keys() <= _KEPT and len(args) == ufunc.nin):
        return NotImplemented
    if out is not ... and not _can_hold(out, ufunc, args, kwargs.get("casting", "same_kind")):
        return NotImplemented
    if out is not ... and not _has_room(out, args):
        return NotImplemented
    try:
        value = ufunc(*args)
    except ValueError:  # of all that may be wrong, NumPy has its order
        return NotImplemented
    except (FloatingPointError, RuntimeWarning):
        _write_what_raised(ufunc, args, out)
        raise
    number = isinstance(value, numpy.generic) and not any(map(_has_objects, args))
    if out is ...:
        return asarray(value) if number or isinstance(value, core.ndarray) else NotImplemented
    if not number and not _fits(value, out, kwargs.get("casting")):  # a number fits everywhere
        return NotImplemented
    target: Any = out
    target[...] = asarray(value)  # cast as arrays are: a number that has no value there would raise
    return target


def _has_objects(value: Any) -> bool:
    """Whether a number that is made of it is an object, of which only NumPy knows the dtype."""
    return getattr(value, "dtype", None) == numpy.dtype(object)


def _write_what_raised(ufunc: Any, args: tuple[Any, ...], out: Any) -> None:
    """NumPy writes first, and raises then."""
    with numpy.errstate(all="ignore"):
        value = ufunc(*args)
    if _fits(value, out):
        out[...] = value


def _can_hold(out: Any, ufunc: Any, args: tuple[Any, ...], casting: str) -> bool:
    """Whether an array may be written with what a ufunc gives, by the dtypes."""
    if not (isinstance(out, core.ndarray) and out._writeable):
        return False
    kinds = tuple(getattr(value, "dtype", type(value)) for value in args)
    return _is_castable(ufunc._numpy, kinds, out.dtype, casting)


def _has_room(out: Any, args: tuple[Any, ...]) -> bool:
    """Whether an array has the shape that arguments are repeated to, or one to which that is."""
    try:
        return bool(numpy.broadcast_shapes(*map(numpy.shape, args), out.shape) == out.shape)
    except ValueError:
        return False


@functools.cache
def _is_castable(ufunc: Any, kinds: tuple[Any, ...], dtype: Any, casting: Any) -> bool:
    try:
        like = [
            numpy.empty(0, kind) if isinstance(kind, numpy.dtype) else kind(1) for kind in kinds
        ]
        return numpy.can_cast(ufunc(*like, casting=casting).dtype, dtype, casting)
    except (TypeError, ValueError):  # NumPy has words for it
        return False


# Keyword arguments under which the values are the same as without.
_KEPT = {"casting", "out", "subok"}


# Which of their arguments methods write, given by their places.
_WRITTEN = {"at": (0,), "reduce": (3,), "accumulate": (3,), "reduceat": (4,)}


def called(function: Any, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A method of NumPy's ufunc on our arrays."""
    if any(map(has_say, (*args, *kwargs.values()))):
        return called_by_user(getattr(function, method), *args, **kwargs)
    made = tuple(as_ours(value, is_only_made) for value in args)
    if any(map(operator.is_not, made, args)):  # arrays of ours: then it may be native
        return getattr(ufuncs.get(function.__name__, function), method)(*made, **kwargs)
    if "where" in kwargs and method == "__call__":
        args, kwargs = compared(function, args), {**kwargs, "where": _mask(kwargs["where"])}
    found = _on_pieces(function, method, args, kwargs)
    if found is not NotImplemented:
        return found
    if core.ranks() > 1:
        _check_shapes(function, method, args, kwargs)
    written = range(function.nin, len(args)) if method == "__call__" else _WRITTEN.get(method, ())
    placed = [value for place, value in enumerate(args) if place in written]
    if core.ranks() > 1 and are_kept((*placed, *_outs(kwargs))):
        called_by_user(getattr(function, method), *shadow(args), **shadow(kwargs))
    crossing = Crossing(function.__name__)
    # In a plain call NumPy itself copies what overlaps, where it has to.
    copies = method != "__call__" or "where" in kwargs
    over, named = crossing.all_over(args, kwargs, {"out", *written}, targets_first=copies)
    result = called_by_user(getattr(function, method), *over, **named)
    crossing.write_back()
    return crossing.back(result)


def _mask(where: Any) -> Any:
    """What says where: truths that NumPy makes of a list, but not of an array."""
    return numpy.asarray(where, bool) if type(where) in (list, tuple) else where


def _outs(kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """What `out=` names."""
    out = kwargs.get("out")
    return out if isinstance(out, tuple) else (out,)


def _check_shapes(
    function: Any, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """NumPy's error of shapes that do not fit, or of a mask, asked of arrays without memory."""
    where: Any = kwargs.get("where")
    mask = [where] if hasattr(where, "shape") else []
    outs = [one for one in (*args[function.nin :], *_outs(kwargs)) if hasattr(one, "shape")]
    given = [*args[: function.nin], *outs, *mask]
    known = method == "__call__" or (method == "reduce" and mask)
    known = known and any(map(in_pieces, given)) and all(map(_has_shape, given))
    if not known or function.signature is not None:
        return
    fit = _are_shaped(given, outs if method == "__call__" else args[:1])
    if not fit or any(one.dtype != bool for one in mask):
        shadows = {name: _shadow(value) for name, value in kwargs.items()}
        called_by_user(getattr(function, method), *map(_shadow, args), **shadows)


def _has_shape(value: Any) -> bool:
    """Whether the shape of a value is known without making an array of it."""
    return isinstance(value, int | float | complex | numpy.generic | numpy.ndarray | core.ndarray)


def _are_shaped(values: list[Any], whole: Iterable[Any]) -> bool:
    """Whether values are repeated to one shape, which some have already."""
    try:
        shape = numpy.broadcast_shapes(*map(numpy.shape, values))
    except ValueError:
        return False
    return all(numpy.shape(one) == shape for one in whole)


def _shadow(value: Any) -> Any:
    """Something of the same shape and dtype with one element in memory, which may be written."""
    if isinstance(value, tuple):
        return tuple(map(_shadow, value))
    if not hasattr(value, "shape") or not value.ndim:
        return numpy.array(core.unwrap(value)) if isinstance(value, core.ndarray) else value
    one = numpy.zeros((), value.dtype)
    return numpy.lib.stride_tricks.as_strided(one, value.shape, (0,) * value.ndim)


def _on_pieces(function: Any, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What can be done without bringing arrays together."""
    if "out" not in kwargs and any(map(takes_part, args)):
        return NotImplemented
    if method == "__call__":
        return _in_pieces(function, args, kwargs)
    if method == "reduce" and len(args) == 1:
        return _reduced(function, args[0], kwargs)
    if method == "accumulate" and len(args) == 1:
        return _accumulated(function, args[0], kwargs)
    if method == "reduceat" and 2 <= len(args) <= 5 and in_pieces(args[0]):
        named = dict(zip(("axis", "dtype", "out"), args[2:], strict=False)) | kwargs
        return _parted(function, args[0], args[1], **named)
    if method == "at" and not kwargs and len(args) == function.nin + 1:
        return at(function, *args)
    return NotImplemented


def _reduced(function: Any, array: Any, options: dict[str, Any]) -> Any:
    out = options.get("out")
    if not isinstance(out, core.ndarray) or not in_pieces(array):
        return reduced(function, array, options)
    kind = _folded_in(function, array, options.get("dtype"), out)
    return _folded_into(reduced, function, array, {**options, "dtype": kind}, out)


def _accumulated(function: Any, array: Any, options: dict[str, Any]) -> Any:
    out = options.get("out")
    if not isinstance(out, core.ndarray) or not in_pieces(array):
        return accumulated(function, array, options)
    kind = _folded_in(function, array, options.get("dtype"), out)
    if kind is None or kind != out.dtype:  # which NumPy casts, or refuses, as it goes
        return NotImplemented
    return _folded_into(accumulated, function, array, {**options, "dtype": kind}, out)


def _folded_into(fold: Any, function: Any, array: Any, options: dict[str, Any], out: Any) -> Any:
    try:
        return _written(fold(function, array, {**options, "out": None}), out)
    except (OverflowError, TypeError):  # NumPy has words for it, in which there is an `out`
        return NotImplemented


def _parted(
    function: Any, array: Any, indices: Any, axis: Any = 0, dtype: Any = None, out: Any = None
) -> Any:
    target = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    kind = _folded_in(function, array, dtype, target)
    try:
        return _written(parted(function, array, indices, axis, kind), target)
    except TypeError:
        if target is None:
            raise
        return NotImplemented  # for an `out` NumPy folds also in what it can't be asked for


def _written(made: Any, target: Any) -> Any:
    """What was made, in an array if there is one; NotImplemented if that does not fit."""
    if made is NotImplemented or target is None:
        return made
    if not (isinstance(made, core.ndarray) and _fits(made, target)):
        return NotImplemented
    target[...] = made
    return target


def _in_pieces(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if function not in GENERALISED:
        return piecewise(function, args, kwargs)
    args = tuple(asarray(value) if type(value) in (list, tuple) else value for value in args)
    arrays = all(hasattr(value, "ndim") for value in args)
    if len(args) != 2 or not arrays or not kwargs.keys() <= {"axis", "dtype", "out"}:
        return NotImplemented
    if kwargs.get("dtype") is not None:
        kind = numpy.dtype(kwargs["dtype"])
        if not is_native(kind) or not all(_is_cast(value, kind) for value in args):
            small = (numpy.zeros((1,) * value.ndim, value.dtype) for value in args)
            function(*small, dtype=kind)  # which may be what NumPy refuses
            return NotImplemented
        args = tuple(value.astype(kind, copy=False) for value in args)
    if "axis" in kwargs:
        if function is not numpy.vecdot or not all(_has_axis(x, kwargs["axis"]) for x in args):
            return NotImplemented
        args = tuple(numpy.moveaxis(value, kwargs["axis"], -1) for value in args)
    made = GENERALISED[function](*args)
    out = kwargs.get("out")
    target = out[0] if isinstance(out, tuple) else out
    if made is NotImplemented or target is None:
        return made
    if not (isinstance(made, core.ndarray) and _fits(made, target)):
        called_by_user(function, *map(few, args), out=few(target))  # which NumPy may refuse
        return NotImplemented
    target[...] = made
    return target


def _is_cast(value: Any, kind: Any) -> bool:
    """Whether a ufunc may compute with a value in a dtype."""
    return numpy.can_cast(value.dtype, kind, "same_kind")


def _has_axis(array: Any, axis: Any) -> bool:
    return isinstance(axis, int) and -array.ndim <= axis < array.ndim


def _reduce(
    self: Any,
    array: Any,
    /,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = numpy._NoValue,
    where: Any = True,
) -> Any:
    several = core.ranks() > 1 and type(array) in (list, tuple)  # arrays in pieces, perhaps
    array = asarray(array) if several or isinstance(where, core.ndarray) else array
    native = isinstance(array, core.ndarray) and where is True and initial is not None
    kind = _folded_in(self, array, dtype, out) if native else dtype
    if native and array.ndim and _may_hold(out, kind, "same_kind"):
        start = None if initial is numpy._NoValue else initial
        result = core.reduce(array, self.__name__, axis, kind, bool(keepdims), start)
        if result is not None and out is None:
            return result
        if result is not None and _fits(result, out):
            # A number is cast as its dtype is, not refused as Python's are.
            out[...] = result if isinstance(result, core.ndarray) else numpy.asarray(result)
            return out
    options = {"axis": axis, "dtype": dtype, "out": out, "keepdims": keepdims}
    options |= {"initial": initial, "where": where}
    return called(self._numpy, "reduce", (array,), _said(options, _REDUCED))


def _accumulate(self: Any, array: Any, /, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
    numbers = isinstance(axis, int | numpy.integer) and type(axis) is not bool
    plain = isinstance(array, core.ndarray) and numbers
    kind = _folded_in(self, array, dtype, out) if plain else dtype
    if plain and array.ndim and _may_hold(out, kind, "no"):
        result = core.accumulate(array, self.__name__, axis, kind)
        if result is not None and out is None:
            return result
        if result is not None and _fits(result, out):
            out[...] = result
            return out
    options = {"axis": axis, "dtype": dtype, "out": out}
    return called(self._numpy, "accumulate", (array,), _said(options, _REDUCED))


# What NumPy takes where nothing is said.
_REDUCED: dict[str, Any] = {"axis": 0, "dtype": None, "out": None, "keepdims": False}
_REDUCED |= {"initial": numpy._NoValue, "where": True}


def _said(options: dict[str, Any], usual: dict[str, Any]) -> dict[str, Any]:
    """The options that say something: objects of others may not know them all."""
    return {name: value for name, value in options.items() if value is not usual[name]}


def _folded_in(ufunc: Any, array: Any, dtype: Any, out: Any) -> Any:
    """The dtype that NumPy folds in where there is an `out`; None where it chooses by itself."""
    if dtype is not None or not hasattr(out, "dtype") or ufunc.__name__ in _LOGICAL:
        return dtype
    try:
        return numpy.result_type(array.dtype, out.dtype)
    except TypeError:  # NumPy has words for it
        return None


def _may_hold(out: Any, dtype: Any, casting: Any) -> bool:
    """Whether what is folded in a dtype may be written there, as far as that is known."""
    return out is None or dtype is None or numpy.can_cast(dtype, out.dtype, casting)


# Whatever they fold, they fold truth.
_LOGICAL = {"logical_and", "logical_or", "logical_xor"}


def _fits(value: Any, out: Any, casting: Any = None) -> bool:
    ours = isinstance(value, core.ndarray) and isinstance(out, core.ndarray)
    same = ours and out._writeable and value.shape == out.shape
    return same and numpy.can_cast(value.dtype, out.dtype, casting or "same_kind")


def _outer(self: Any, A: Any, B: Any, /, **kwargs: Any) -> Any:
    if not (isinstance(A, core.ndarray) and isinstance(B, core.ndarray)):
        return called(self._numpy, "outer", (A, B), kwargs)
    return self(A.reshape(A.shape + (1,) * B.ndim), B, **kwargs)


def _method(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return called(self._numpy, name, args, kwargs)

    method.__name__ = name
    method.__doc__ = getattr(numpy.add, name).__doc__
    method.__dict__["__way__"] = _WAYS[name]
    return method


def _reduced_by_name(self: Any) -> str:
    return str(self.__name__)


_WAYS = {"at": COMPUTED, "reduceat": PIECEWISE}
METHODS = {name: _method(name) for name in _WAYS}
METHODS["accumulate"] = _accumulate
METHODS["outer"] = _outer
METHODS["reduce"] = _reduce
METHODS["__reduce__"] = _reduced_by_name


def array_ufunc(self: Any, ufunc: Any, method: str, inputs: tuple[Any, ...], **kwargs: Any) -> Any:
    """NumPy's ufunc, called with an array of ours."""
    given = (*inputs, *kwargs.get("out", ()))
    if any(getattr(type(value), "__array_ufunc__", 0) is None for value in given):
        return NotImplemented
    if any(map(has_say, (*given, *kwargs.values()))):
        return NotImplemented
    if method in ("__call__", "accumulate", "reduce") and ufunc in OURS:
        out = kwargs.get("out")
        if method != "__call__" and out is not None:
            kwargs["out"] = out[0]
        return getattr(OURS[ufunc], method)(*inputs, **kwargs)
    return called(ufunc, method, inputs, kwargs)


def attach() -> None:
    """Gives the core's classes what is written here."""
    for name, method in METHODS.items():
        setattr(core.ufunc, name, method)
    for ufunc in ufuncs.values():
        ufunc.__doc__ = ufunc._numpy.__doc__
