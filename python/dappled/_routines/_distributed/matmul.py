"""Distributed matrix products: SUMMA, or a split of the inner axis.

The result is distributed over a grid of ranks. The inner axis is divided into panels; for each a
rank gets its rows of the first matrix and its columns of the second, multiplies them with NumPy,
and adds (SUMMA: van de Geijn and Watts, 1997). Where the result is much smaller than the operands,
ranks divide the inner axis instead, and the products are summed. The communication volume decides.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy

from dappled._dispatch.callsite import call_from_user_frame
from dappled._dispatch.meta import meta
from dappled._ndarray.core import core, empty, from_numpy, ndarray
from dappled._ranks.consensus import collective_errstate
from dappled._ranks.map_blocks import is_distributed
from dappled.protocol import Distribution

_NATIVE_KINDS = "biufc"
# Bytes of both panels: small beside the pieces, large enough for BLAS.
_PANEL_BYTES = 1 << 25


def matmul(a: Any, b: Any, multiply: Callable[..., Any] = numpy.matmul) -> Any:
    """`a @ b` with at least one distributed operand; NotImplemented for the fallback.

    `multiply` is NumPy's function for local products; warnings name it.
    """
    if not any(map(is_distributed, (a, b))) or not all(map(_is_native, (a, b))):
        return NotImplemented
    if not (a.ndim and b.ndim):
        return _raise_like_numpy(a, b)
    one, other = (x if isinstance(x, ndarray) else from_numpy(x) for x in (a, b))
    left = one[None] if one.ndim == 1 else one
    right = other[:, None] if other.ndim == 1 else other
    try:
        batch = numpy.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    except ValueError:
        return _raise_like_numpy(a, b)
    if left.shape[-1] != right.shape[-2]:
        return _raise_like_numpy(a, b)
    result = _multiply_stacks(left, right, batch, multiply)
    dropped = [axis for axis, vector in ((-2, a.ndim == 1), (-1, b.ndim == 1)) if vector]
    kept = tuple(0 if axis - result.ndim in dropped else slice(None) for axis in range(result.ndim))
    return result[kept].copy() if len(dropped) == 1 else result[kept]


def _is_native(value: Any) -> bool:
    arrays = (isinstance(value, ndarray) and value._held is None) or type(value) is numpy.ndarray
    return (
        arrays
        and value.dtype.kind in _NATIVE_KINDS
        and value.dtype.isnative
        and value.dtype.char not in "gG"
    )


def _raise_like_numpy(a: Any, b: Any) -> Any:
    """Raises NumPy's error, which depends on shapes alone; else NotImplemented."""
    numpy.matmul(*(meta(x.shape, x.dtype) for x in (a, b)))
    return NotImplemented


def _multiply_stacks(a: Any, b: Any, batch: tuple[int, ...], multiply: Callable[..., Any]) -> Any:
    """Products of stacked matrices: whole ones on each rank, if there are enough."""
    shape = (*batch, a.shape[-2], b.shape[-1])
    kind = numpy.result_type(a.dtype, b.dtype)
    if not math.prod(shape) or not a.shape[-1]:
        return core.full(shape, 0, kind, "C")
    if not batch:
        return _multiply(a, b, kind, multiply)
    left = a._broadcast_to((*batch, *a.shape[-2:]))
    right = b._broadcast_to((*batch, *b.shape[-2:]))
    if math.prod(batch) >= core.ranks():
        return _multiply_local_stacks(left, right, shape)
    result = empty(shape, kind)
    for at in itertools.product(*map(range, batch)):
        result[at] = _multiply(left[at], right[at], kind, multiply)
    return result


def _multiply_local_stacks(a: Any, b: Any, shape: tuple[int, ...]) -> Any:
    kinds = "b" * (len(shape) - 2) + "nn"
    left, right = a.redistribute(kinds).local, b.redistribute(kinds).local
    result = collective_errstate(lambda: call_from_user_frame(numpy.matmul, left, right))
    return core.from_piece(core.placed(kinds, shape), result, True)


def _multiply(a: Any, b: Any, kind: Any, multiply: Callable[..., Any]) -> Any:
    """The product of two matrices by the algorithm with the least communication."""
    sizes = (a.shape[0], a.shape[1], b.shape[1])
    grids = _grid(a), _grid(b)
    ranks = core.ranks()
    grid = min(_candidate_grids(sizes, ranks), key=lambda grid: _summa_volume(sizes, grid, grids))
    rows, inner, columns = sizes
    is_small = rows * columns * ranks <= (rows + columns) * inner
    if is_small and _inner_split_volume(sizes, ranks, grids) < _summa_volume(sizes, grid, grids):
        return _inner_split(a, b, kind, multiply)
    return _summa(a, b, grid, multiply)


def _grid(a: Any) -> tuple[int, ...] | None:
    """The process grid of a matrix, if it is known."""
    for matrix, step in ((a, 1), (a.T, -1)):
        try:
            result = matrix.distribution
        except ValueError:  # a view, which has no distribution of its own
            continue
        return None if result.is_whole else result.grid_shape[::step]
    return None


def _candidate_grids(sizes: tuple[int, int, int], ranks: int) -> Iterator[tuple[int, int]]:
    """Grids for the result, the default one first."""
    yield core.placed("bb", (sizes[0], sizes[2])).grid_shape
    yield from ((rows, ranks // rows) for rows in range(ranks, 0, -1) if ranks % rows == 0)


def _summa_volume(sizes: tuple[int, int, int], grid: tuple[int, int], grids: Any) -> float:
    """Elements that a rank receives with SUMMA."""
    (rows, inner, columns), (one, other) = sizes, grids
    left = 1 - 1 / one[1] if one and one[0] == grid[0] else 1
    right = 1 - 1 / other[0] if other and other[1] == grid[1] else 1
    return inner * (left * rows / grid[0] + right * columns / grid[1])


def _inner_split_volume(sizes: tuple[int, int, int], ranks: int, grids: Any) -> float:
    """Elements that a rank receives if ranks divide the inner axis."""
    (rows, inner, columns), (one, other) = sizes, grids
    left = rows if one != (1, ranks) else 0
    right = columns if other != (ranks, 1) else 0
    return inner * (left + right) / ranks + rows * columns


def _summa(a: Any, b: Any, grid: tuple[int, int], multiply: Callable[..., Any]) -> Any:
    (rows, inner), columns = a.shape, b.shape[1]
    result = Distribution((rows, columns), "bb", grid_shape=grid)
    itemsize = max(a.itemsize, b.itemsize)
    width = _PANEL_BYTES // itemsize // (-(-rows // grid[0]) + -(-columns // grid[1]))
    total: Any = None
    for start in range(0, inner, width := max(64, width)):
        panel = slice(start, min(start + width, inner))
        panels = _panels(a[:, panel], b[panel], grid)
        total = collective_errstate(partial(_add_product, total, multiply, panels))
    return core.from_piece(result, numpy.ascontiguousarray(total), True)


def _panels(a: Any, b: Any, grid: tuple[int, int]) -> tuple[Any, Any]:
    """This rank's rows of one panel and columns of the other."""
    (rows, width), columns = a.shape, b.shape[1]
    left, right = (rows, grid[1], width), (grid[0], width, columns)
    one = Distribution(left, "bbn", grid_shape=(*grid, 1))
    other = Distribution(right, "bnb", grid_shape=(grid[0], 1, grid[1]))
    return (
        a[:, None]._broadcast_to(left).redistribute(one).local[:, 0],
        b[None]._broadcast_to(right).redistribute(other).local[0],
    )


def _add_product(total: Any, multiply: Callable[..., Any], panels: tuple[Any, Any]) -> Any:
    product = call_from_user_frame(multiply, *panels)
    if total is None:
        return product
    add = numpy.logical_or if total.dtype == bool else numpy.add
    return add(total, product, out=total)


def _inner_split(a: Any, b: Any, kind: Any, multiply: Callable[..., Any]) -> Any:
    own = a.redistribute("nb").local, b.redistribute("bn").local
    product = collective_errstate(lambda: call_from_user_frame(multiply, *own))
    ranks = core.ranks()
    pieces = Distribution((ranks, *product.shape), "bnn", nprocs=ranks)
    parts = core.from_piece(pieces, product[None], True)
    return core.reduce(parts, "logical_or" if kind.kind == "b" else "add", 0, kind)
