"""Bits of arrays in pieces: packed into bytes, and unpacked again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from dappled._array import core
from dappled._folding import along, axes_of
from dappled._native import native
from dappled._order import flags_of, turned
from dappled._piecewise import in_pieces


@native(numpy.packbits)
def packbits(a: Any, /, axis: Any = None, bitorder: Any = "big") -> Any:
    if not _is_spread(a) or a.dtype.kind not in "biu":
        return NotImplemented
    if axis is None or a.ndim == 1:
        bits = core.full((-(-a.size // 8) * 8,), 0, numpy.dtype(bool), "C")
        bits[: a.size] = a.reshape(-1) != 0
        return packbits(bits.reshape(-1, 8), 1, bitorder).reshape(-1)
    axes = axes_of(a, axis)
    if axes is None or len(axes) > 1:
        return NotImplemented
    return _along(a, axes[0], lambda part, axis: numpy.packbits(part, axis, bitorder))


@native(numpy.unpackbits)
def unpackbits(a: Any, /, axis: Any = None, count: Any = None, bitorder: Any = "big") -> Any:
    known = _is_spread(a) and a.dtype == numpy.uint8 and (count is None or type(count) is int)
    if not known:
        return NotImplemented
    if axis is None or a.ndim == 1:
        bits = unpackbits(a.reshape(-1, 1), 1, None, bitorder).reshape(-1)
        return bits if count is None else _counted(bits, count)
    axes = axes_of(a, axis)
    if axes is None or len(axes) > 1:
        return NotImplemented
    return _along(a, axes[0], lambda part, axis: numpy.unpackbits(part, axis, count, bitorder))


def _along(a: Any, axis: int, compute: Callable[[Any, int], Any]) -> Any:
    """What is made along an axis; it lies in Fortran's order if the array does."""
    if not flags_of(a).fnc:
        return along(a, [axis], lambda part: compute(part, axis), True)
    back = list(range(a.ndim))[::-1]
    return turned(_along(a.T, back[axis], compute), back)


def _counted(bits: Any, count: int) -> Any:
    """So many bits, with zeros behind them; all but so many if that is negative."""
    made = core.full((count if count >= 0 else bits.size + count,), 0, bits.dtype, "C")
    made[: bits.size] = bits[: made.size]
    return made


def _is_spread(a: Any) -> bool:
    return bool(core.ranks() > 1 and in_pieces(a) and a.size)
