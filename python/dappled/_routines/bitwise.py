"""packbits and unpackbits of distributed arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from dappled._dispatch.implements import implements
from dappled._ndarray.core import core
from dappled._ndarray.memory_order import flags_of, undo_transpose
from dappled._ranks.map_blocks import is_distributed
from dappled._routines.ufunc.reduce import map_along_axes, normalise_axes


@implements(numpy.packbits)
def packbits(a: Any, /, axis: Any = None, bitorder: Any = "big") -> Any:
    if not _is_distributed_nonempty(a) or a.dtype.kind not in "biu":
        return NotImplemented
    if axis is None or a.ndim == 1:
        bits = core.full((-(-a.size // 8) * 8,), 0, numpy.dtype(bool), "C")
        bits[: a.size] = a.reshape(-1) != 0
        return packbits(bits.reshape(-1, 8), 1, bitorder).reshape(-1)
    axes = normalise_axes(a, axis)
    if axes is None or len(axes) > 1:
        return NotImplemented
    return _map_axis(a, axes[0], lambda part, axis: numpy.packbits(part, axis, bitorder))


@implements(numpy.unpackbits)
def unpackbits(a: Any, /, axis: Any = None, count: Any = None, bitorder: Any = "big") -> Any:
    known = (
        _is_distributed_nonempty(a)
        and a.dtype == numpy.uint8
        and (count is None or type(count) is int)
    )
    if not known:
        return NotImplemented
    if axis is None or a.ndim == 1:
        bits = unpackbits(a.reshape(-1, 1), 1, None, bitorder).reshape(-1)
        return bits if count is None else _resize_bits(bits, count)
    axes = normalise_axes(a, axis)
    if axes is None or len(axes) > 1:
        return NotImplemented
    return _map_axis(a, axes[0], lambda part, axis: numpy.unpackbits(part, axis, count, bitorder))


def _map_axis(a: Any, axis: int, compute: Callable[[Any, int], Any]) -> Any:
    """A function along one axis; the result is in Fortran order if the array is."""
    if not flags_of(a).fnc:
        return map_along_axes(a, [axis], lambda part: compute(part, axis), True)
    back = list(range(a.ndim))[::-1]
    return undo_transpose(_map_axis(a.T, back[axis], compute), back)


def _resize_bits(bits: Any, count: int) -> Any:
    """The first `count` bits, padded with zeros; a negative count omits bits at the end."""
    result = core.full((count if count >= 0 else bits.size + count,), 0, bits.dtype, "C")
    result[: bits.size] = bits[: result.size]
    return result


def _is_distributed_nonempty(a: Any) -> bool:
    return bool(core.ranks() > 1 and is_distributed(a) and a.size)
