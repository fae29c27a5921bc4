"""The functions of `numpy.fft`: threaded, and of distributed arrays without a gather.

NumPy transforms small arrays, and long doubles, for which the core has no kernels.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

from dappled._dispatch.callsite import call_from_user_frame
from dappled._dispatch.implements import implements
from dappled._dispatch.meta import as_meta
from dappled._ndarray.core import core, ndarray, ufuncs
from dappled._ranks.map_blocks import is_distributed
from dappled.fft._local import Step, step_dtypes, transform, transformed_shape

# Fewer elements do not pay for threads.
_MIN_THREADED_ELEMENTS = 1 << 14
_TRANSFORMED_DTYPES = "?bhilqBHILQefdFD"
_NORM_POWERS = {None: 0.0, "backward": 0.0, "ortho": 0.5, "forward": 1.0}
_FORWARD_NORMS = {0.0: "backward", 0.5: "ortho", 1.0: "forward"}  # of a transform forward


class _Kind(NamedTuple):
    """The transform along the last axis; those along the others are complex."""

    what: str
    forward: bool
    conjugates: str = ""  # "before" or "after"


_KINDS = {
    "fft": _Kind("complex", True),
    "ifft": _Kind("complex", False),
    "rfft": _Kind("half", True),
    "irfft": _Kind("real", False),
    "hfft": _Kind("real", False, "before"),
    "ihfft": _Kind("half", True, "after"),
}


class _Call(NamedTuple):
    """A call of a NumPy function, with its lengths, axes and norm."""

    numpy_function: Callable[..., Any]
    kind: _Kind
    a: Any
    arguments: tuple[Any, Any, Any]


class _Unsupported(Exception):
    """Arguments that NumPy must check or handle."""


def _one_dimensional(name: str) -> Callable[..., Any]:
    theirs = getattr(numpy.fft, name)

    @implements(theirs, "dappled.fft")
    def ours(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Any:
        if name == "hfft":
            out = None  # as NumPy does
        lengths = None if n is None else (n,)
        return _transform_call(
            _Call(theirs, _KINDS[name], a, (n, axis, norm)), lengths, (axis,), out
        )

    return ours


def _multi_dimensional(name: str, axes_if_none_said: tuple[int, int] | None) -> Callable[..., Any]:
    theirs = getattr(numpy.fft, name)
    kind = _KINDS[name[:-1]]

    @implements(theirs, "dappled.fft")
    def ours(
        a: Any, s: Any = None, axes: Any = axes_if_none_said, norm: Any = None, out: Any = None
    ) -> Any:
        if s is not None and (axes is None or None in s):
            if not is_distributed(a):
                return NotImplemented  # NumPy warns
            axes = _axes_with_warning(theirs, a.ndim, s, axes)
        if name in ("ifft2", "irfft2"):
            out = None  # as NumPy does
        call = _Call(theirs, kind, a, (s, axes, norm))
        axes = range(_ndim(a)) if axes is None else axes
        if kind.what == "complex" and not s and out is None and _has_no_axes(a, axes):
            return a  # as NumPy does
        return _transform_call(call, _complete_lengths(a, s, axes, kind), axes, out)

    return ours


def _axes_with_warning(theirs: Callable[..., Any], ndim: int, s: Any, axes: Any) -> Any:
    """The axes that the lengths refer to. NumPy warns if they are None."""
    sample_shape = [2] * (len(s) if axes is None else ndim)
    call_from_user_frame(theirs, numpy.zeros(sample_shape), [length and 2 for length in s], axes)
    return range(-len(sample_shape), 0) if axes is None else axes


def _has_no_axes(a: Any, axes: Any) -> bool:
    return isinstance(a, ndarray) and isinstance(axes, list | tuple) and not axes


def _complete_lengths(a: Any, lengths: Any, axes: Any, kind: _Kind) -> Any:
    """Lengths with -1 and None replaced by those of the axes."""
    if lengths is None or not isinstance(a, ndarray | numpy.ndarray):
        return lengths
    try:
        pairs = zip(lengths, axes, strict=True)
        result = [a.shape[axis] if length in (-1, None) else length for length, axis in pairs]
        if kind.what == "real" and lengths[-1] is None:
            result[-1] = 2 * (result[-1] - 1)
    except (TypeError, ValueError, IndexError):  # NumPy raises the error
        return lengths
    return result


def _ndim(a: Any) -> int:
    return a.ndim if isinstance(a, ndarray | numpy.ndarray) else 0


def _transform_call(call: _Call, lengths: Any, axes: Any, out: Any) -> Any:
    a = call.a
    if not _is_supported(a, out):
        return NotImplemented
    if a.size < _MIN_THREADED_ELEMENTS and not is_distributed(a):
        return _by_numpy(call) if out is None else NotImplemented
    try:
        steps = _steps(a, call.kind, lengths, axes, call.arguments[2])
        _check_output(a, steps, out)
    except (_Unsupported, TypeError, KeyError):
        return _raise_like_numpy(call, out) if is_distributed(a) else NotImplemented
    result = _transform_array(a, steps, call.kind)
    if out is None:
        return result
    out[...] = result
    return out


def _by_numpy(call: _Call) -> Any:
    values = core.unwrap(call.a) if isinstance(call.a, ndarray) else call.a
    return core.wrap(call.numpy_function(values, *call.arguments), True)


def _is_supported(a: Any, out: Any) -> bool:
    known = (isinstance(a, ndarray) and a._held is None) or type(a) is numpy.ndarray
    written = out is None or (isinstance(out, ndarray) and out._held is None and out._writeable)
    return (
        known
        and written
        and a.dtype.char in _TRANSFORMED_DTYPES
        and a.dtype.isnative
        and a.ndim > 0
    )


def _steps(a: Any, kind: _Kind, lengths: Any, axes: Any, norm: Any) -> list[Step]:
    """The transforms in NumPy's order: the last axis first, or last where the result is real."""
    axes = [operator.index(axis) for axis in axes]
    if not axes or not all(-a.ndim <= axis < a.ndim for axis in axes):
        raise _Unsupported
    axes = [axis % a.ndim for axis in axes]
    if lengths is None:
        lengths = [a.shape[axis] for axis in axes]
        lengths[-1] = 2 * (lengths[-1] - 1) if kind.what == "real" else lengths[-1]
    lengths = [operator.index(length) for length in lengths]
    if len(lengths) != len(axes) or min(lengths) < 1:
        raise _Unsupported
    power = _NORM_POWERS[norm]
    power = power if kind.forward != bool(kind.conjugates) else 1.0 - power
    said = _FORWARD_NORMS[power if kind.forward else 1.0 - power]
    steps = [
        Step(axis, length, "complex", kind.forward, _scale(length, power, numpy.float64), said)
        for axis, length in zip(axes, lengths, strict=True)
    ]
    steps[-1] = steps[-1]._replace(what=kind.what)
    steps = steps if kind.what == "real" else steps[::-1]
    if a.dtype.char == "e":  # NumPy rounds the first factor to float16
        scale = _scale(steps[0].length, power, numpy.float16)
        steps[0] = steps[0]._replace(scale=scale)
    return steps


def _scale(length: int, power: float, kind: Any) -> float:
    divisor = {0.0: kind(1), 0.5: numpy.sqrt(length, dtype=kind), 1.0: kind(length)}[power]
    return float(numpy.reciprocal(divisor))


def _check_output(a: Any, steps: list[Step], out: Any) -> None:
    """Raises if a real transform gets complex values, or `out` does not fit."""
    if a.dtype.kind == "c" and steps[0].what == "half":
        raise _Unsupported
    if out is None:
        return
    shape = a.shape
    for step in steps:
        shape = transformed_shape(shape, step)
    if out.shape != shape or not numpy.can_cast(_result_dtype(a, steps), out.dtype, "same_kind"):
        raise _Unsupported


def _result_dtype(a: Any, steps: list[Step]) -> Any:
    """The dtype of the result: as narrow as the values where they become real."""
    halves = a.dtype.char == "e" and steps[0].what == "real"
    return a.dtype if halves else step_dtypes(steps[-1], a.dtype)[1]


def _transform_array(a: Any, steps: list[Step], kind: _Kind) -> Any:
    if is_distributed(a):
        a = ufuncs["conjugate"](a) if kind.conjugates == "before" else a
        result = core.fft_distributed(a, [step[:5] for step in steps])
        result = ufuncs["conjugate"](result) if kind.conjugates == "after" else result
        return result.astype(_result_dtype(a, steps), copy=False)
    values = core.unwrap(a) if isinstance(a, ndarray) else a
    result = transform(numpy.conjugate(values) if kind.conjugates == "before" else values, steps)
    if kind.conjugates == "after":
        numpy.conjugate(result, out=result)
    return core.wrap(result.astype(_result_dtype(a, steps), copy=False), True)


def _raise_like_numpy(call: _Call, out: Any) -> Any:
    """NumPy's error for these arguments, which needs no values."""
    if out is not None:  # which does not fit
        call.numpy_function(as_meta(call.a), *call.arguments, out=as_meta(out, writeable=True))
    # Even or odd, which NumPy distinguishes
    sample_shape = [min(length, 2 - length % 2) for length in call.a.shape]
    call.numpy_function(numpy.zeros(sample_shape, call.a.dtype), *call.arguments)
    return NotImplemented


FUNCTIONS = {name: _one_dimensional(name) for name in _KINDS} | {
    name + end: _multi_dimensional(name + end, axes)
    for name in ("fft", "ifft", "rfft", "irfft")
    for end, axes in (("n", None), ("2", (-2, -1)))
}
