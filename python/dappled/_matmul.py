"""Matrix products of arrays in pieces: no rank ever has the whole of an operand.

The result is cut in blocks over a grid of ranks. The common axis is cut in panels; for each panel a
rank gets the rows of the first matrix and the columns of the second that its block needs, wherever
they lie, multiplies them with NumPy, and adds (SUMMA: van de Geijn and Watts, 1997). Where the
result is much smaller than the operands, each rank multiplies its part of the common axis instead,
and the products are summed. Which of them, and which grid, follows from what would have to move.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy

from dappled._agreeing import signalling
from dappled._array import core, empty, ndarray, wrapped
from dappled._line import called_by_user
from dappled._piecewise import in_pieces
from dappled.protocol import Distribution

_KINDS = "biufc"
# Bytes of both panels together: they stay small beside the pieces, and large enough for BLAS.
_PANEL = 1 << 25


def matmul(a: Any, b: Any, multiply: Callable[..., Any] = numpy.matmul) -> Any:
    """`a @ b` with at least one of them in pieces; NotImplemented where NumPy is to be asked.

    `multiply` is the function of NumPy's that multiplies matrices, and warns in its own name.
    """
    if not any(map(in_pieces, (a, b))) or not all(map(_is_native, (a, b))):
        return NotImplemented
    if not (a.ndim and b.ndim):
        return _refused(a, b)
    one, other = (x if isinstance(x, ndarray) else wrapped(x) for x in (a, b))
    left = one[None] if one.ndim == 1 else one
    right = other[:, None] if other.ndim == 1 else other
    try:
        batch = numpy.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    except ValueError:
        return _refused(a, b)
    if left.shape[-1] != right.shape[-2]:
        return _refused(a, b)
    made = _stacked(left, right, batch, multiply)
    dropped = [axis for axis, vector in ((-2, a.ndim == 1), (-1, b.ndim == 1)) if vector]
    kept = tuple(0 if axis - made.ndim in dropped else slice(None) for axis in range(made.ndim))
    return made[kept].copy() if len(dropped) == 1 else made[kept]


def _is_native(value: Any) -> bool:
    arrays = (isinstance(value, ndarray) and value._held is None) or type(value) is numpy.ndarray
    return (
        arrays
        and value.dtype.kind in _KINDS
        and value.dtype.isnative
        and value.dtype.char not in "gG"
    )


def _refused(a: Any, b: Any) -> Any:
    """NumPy's error: its words need no values."""
    like = (numpy.broadcast_to(numpy.zeros((), x.dtype), x.shape) for x in (a, b))
    numpy.matmul(*like)
    return NotImplemented


def _stacked(a: Any, b: Any, batch: tuple[int, ...], multiply: Callable[..., Any]) -> Any:
    """Products of matrices in a stack: whole ones on each rank, if there are enough."""
    shape = (*batch, a.shape[-2], b.shape[-1])
    kind = numpy.result_type(a.dtype, b.dtype)
    if not math.prod(shape) or not a.shape[-1]:
        return core.full(shape, 0, kind, "C")
    if not batch:
        return _product(a, b, kind, multiply)
    left = a._broadcast_to((*batch, *a.shape[-2:]))
    right = b._broadcast_to((*batch, *b.shape[-2:]))
    if math.prod(batch) >= core.ranks():
        return _each(left, right, shape)
    made = empty(shape, kind)
    for at in itertools.product(*map(range, batch)):
        made[at] = _product(left[at], right[at], kind, multiply)
    return made


def _each(a: Any, b: Any, shape: tuple[int, ...]) -> Any:
    kinds = "b" * (len(shape) - 2) + "nn"
    left, right = a.redistribute(kinds).local, b.redistribute(kinds).local
    made = signalling(lambda: called_by_user(numpy.matmul, left, right))
    return core.from_piece(core.placed(kinds, shape), made, True)


def _product(a: Any, b: Any, kind: Any, multiply: Callable[..., Any]) -> Any:
    """Two matrices, in the way that moves least."""
    sizes = (a.shape[0], a.shape[1], b.shape[1])
    grids = _grid(a), _grid(b)
    ranks = core.ranks()
    grid = min(_grids(sizes, ranks), key=lambda grid: _moved(sizes, grid, grids))
    rows, inner, columns = sizes
    is_small = rows * columns * ranks <= (rows + columns) * inner
    if is_small and _moved_inside(sizes, ranks, grids) < _moved(sizes, grid, grids):
        return _by_inner(a, b, kind, multiply)
    return _by_panels(a, b, grid, multiply)


def _grid(a: Any) -> tuple[int, ...] | None:
    """The grid on which a matrix lies, where that is known."""
    for matrix, step in ((a, 1), (a.T, -1)):
        try:
            found = matrix.distribution
        except ValueError:  # a part of an array
            continue
        return None if found.is_whole else found.grid_shape[::step]
    return None


def _grids(sizes: tuple[int, int, int], ranks: int) -> Iterator[tuple[int, int]]:
    """Grids for the result; the one that it would have first."""
    yield core.placed("bb", (sizes[0], sizes[2])).grid_shape
    yield from ((rows, ranks // rows) for rows in range(ranks, 0, -1) if ranks % rows == 0)


def _moved(sizes: tuple[int, int, int], grid: tuple[int, int], grids: Any) -> float:
    """Elements that a rank receives for its block of the result."""
    (rows, inner, columns), (one, other) = sizes, grids
    left = 1 - 1 / one[1] if one and one[0] == grid[0] else 1
    right = 1 - 1 / other[0] if other and other[1] == grid[1] else 1
    return inner * (left * rows / grid[0] + right * columns / grid[1])


def _moved_inside(sizes: tuple[int, int, int], ranks: int, grids: Any) -> float:
    """The same where the ranks share the common axis."""
    (rows, inner, columns), (one, other) = sizes, grids
    left = rows if one != (1, ranks) else 0
    right = columns if other != (ranks, 1) else 0
    return inner * (left + right) / ranks + rows * columns


def _by_panels(a: Any, b: Any, grid: tuple[int, int], multiply: Callable[..., Any]) -> Any:
    (rows, inner), columns = a.shape, b.shape[1]
    made = Distribution((rows, columns), "bb", grid_shape=grid)
    itemsize = max(a.itemsize, b.itemsize)
    width = _PANEL // itemsize // (-(-rows // grid[0]) + -(-columns // grid[1]))
    total: Any = None
    for start in range(0, inner, width := max(64, width)):
        panel = slice(start, min(start + width, inner))
        panels = _panels(a[:, panel], b[panel], grid)
        total = signalling(partial(_added, total, multiply, panels))
    return core.from_piece(made, numpy.ascontiguousarray(total), True)


def _panels(a: Any, b: Any, grid: tuple[int, int]) -> tuple[Any, Any]:
    """This rank's rows of one and columns of the other: repeated along an axis of the grid."""
    (rows, width), columns = a.shape, b.shape[1]
    left, right = (rows, grid[1], width), (grid[0], width, columns)
    one = Distribution(left, "bbn", grid_shape=(*grid, 1))
    other = Distribution(right, "bnb", grid_shape=(grid[0], 1, grid[1]))
    return (
        a[:, None]._broadcast_to(left).redistribute(one).local[:, 0],
        b[None]._broadcast_to(right).redistribute(other).local[0],
    )


def _added(total: Any, multiply: Callable[..., Any], panels: tuple[Any, Any]) -> Any:
    product = called_by_user(multiply, *panels)
    if total is None:
        return product
    add = numpy.logical_or if total.dtype == bool else numpy.add
    return add(total, product, out=total)


def _by_inner(a: Any, b: Any, kind: Any, multiply: Callable[..., Any]) -> Any:
    own = a.redistribute("nb").local, b.redistribute("bn").local
    product = signalling(lambda: called_by_user(multiply, *own))
    ranks = core.ranks()
    pieces = Distribution((ranks, *product.shape), "bnn", nprocs=ranks)
    parts = core.from_piece(pieces, product[None], True)
    return core.reduce(parts, "logical_or" if kind.kind == "b" else "add", 0, kind)
