"""interp and polyval with distributed tables or coefficients.

Each value requests the two table points around it; coefficients are replicated chunk by chunk.
"""

from __future__ import annotations

from typing import Any

import numpy

from dappled._dispatch.implements import implements
from dappled._dispatch.rebind import rebound
from dappled._ndarray.core import core, is_native, ndarray
from dappled._ranks.map_blocks import is_distributed, map_blocks
from dappled._routines._distributed.chunks import replicated_chunks
from dappled._routines.creation import asarray
from dappled._routines.joining import concatenate
from dappled._routines.searching import searchsorted
from dappled._routines.sorting import argsort

_rebound_polyval = rebound(numpy.polyval)


@implements(numpy.interp)
def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    if "c" in (asarray(x).dtype.kind, asarray(xp).dtype.kind):
        return NotImplemented  # NumPy raises
    if any(map(is_distributed, (xp, fp))):
        return _interpolate(x, asarray(xp), asarray(fp), (left, right), period)
    if not is_distributed(x) or not is_native(x.dtype):
        return NotImplemented
    table = [core.unwrap(one) if isinstance(one, ndarray) else one for one in (xp, fp)]

    interpolate: Any = numpy.interp

    def result(part: Any) -> Any:
        return interpolate(part, *table, left, right, period)

    return map_blocks(result, (x,), {})


def _interpolate(x: Any, xp: Any, fp: Any, ends: tuple[Any, Any], period: Any) -> Any:
    known = (xp.ndim, fp.ndim) == (1, 1) and all(is_native(one.dtype) for one in (xp, fp))
    if not known or xp.size < 2 or period == 0 or not is_native(asarray(x).dtype):
        return NotImplemented
    if xp.size != fp.size:
        return numpy.interp(0.0, [0.0], [0.0, 0.0], period=period)  # NumPy's error
    values = asarray(x).astype(float, copy=False)
    points = xp.astype(float, copy=False)
    if period is not None:
        values, points, fp = _periodic_table(values, points, fp, abs(period))
        ends = (None, None)
    result = _interpolate_row(values.reshape(-1), points, fp, ends).reshape(values.shape)
    return result if values.ndim else result[()]


def _periodic_table(x: Any, xp: Any, fp: Any, period: Any) -> tuple[Any, Any, Any]:
    """NumPy's steps for `period=`: a sorted table with one more point at each end."""
    xp = xp % period
    order = argsort(xp)
    xp, fp = xp[order], fp[order]
    longer = concatenate((xp[-1:] - period, xp, xp[:1] + period))
    return x % period, longer, concatenate((fp[-1:], fp, fp[:1]))


def _interpolate_row(x: Any, xp: Any, fp: Any, ends: tuple[Any, Any]) -> Any:
    """The values of a row, each from the points on both sides."""
    at = searchsorted(xp, x, "right") - 1
    low, high = at.clip(0, len(xp) - 1), (at + 1).clip(0, len(xp) - 1)
    kind = complex if fp.dtype.kind == "c" else float
    fp = fp.astype(kind, copy=False)
    result = _segment_values(x, xp[low], xp[high], fp[low], fp[high])
    for end, beyond in zip(ends, (x < xp[0], x > xp[-1]), strict=True):
        if end is not None:
            result = numpy.where(beyond, kind(end), result)
    return result


def _segment_values(*points: Any) -> Any:
    """Values on the segments; of complex numbers by component."""
    if points[-1].dtype.kind != "c":
        return map_blocks(_segment_value, points, {})
    x, low, high, *ends = points
    result: Any = core.full(x.shape, 0, numpy.dtype(complex), "C")
    result.real = map_blocks(_segment_value, (x, low, high, *(end.real for end in ends)), {})
    imaginary = map_blocks(_segment_value, (x, low, high, *(end.imag for end in ends)), {})
    result.imag = numpy.where(x == x, imaginary, 0.0)  # NumPy's result for NaN
    return result


def _segment_value(x: Any, low: Any, high: Any, left: Any, right: Any) -> Any:
    """NumPy's formula: from the left point, from the right one if that is NaN."""
    with numpy.errstate(all="ignore"):
        slope = (right - left) / (high - low)
        result = slope * (x - low) + left
        result = numpy.where(numpy.isnan(result), slope * (x - high) + right, result)
    result = numpy.where(numpy.isnan(result) & (left == right), left, result)
    at_end = (x <= low) | (x >= high)
    result = numpy.where(at_end, numpy.where(x <= low, left, right), result)
    return numpy.where(numpy.isnan(x), x, result)


@implements(numpy.polyval)
def polyval(p: Any, x: Any) -> Any:
    if not is_distributed(p) or p.ndim != 1 or not isinstance(x, ndarray | numpy.ndarray):
        return _rebound_polyval(p, x)
    at = asarray(x)
    result: Any = core.full(at.shape, 0, at.dtype, "C")
    for _, coefficients in replicated_chunks(p):
        for coefficient in coefficients:
            result = result * at + coefficient
    return result
