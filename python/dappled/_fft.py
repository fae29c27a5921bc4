"""The functions of `numpy.fft`: on all threads, and of arrays in pieces without gathering them.

What is small is done by NumPy, which needs no threads for it; and long doubles, which the core does
not have.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

from dappled._array import core, ndarray, ufuncs
from dappled._fourier import Step, dtypes, resized, transformed
from dappled._fourier_pieces import spread
from dappled._line import called_by_user
from dappled._native import native
from dappled._piecewise import in_pieces

# Elements below which starting threads is not worth it.
_SMALL = 1 << 14
_DTYPES = "?bhilqBHILQefdFD"
_NORMS = {None: 0.0, "backward": 0.0, "ortho": 0.5, "forward": 1.0}
_NAMES = {0.0: "backward", 0.5: "ortho", 1.0: "forward"}  # of a transform forward


class _Kind(NamedTuple):
    """What a function does along its last axis; along the others it is complex."""

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
    """A call of a function of NumPy's: what was said are lengths, axes and norm."""

    theirs: Callable[..., Any]
    kind: _Kind
    a: Any
    said: tuple[Any, Any, Any]


class _Unfit(Exception):
    """Arguments that NumPy has words for, or knows better."""


def _along_one(name: str) -> Callable[..., Any]:
    theirs = getattr(numpy.fft, name)

    @native(theirs, "dappled.fft")
    def ours(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Any:
        if name == "hfft":
            out = None  # as NumPy does
        lengths = None if n is None else (n,)
        return _done(_Call(theirs, _KINDS[name], a, (n, axis, norm)), lengths, (axis,), out)

    return ours


def _along_several(name: str, axes_if_none_said: tuple[int, int] | None) -> Callable[..., Any]:
    theirs = getattr(numpy.fft, name)
    kind = _KINDS[name[:-1]]

    @native(theirs, "dappled.fft")
    def ours(
        a: Any, s: Any = None, axes: Any = axes_if_none_said, norm: Any = None, out: Any = None
    ) -> Any:
        if s is not None and (axes is None or None in s):
            if not in_pieces(a):
                return NotImplemented  # NumPy warns
            axes = _warned(theirs, a.ndim, s, axes)
        if name in ("ifft2", "irfft2"):
            out = None  # as NumPy does
        call = _Call(theirs, kind, a, (s, axes, norm))
        axes = range(_ndim(a)) if axes is None else axes
        if kind.what == "complex" and not s and out is None and _is_none(a, axes):
            return a  # as NumPy does
        return _done(call, _filled_in(a, s, axes, kind), axes, out)

    return ours


def _warned(theirs: Callable[..., Any], ndim: int, s: Any, axes: Any) -> Any:
    """The axes that lengths are about. Of axes or lengths that are None NumPy warns, whatever the
    array.
    """
    few = [2] * (len(s) if axes is None else ndim)
    called_by_user(theirs, numpy.zeros(few), [length and 2 for length in s], axes)
    return range(-len(few), 0) if axes is None else axes


def _is_none(a: Any, axes: Any) -> bool:
    return isinstance(a, ndarray) and isinstance(axes, list | tuple) and not axes


def _filled_in(a: Any, lengths: Any, axes: Any, kind: _Kind) -> Any:
    """Lengths, of which -1 is that of the axis, and None what there is if nothing is said."""
    if lengths is None or not isinstance(a, ndarray | numpy.ndarray):
        return lengths
    try:
        pairs = zip(lengths, axes, strict=True)
        found = [a.shape[axis] if length in (-1, None) else length for length, axis in pairs]
        if kind.what == "real" and lengths[-1] is None:
            found[-1] = 2 * (found[-1] - 1)
    except (TypeError, ValueError, IndexError):  # NumPy has words for it
        return lengths
    return found


def _ndim(a: Any) -> int:
    return a.ndim if isinstance(a, ndarray | numpy.ndarray) else 0


def _done(call: _Call, lengths: Any, axes: Any, out: Any) -> Any:
    a = call.a
    if not _is_ours_to_do(a, out):
        return NotImplemented
    if a.size < _SMALL and not in_pieces(a):
        return _by_numpy(call) if out is None else NotImplemented
    try:
        steps = _steps(a, call.kind, lengths, axes, call.said[2])
        _check(a, steps, out)
    except (_Unfit, TypeError, KeyError):
        return _complaint(call, out) if in_pieces(a) else NotImplemented
    made = _made(a, steps, call.kind)
    if out is None:
        return made
    out[...] = made
    return out


def _by_numpy(call: _Call) -> Any:
    values = core.unwrap(call.a) if isinstance(call.a, ndarray) else call.a
    return core.wrap(call.theirs(values, *call.said), True)


def _is_ours_to_do(a: Any, out: Any) -> bool:
    known = (isinstance(a, ndarray) and a._held is None) or type(a) is numpy.ndarray
    written = out is None or (isinstance(out, ndarray) and out._held is None and out._writeable)
    return known and written and a.dtype.char in _DTYPES and a.dtype.isnative and a.ndim > 0


def _steps(a: Any, kind: _Kind, lengths: Any, axes: Any, norm: Any) -> list[Step]:
    """What is done, in NumPy's order: the last axis first, and at the end where it becomes real."""
    axes = [operator.index(axis) for axis in axes]
    if not axes or not all(-a.ndim <= axis < a.ndim for axis in axes):
        raise _Unfit
    axes = [axis % a.ndim for axis in axes]
    if lengths is None:
        lengths = [a.shape[axis] for axis in axes]
        lengths[-1] = 2 * (lengths[-1] - 1) if kind.what == "real" else lengths[-1]
    lengths = [operator.index(length) for length in lengths]
    if len(lengths) != len(axes) or min(lengths) < 1:
        raise _Unfit
    power = _NORMS[norm]
    power = power if kind.forward != bool(kind.conjugates) else 1.0 - power
    said = _NAMES[power if kind.forward else 1.0 - power]
    steps = [
        Step(axis, length, "complex", kind.forward, _scale(length, power, numpy.float64), said)
        for axis, length in zip(axes, lengths, strict=True)
    ]
    steps[-1] = steps[-1]._replace(what=kind.what)
    steps = steps if kind.what == "real" else steps[::-1]
    if a.dtype.char == "e":  # NumPy's first factor is rounded so
        scale = _scale(steps[0].length, power, numpy.float16)
        steps[0] = steps[0]._replace(scale=scale)
    return steps


def _scale(length: int, power: float, kind: Any) -> float:
    divisor = {0.0: kind(1), 0.5: numpy.sqrt(length, dtype=kind), 1.0: kind(length)}[power]
    return float(numpy.reciprocal(divisor))


def _check(a: Any, steps: list[Step], out: Any) -> None:
    """Whether a real transform has real values, and what it is written into is just so."""
    if a.dtype.kind == "c" and steps[0].what == "half":
        raise _Unfit
    if out is None:
        return
    shape = a.shape
    for step in steps:
        shape = resized(shape, step)
    if out.shape != shape or not numpy.can_cast(_dtype(a, steps), out.dtype, "same_kind"):
        raise _Unfit


def _dtype(a: Any, steps: list[Step]) -> Any:
    """That of the result: as narrow as the values where they become real at once."""
    halves = a.dtype.char == "e" and steps[0].what == "real"
    return a.dtype if halves else dtypes(steps[-1], a.dtype)[1]


def _made(a: Any, steps: list[Step], kind: _Kind) -> Any:
    if in_pieces(a):
        a = ufuncs["conjugate"](a) if kind.conjugates == "before" else a
        made = spread(a, steps)
        made = ufuncs["conjugate"](made) if kind.conjugates == "after" else made
        return made.astype(_dtype(a, steps), copy=False)
    values = core.unwrap(a) if isinstance(a, ndarray) else a
    made = transformed(numpy.conjugate(values) if kind.conjugates == "before" else values, steps)
    if kind.conjugates == "after":
        numpy.conjugate(made, out=made)
    return core.wrap(made.astype(_dtype(a, steps), copy=False), True)


def _complaint(call: _Call, out: Any) -> Any:
    """NumPy's error for the same arguments: its words need no values."""
    if out is not None:  # which does not fit, or nothing does
        call.theirs(_memoryless(call.a), *call.said, out=_memoryless(out))
    few = [min(length, 2 - length % 2) for length in call.a.shape]  # even or odd: it has two ways
    call.theirs(numpy.zeros(few, call.a.dtype), *call.said)
    return NotImplemented


def _memoryless(array: Any) -> Any:
    """An array of NumPy's of the same shape and dtype, all of whose elements are one."""
    one, strides = numpy.zeros((), array.dtype), (0,) * array.ndim
    return numpy.lib.stride_tricks.as_strided(one, array.shape, strides)


FUNCTIONS = {name: _along_one(name) for name in _KINDS} | {
    name + end: _along_several(name + end, axes)
    for name in ("fft", "ifft", "rfft", "irfft")
    for end, axes in (("n", None), ("2", (-2, -1)))
}
