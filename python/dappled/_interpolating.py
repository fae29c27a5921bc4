"""interp and polyval whose table or coefficients are in pieces.

A table is never whole: each value asks for the two points that it lies between. Coefficients come
some at a time.
"""

from __future__ import annotations

from typing import Any

import numpy

from dappled._array import core, is_native, ndarray
from dappled._chunks import shared
from dappled._creation import asarray
from dappled._joining import concatenate
from dappled._native import native
from dappled._piecewise import applied, in_pieces
from dappled._rebind import rebound
from dappled._searching import searchsorted
from dappled._sorting import argsort

_horner = rebound(numpy.polyval)


@native(numpy.interp)
def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    if "c" in (asarray(x).dtype.kind, asarray(xp).dtype.kind):
        return NotImplemented  # which NumPy refuses
    if any(map(in_pieces, (xp, fp))):
        return _in_table(x, asarray(xp), asarray(fp), (left, right), period)
    if not in_pieces(x) or not is_native(x.dtype):
        return NotImplemented
    table = [core.unwrap(one) if isinstance(one, ndarray) else one for one in (xp, fp)]

    interpolate: Any = numpy.interp

    def found(part: Any) -> Any:
        return interpolate(part, *table, left, right, period)

    return applied(found, (x,), {})


def _in_table(x: Any, xp: Any, fp: Any, ends: tuple[Any, Any], period: Any) -> Any:
    known = (xp.ndim, fp.ndim) == (1, 1) and all(is_native(one.dtype) for one in (xp, fp))
    if not known or xp.size < 2 or period == 0 or not is_native(asarray(x).dtype):
        return NotImplemented
    if xp.size != fp.size:
        return numpy.interp(0.0, [0.0], [0.0, 0.0], period=period)  # which NumPy refuses
    values = asarray(x).astype(float, copy=False)
    points = xp.astype(float, copy=False)
    if period is not None:
        values, points, fp = _around(values, points, fp, abs(period))
        ends = (None, None)
    made = _between(values.reshape(-1), points, fp, ends).reshape(values.shape)
    return made if values.ndim else made[()]


def _around(x: Any, xp: Any, fp: Any, period: Any) -> tuple[Any, Any, Any]:
    """NumPy's steps for what comes again: a table in order, with a point more at each end."""
    xp = xp % period
    order = argsort(xp)
    xp, fp = xp[order], fp[order]
    longer = concatenate((xp[-1:] - period, xp, xp[:1] + period))
    return x % period, longer, concatenate((fp[-1:], fp, fp[:1]))


def _between(x: Any, xp: Any, fp: Any, ends: tuple[Any, Any]) -> Any:
    """The values of a row, each from the points to both sides."""
    at = searchsorted(xp, x, "right") - 1
    low, high = at.clip(0, len(xp) - 1), (at + 1).clip(0, len(xp) - 1)
    kind = complex if fp.dtype.kind == "c" else float
    fp = fp.astype(kind, copy=False)
    found = _line(x, xp[low], xp[high], fp[low], fp[high])
    for end, beyond in zip(ends, (x < xp[0], x > xp[-1]), strict=True):
        if end is not None:
            found = numpy.where(beyond, kind(end), found)
    return found


def _line(*points: Any) -> Any:
    """The line through two points at a place between them, of complex numbers part by part."""
    if points[-1].dtype.kind != "c":
        return applied(_straight, points, {})
    x, low, high, *ends = points
    made: Any = core.full(x.shape, 0, numpy.dtype(complex), "C")
    made.real = applied(_straight, (x, low, high, *(end.real for end in ends)), {})
    imaginary = applied(_straight, (x, low, high, *(end.imag for end in ends)), {})
    made.imag = numpy.where(x == x, imaginary, 0.0)  # of what is no number NumPy has it so
    return made


def _straight(x: Any, low: Any, high: Any, left: Any, right: Any) -> Any:
    """As NumPy: from one end, if that is no number from the other; level also if infinite."""
    with numpy.errstate(all="ignore"):
        slope = (right - left) / (high - low)
        made = slope * (x - low) + left
        made = numpy.where(numpy.isnan(made), slope * (x - high) + right, made)
    made = numpy.where(numpy.isnan(made) & (left == right), left, made)
    at_end = (x <= low) | (x >= high)
    made = numpy.where(at_end, numpy.where(x <= low, left, right), made)
    return numpy.where(numpy.isnan(x), x, made)


@native(numpy.polyval)
def polyval(p: Any, x: Any) -> Any:
    if not in_pieces(p) or p.ndim != 1 or not isinstance(x, ndarray | numpy.ndarray):
        return _horner(p, x)
    at = asarray(x)
    made: Any = core.full(at.shape, 0, at.dtype, "C")
    for _, coefficients in shared(p):
        for coefficient in coefficients:
            made = made * at + coefficient
    return made
