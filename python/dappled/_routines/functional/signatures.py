"""np.vectorize with a gufunc signature.

Short rows are made local, and each rank calls the function for its own. Where rows are long, or the
function accesses distributed arrays, all ranks call it for all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy

from dappled._compat.numpy_private import core_dimensions, vectorize_with_signature
from dappled._dispatch.callsite import call_from_user_frame
from dappled._dispatch.rebind import rebound
from dappled._ndarray.core import core, is_communicable, ndarray
from dappled._ranks.comm import check_collective, local
from dappled._ranks.consensus import collective_try
from dappled._ranks.map_blocks import from_local_piece
from dappled._routines.broadcasting import broadcast_to
from dappled._routines.creation import asarray
from dappled._routines.functional.side_effects import check_side_effects
from dappled.protocol import Distribution

Function = Callable[..., Any]


class _CoreRows(NamedTuple):
    """Arrays as rows of core dimensions, distributed by whole rows."""

    arrays: list[Any]
    shape: tuple[int, ...]  # of the loop dimensions
    grid: tuple[int, ...]

    def blocks(self, axes: tuple[int, ...]) -> Any:
        """The distribution of rows with these core dimensions."""
        kinds = "b" * len(self.shape) + "n" * len(axes)
        grid = (*self.grid, *(1 for _ in axes))
        return Distribution((*self.shape, *axes), kinds, grid_shape=grid)


def vectorize_rows(vectorized: Any, function: Function, args: Sequence[Any], alone: bool) -> Any:
    """Calls a function for all rows; `alone` if it accesses no other distributed array."""
    check_collective("vectorize")
    arrays = list(map(asarray, args))
    rows = _as_core_rows(arrays, core_dimensions(vectorized)) if alone else None
    result = NotImplemented if rows is None else _call_for_local_rows(vectorized, function, rows)
    if result is NotImplemented:
        result = call_from_user_frame(_numpy_vectorize, vectorized, function, arrays)
    return result


_numpy_vectorize = rebound(vectorize_with_signature())


def _as_core_rows(arrays: list[Any], dims: Sequence[Any]) -> _CoreRows | None:
    """The arrays as short rows; None if they have others."""
    fits = len(arrays) == len(dims)
    if not fits or any(one.ndim < len(names) for one, names in zip(arrays, dims, strict=True)):
        return None
    loops = [one.ndim - len(names) for one, names in zip(arrays, dims, strict=True)]
    try:
        shape = numpy.broadcast_shapes(*(a.shape[:n] for a, n in zip(arrays, loops, strict=True)))
    except ValueError:  # NumPy raises the error
        return None
    inner = [one.shape[count:] for one, count in zip(arrays, loops, strict=True)]
    if not shape or 0 in shape or not all(map(_is_short, arrays, inner)):
        return None
    repeated = [broadcast_to(one, shape + row) for one, row in zip(arrays, inner, strict=True)]
    return _CoreRows(repeated, shape, tuple(core.placed("b" * len(shape), shape).grid_shape))


def _is_short(array: Any, row: tuple[int, ...]) -> bool:
    return is_communicable(array.dtype) and (not row or core.blocks(row, array.itemsize) is None)


def _call_for_local_rows(vectorized: Any, function: Function, rows: _CoreRows) -> Any:
    """Calls the function for this rank's rows; NotImplemented if it is collective."""
    check = check_side_effects(vectorized.pyfunc, "vectorize")
    first = [array[(0,) * len(rows.shape)] for array in rows.arrays]
    like = _sample_outputs(vectorized, lambda: function(*map(_copied, first)), rows)
    check()
    if not all(is_communicable(one.dtype) for one in like):
        return NotImplemented
    count = len(rows.shape)
    parts = [one.redistribute(rows.blocks(one.shape[count:])).local for one in rows.arrays]
    distribution = [rows.blocks(one.shape) for one in like]
    result = [
        numpy.empty(blocks.local_shape(core.rank()), one.dtype)
        for blocks, one in zip(distribution, like, strict=True)
    ]
    try:
        collective_try(lambda: _fill(function, parts, result, count, check))
    except core.LocalContextError:
        return NotImplemented
    results = tuple(map(from_local_piece, distribution, result))
    return results[0] if len(results) == 1 else results


def _sample_outputs(vectorized: Any, first: Callable[[], Any], rows: _CoreRows) -> list[Any]:
    """The outputs for the first row, by NumPy, which checks dtypes and lengths."""
    count = len(rows.shape)
    metas = [numpy.zeros((1,) * count + one.shape[count:], one.dtype) for one in rows.arrays]
    kinds, signature = vectorized.otypes, vectorized.signature
    once = numpy.vectorize(lambda *_: _unwrapped(first()), otypes=kinds, signature=signature)
    result = call_from_user_frame(once, *metas)
    outputs = result if isinstance(result, tuple) else (result,)
    return [one[(*[0] * count, ...)] for one in outputs]


def _fill(
    function: Function, parts: list[Any], created: list[Any], count: int, check: Callable[[], None]
) -> None:
    """Calls the function for the rows of this rank."""
    with local():
        for index in numpy.ndindex(*created[0].shape[:count]):
            selected = _unwrapped(function(*(_wrapped(part[index]) for part in parts)))
            results = selected if isinstance(selected, tuple) else (selected,)
            if len(results) != len(created):
                text = "wrong number of outputs from pyfunc: expected {!r}, got {!r}"
                raise ValueError(text.format(len(created), len(results)))
            for output, result in zip(created, results, strict=True):
                output[index] = result
    check()


def _copied(row: Any) -> Any:
    return row.copy() if isinstance(row, ndarray) else row


def _wrapped(row: Any) -> Any:
    return core.wrap(row) if isinstance(row, numpy.ndarray) else row


def _unwrapped(results: Any) -> Any:
    if isinstance(results, tuple):
        return tuple(map(_unwrapped, results))
    return core.unwrap(results) if isinstance(results, ndarray) else results
