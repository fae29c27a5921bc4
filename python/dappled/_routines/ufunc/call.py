"""Ufunc calls and methods on our arrays.

The core computes plain native calls. Keyword arguments, other dtypes, methods, and NumPy's ufuncs
called with our arrays are handled here.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy

from dappled._compat.numpy_private import NO_VALUE
from dappled._dispatch.callsite import call_from_user_frame
from dappled._dispatch.convert import NumPyCall
from dappled._dispatch.fallback import has_read_only_target
from dappled._dispatch.meta import as_meta, small_meta
from dappled._dispatch.numpy_bugs import with_representable_integers
from dappled._dispatch.numpy_facts import COMPUTED, PIECEWISE
from dappled._interop.duck_arrays import (
    as_dappled,
    only_converts,
    overrides_operators,
    overrides_ufuncs,
)
from dappled._ndarray.core import core, is_native, ufuncs
from dappled._ndarray.indexing import at
from dappled._ranks.map_blocks import is_distributed, map_ufunc
from dappled._routines.creation import asarray
from dappled._routines.products import GENERALISED
from dappled._routines.ufunc.reduce import accumulate_distributed, reduce_distributed
from dappled._routines.ufunc.reduceat import reduceat_distributed

UFUNCS = {ufunc._numpy: ufunc for ufunc in ufuncs.values()}


def call(ufunc: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
    """Calls a ufunc of ours with any arguments that NumPy allows."""
    given, named = _normalise_arguments(ufunc, args, kwargs or {})
    if given is not args or (kwargs and named is not kwargs):
        return ufunc(*given, **named)
    result = _call_into_empty(ufunc, args, kwargs) if kwargs else NotImplemented
    if result is NotImplemented and kwargs:
        result = _call_into(ufunc, args, kwargs)
    if result is NotImplemented:
        return call_numpy_ufunc(ufunc._numpy, "__call__", args, kwargs or {})
    return result


def _normalise_arguments(
    ufunc: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments without neutral `out=None` or `where=True`, and `out` as a keyword."""
    if len(args) > ufunc.nin and "out" in kwargs:
        return args, kwargs  # NumPy raises
    if kwargs.get("out", ...) is None:
        kwargs = {name: value for name, value in kwargs.items() if name != "out"}
    if kwargs.get("where") is True or kwargs.get("where") is NO_VALUE:
        kwargs = {name: value for name, value in kwargs.items() if name != "where"}
    while len(args) > ufunc.nin and args[-1] is None:
        args = args[:-1]
    if ufunc.nout == 1 and len(args) == ufunc.nin + 1 and "out" not in kwargs:
        if ufunc.__name__ in _WARN_ABOUT_POSITIONAL_OUT:
            call_from_user_frame(ufunc._numpy, *[numpy.zeros(1)] * 3)
        args, kwargs = args[:-1], {**kwargs, "out": args[-1]}
    if isinstance(out := kwargs.get("out"), tuple) and len(out) == 1 and out[0] is not ...:
        kwargs = {**kwargs, "out": out[0]}
    return args, kwargs


# NumPy warns about a positional `out` of these.
_WARN_ABOUT_POSITIONAL_OUT = ("maximum", "minimum")


def _call_into_empty(ufunc: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`ufunc(…, out=array)` into empty arrays: NumPy checks it, and nothing is computed.

    An argument may have elements nevertheless, if it is broadcast zero times.
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
    if not all(_has_result_shape(one, tuple(taken)) for one in out):
        return NotImplemented
    empty = [numpy.empty(0, one.dtype) if type(one) in arrays else one for one in taken]
    into = tuple(numpy.empty(0, one.dtype) for one in out)
    call_from_user_frame(ufunc._numpy, *empty[:-1], **{**kwargs, "out": into, "where": empty[-1]})
    return given if len(out) > 1 else out[0]


def _call_into(ufunc: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`ufunc(…, out=array)` where the core can compute it; `out=...` asks for an array."""
    given = kwargs.get("out")
    out = given[0] if isinstance(given, tuple) and len(given) == 1 else given
    if not (ufunc._native and kwargs.keys() <= _NEUTRAL_KEYWORDS and len(args) == ufunc.nin):
        return NotImplemented
    if out is not ... and not _is_writeable_target(
        out, ufunc, args, kwargs.get("casting", "same_kind")
    ):
        return NotImplemented
    if out is not ... and not _has_result_shape(out, args):
        return NotImplemented
    try:
        value = ufunc(*args)
    except ValueError:  # NumPy decides which error comes first
        return NotImplemented
    except (FloatingPointError, RuntimeWarning):
        _write_after_error(ufunc, args, out)
        raise
    is_scalar = isinstance(value, numpy.generic) and not any(map(_has_objects, args))
    if out is ...:
        return asarray(value) if is_scalar or isinstance(value, core.ndarray) else NotImplemented
    # A scalar broadcasts to any shape
    if not is_scalar and not _fits(value, out, kwargs.get("casting")):
        return NotImplemented
    target: Any = out
    target[...] = asarray(value)  # cast like an array: a Python scalar out of range would raise
    return target


def _has_objects(value: Any) -> bool:
    """Whether only NumPy can determine the dtype of a scalar result."""
    return getattr(value, "dtype", None) == numpy.dtype(object)


def _write_after_error(ufunc: Any, args: tuple[Any, ...], out: Any) -> None:
    """Writes the result of a call that raised: NumPy writes first."""
    with numpy.errstate(all="ignore"):
        value = ufunc(*args)
    if _fits(value, out):
        out[...] = value


def _is_writeable_target(out: Any, ufunc: Any, args: tuple[Any, ...], casting: str) -> bool:
    """Whether `out` may receive a ufunc's result, by dtypes."""
    if not (isinstance(out, core.ndarray) and out._writeable):
        return False
    kinds = tuple(getattr(value, "dtype", type(value)) for value in args)
    return _is_castable(ufunc._numpy, kinds, out.dtype, casting)


def _has_result_shape(out: Any, args: tuple[Any, ...]) -> bool:
    """Whether the arguments broadcast to the shape of `out`."""
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
    except (TypeError, ValueError):  # NumPy raises the error
        return False


# Keyword arguments that do not change values.
_NEUTRAL_KEYWORDS = {"casting", "out", "subok"}


# Positions of the arguments that methods write.
_WRITTEN_POSITIONS = {"at": (0,), "reduce": (3,), "accumulate": (3,), "reduceat": (4,)}


def call_numpy_ufunc(
    function: Any, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """A method of NumPy's ufunc on our arrays."""
    if any(map(overrides_ufuncs, (*args, *kwargs.values()))):
        return call_from_user_frame(getattr(function, method), *args, **kwargs)
    output = tuple(as_dappled(value, only_converts) for value in args)
    if any(map(operator.is_not, output, args)):  # now arrays of ours, perhaps native
        return getattr(ufuncs.get(function.__name__, function), method)(*output, **kwargs)
    if "where" in kwargs and method == "__call__":
        args, kwargs = (
            with_representable_integers(function, args),
            {**kwargs, "where": _mask(kwargs["where"])},
        )
    selected = _without_gather(function, method, args, kwargs)
    if selected is not NotImplemented:
        return selected
    if core.ranks() > 1:
        _check_shapes(function, method, args, kwargs)
    written = (
        range(function.nin, len(args))
        if method == "__call__"
        else _WRITTEN_POSITIONS.get(method, ())
    )
    placed = [value for position, value in enumerate(args) if position in written]
    if core.ranks() > 1 and has_read_only_target((*placed, *_outs(kwargs))):
        call_from_user_frame(getattr(function, method), *as_meta(args), **as_meta(kwargs))
    numpy_call = NumPyCall(function.__name__)
    # In a plain call NumPy itself copies overlapping arguments.
    copies = method != "__call__" or "where" in kwargs
    over, named = numpy_call.convert_arguments(
        args, kwargs, {"out", *written}, targets_first=copies
    )
    result = call_from_user_frame(getattr(function, method), *over, **named)
    numpy_call.write_back()
    return numpy_call.from_numpy(result)


def _mask(where: Any) -> Any:
    """The mask: NumPy converts a list to bool, but not an array."""
    return numpy.asarray(where, bool) if type(where) in (list, tuple) else where


def _outs(kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """The arrays in `out=`."""
    out = kwargs.get("out")
    return out if isinstance(out, tuple) else (out,)


def _check_shapes(
    function: Any, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """Raises NumPy's error for shapes or a mask that do not fit."""
    where: Any = kwargs.get("where")
    mask = [where] if hasattr(where, "shape") else []
    outs = [one for one in (*args[function.nin :], *_outs(kwargs)) if hasattr(one, "shape")]
    given = [*args[: function.nin], *outs, *mask]
    known = method == "__call__" or (method == "reduce" and mask)
    known = known and any(map(is_distributed, given)) and all(map(_has_shape, given))
    if not known or function.signature is not None:
        return
    fit = _broadcast_to_targets(given, outs if method == "__call__" else args[:1])
    if not fit or any(one.dtype != bool for one in mask):
        call_from_user_frame(
            getattr(function, method), *as_meta(args, True), **as_meta(kwargs, True)
        )


def _has_shape(value: Any) -> bool:
    """Whether the shape of a value is known without a conversion."""
    return isinstance(value, int | float | complex | numpy.generic | numpy.ndarray | core.ndarray)


def _broadcast_to_targets(values: list[Any], whole: Iterable[Any]) -> bool:
    """Whether values broadcast to one shape, which the targets have."""
    try:
        shape = numpy.broadcast_shapes(*map(numpy.shape, values))
    except ValueError:
        return False
    return all(numpy.shape(one) == shape for one in whole)


def _without_gather(
    function: Any, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """The result without a gather; NotImplemented for the fallback."""
    if "out" not in kwargs and any(map(overrides_operators, args)):
        return NotImplemented
    if method == "__call__":
        return _call_distributed(function, args, kwargs)
    if method == "reduce" and len(args) == 1:
        return _reduced(function, args[0], kwargs)
    if method == "accumulate" and len(args) == 1:
        return _accumulated(function, args[0], kwargs)
    if method == "reduceat" and 2 <= len(args) <= 5 and is_distributed(args[0]):
        named = dict(zip(("axis", "dtype", "out"), args[2:], strict=False)) | kwargs
        return _reduceat(function, args[0], args[1], **named)
    if method == "at" and not kwargs and len(args) == function.nin + 1:
        return at(function, *args)
    return NotImplemented


def _reduced(function: Any, array: Any, options: dict[str, Any]) -> Any:
    out = options.get("out")
    if not isinstance(out, core.ndarray) or not is_distributed(array):
        return reduce_distributed(function, array, options)
    kind = _reduction_dtype(function, array, options.get("dtype"), out)
    return _reduce_into(reduce_distributed, function, array, {**options, "dtype": kind}, out)


def _accumulated(function: Any, array: Any, options: dict[str, Any]) -> Any:
    out = options.get("out")
    if not isinstance(out, core.ndarray) or not is_distributed(array):
        return accumulate_distributed(function, array, options)
    kind = _reduction_dtype(function, array, options.get("dtype"), out)
    if kind is None or kind != out.dtype:  # NumPy casts or raises during the scan
        return NotImplemented
    return _reduce_into(accumulate_distributed, function, array, {**options, "dtype": kind}, out)


def _reduce_into(fold: Any, function: Any, array: Any, options: dict[str, Any], out: Any) -> Any:
    try:
        return _write_to(fold(function, array, {**options, "out": None}), out)
    except (OverflowError, TypeError):  # NumPy's message mentions the `out`
        return NotImplemented


def _reduceat(
    function: Any, array: Any, indices: Any, axis: Any = 0, dtype: Any = None, out: Any = None
) -> Any:
    target = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    kind = _reduction_dtype(function, array, dtype, target)
    try:
        return _write_to(reduceat_distributed(function, array, indices, axis, kind), target)
    except TypeError:
        if target is None:
            raise
        return NotImplemented  # with `out` NumPy may reduce in another dtype


def _write_to(result: Any, target: Any) -> Any:
    """The result written to an array if there is one; NotImplemented if it does not fit."""
    if result is NotImplemented or target is None:
        return result
    if not (isinstance(result, core.ndarray) and _fits(result, target)):
        return NotImplemented
    target[...] = result
    return target


def _call_distributed(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if function not in GENERALISED:
        return map_ufunc(function, args, kwargs)
    args = tuple(asarray(value) if type(value) in (list, tuple) else value for value in args)
    arrays = all(hasattr(value, "ndim") for value in args)
    if len(args) != 2 or not arrays or not kwargs.keys() <= {"axis", "dtype", "out"}:
        return NotImplemented
    if kwargs.get("dtype") is not None:
        kind = numpy.dtype(kwargs["dtype"])
        if not is_native(kind) or not all(_is_cast(value, kind) for value in args):
            small = (numpy.zeros((1,) * value.ndim, value.dtype) for value in args)
            function(*small, dtype=kind)  # NumPy may raise
            return NotImplemented
        args = tuple(value.astype(kind, copy=False) for value in args)
    if "axis" in kwargs:
        if function is not numpy.vecdot or not all(_has_axis(x, kwargs["axis"]) for x in args):
            return NotImplemented
        args = tuple(numpy.moveaxis(value, kwargs["axis"], -1) for value in args)
    result = GENERALISED[function](*args)
    out = kwargs.get("out")
    target = out[0] if isinstance(out, tuple) else out
    if result is NotImplemented or target is None:
        return result
    if not (isinstance(result, core.ndarray) and _fits(result, target)):
        call_from_user_frame(
            function, *map(small_meta, args), out=small_meta(target)
        )  # NumPy may raise
        return NotImplemented
    target[...] = result
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
    initial: Any = NO_VALUE,
    where: Any = True,
) -> Any:
    several = core.ranks() > 1 and type(array) in (list, tuple)  # possibly distributed arrays
    array = asarray(array) if several or isinstance(where, core.ndarray) else array
    native = isinstance(array, core.ndarray) and where is True and initial is not None
    kind = _reduction_dtype(self, array, dtype, out) if native else dtype
    if native and array.ndim and _may_hold(out, kind, "same_kind"):
        start = None if initial is NO_VALUE else initial
        result = core.reduce(array, self.__name__, axis, kind, bool(keepdims), start)
        if result is not None and out is None:
            return result
        if result is not None and _fits(result, out):
            # A NumPy scalar is cast; a Python scalar might raise.
            out[...] = result if isinstance(result, core.ndarray) else numpy.asarray(result)
            return out
    options = {"axis": axis, "dtype": dtype, "out": out, "keepdims": keepdims}
    options |= {"initial": initial, "where": where}
    return call_numpy_ufunc(
        self._numpy, "reduce", (array,), _without_defaults(options, _REDUCTION_DEFAULTS)
    )


def _accumulate(self: Any, array: Any, /, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
    has_integer_axis = isinstance(axis, int | numpy.integer) and type(axis) is not bool
    plain = isinstance(array, core.ndarray) and has_integer_axis
    kind = _reduction_dtype(self, array, dtype, out) if plain else dtype
    if plain and array.ndim and _may_hold(out, kind, "no"):
        result = core.accumulate(array, self.__name__, axis, kind)
        if result is not None and out is None:
            return result
        if result is not None and _fits(result, out):
            out[...] = result
            return out
    options = {"axis": axis, "dtype": dtype, "out": out}
    return call_numpy_ufunc(
        self._numpy, "accumulate", (array,), _without_defaults(options, _REDUCTION_DEFAULTS)
    )


# NumPy's defaults.
_REDUCTION_DEFAULTS: dict[str, Any] = {"axis": 0, "dtype": None, "out": None, "keepdims": False}
_REDUCTION_DEFAULTS |= {"initial": NO_VALUE, "where": True}


def _without_defaults(options: dict[str, Any], usual: dict[str, Any]) -> dict[str, Any]:
    """The options that differ from the defaults: foreign objects may not accept all."""
    return {name: value for name, value in options.items() if value is not usual[name]}


def _reduction_dtype(ufunc: Any, array: Any, dtype: Any, out: Any) -> Any:
    """The dtype that NumPy reduces in with `out`; None where NumPy chooses."""
    if dtype is not None or not hasattr(out, "dtype") or ufunc.__name__ in _LOGICAL:
        return dtype
    try:
        return numpy.result_type(array.dtype, out.dtype)
    except TypeError:  # NumPy raises the error
        return None


def _may_hold(out: Any, dtype: Any, casting: Any) -> bool:
    """Whether `out` may receive a reduction in a dtype, as far as is known."""
    return out is None or dtype is None or numpy.can_cast(dtype, out.dtype, casting)


# Reductions in bool, whatever the dtype.
_LOGICAL = {"logical_and", "logical_or", "logical_xor"}


def _fits(value: Any, out: Any, casting: Any = None) -> bool:
    ours = isinstance(value, core.ndarray) and isinstance(out, core.ndarray)
    same = ours and out._writeable and value.shape == out.shape
    return same and numpy.can_cast(value.dtype, out.dtype, casting or "same_kind")


def _outer(self: Any, A: Any, B: Any, /, **kwargs: Any) -> Any:
    if not (isinstance(A, core.ndarray) and isinstance(B, core.ndarray)):
        return call_numpy_ufunc(self._numpy, "outer", (A, B), kwargs)
    return self(A.reshape(A.shape + (1,) * B.ndim), B, **kwargs)


def _method(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return call_numpy_ufunc(self._numpy, name, args, kwargs)

    method.__name__ = name
    method.__doc__ = getattr(numpy.add, name).__doc__
    method.__dict__["__execution__"] = _EXECUTION[name]
    return method


def _pickle_by_name(self: Any) -> str:
    return str(self.__name__)


_EXECUTION = {"at": COMPUTED, "reduceat": PIECEWISE}
METHODS = {name: _method(name) for name in _EXECUTION}
METHODS["accumulate"] = _accumulate
METHODS["outer"] = _outer
METHODS["reduce"] = _reduce
METHODS["__reduce__"] = _pickle_by_name


def array_ufunc(self: Any, ufunc: Any, method: str, inputs: tuple[Any, ...], **kwargs: Any) -> Any:
    """NumPy's ufunc called with one of our arrays."""
    given = (*inputs, *kwargs.get("out", ()))
    if any(getattr(type(value), "__array_ufunc__", 0) is None for value in given):
        return NotImplemented
    if any(map(overrides_ufuncs, (*given, *kwargs.values()))):
        return NotImplemented
    if method in ("__call__", "accumulate", "reduce") and ufunc in UFUNCS:
        out = kwargs.get("out")
        if method != "__call__" and out is not None:
            kwargs["out"] = out[0]
        return getattr(UFUNCS[ufunc], method)(*inputs, **kwargs)
    return call_numpy_ufunc(ufunc, method, inputs, kwargs)


def attach() -> None:
    """Attaches methods and docstrings to the core's ufuncs."""
    for name, method in METHODS.items():
        setattr(core.ufunc, name, method)
    for ufunc in ufuncs.values():
        ufunc.__doc__ = ufunc._numpy.__doc__
