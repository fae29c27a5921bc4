"""`vectorize` with a signature: a function of the user's over rows, or whatever it asks for.

Rows that are short are brought together, and each rank calls the function for its own. Where they
are long, or the function looks at other arrays in pieces, all ranks call it for all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy

from dappled._agreeing import agreed
from dappled._array import core, is_moved, ndarray
from dappled._broadcasting import broadcast_to
from dappled._comm import local, together
from dappled._creation import asarray
from dappled._line import called_by_user
from dappled._piecewise import joined
from dappled._rebind import rebound
from dappled._side_effects import watched
from dappled.protocol import Distribution

Function = Callable[..., Any]


class _Rows(NamedTuple):
    """Arrays as rows of any number of axes, in blocks of whole rows."""

    arrays: list[Any]
    shape: tuple[int, ...]  # how many of them there are
    grid: tuple[int, ...]

    def blocks(self, axes: tuple[int, ...]) -> Any:
        """Where rows with these axes lie."""
        kinds = "b" * len(self.shape) + "n" * len(axes)
        grid = (*self.grid, *(1 for _ in axes))
        return Distribution((*self.shape, *axes), kinds, grid_shape=grid)


def over_rows(vectorized: Any, function: Function, args: Sequence[Any], alone: bool) -> Any:
    """A function for all rows; `alone` says that it looks at nothing else that is in pieces."""
    together("vectorize")
    arrays = list(map(asarray, args))
    rows = _taken_apart(arrays, vectorized._in_and_out_core_dims[0]) if alone else None
    found = NotImplemented if rows is None else _on_pieces(vectorized, function, rows)
    if found is NotImplemented:
        found = called_by_user(_by_steps, vectorized, function, arrays)
    return found


_by_steps = rebound(numpy.vectorize._vectorize_call_with_signature)  # type: ignore[attr-defined]


def _taken_apart(arrays: list[Any], dims: Sequence[Any]) -> _Rows | None:
    """Arrays with as many axes as are asked for, and rows so short that each is whole where it is
    looked at; None for others.
    """
    fits = len(arrays) == len(dims)
    if not fits or any(one.ndim < len(names) for one, names in zip(arrays, dims, strict=True)):
        return None
    loops = [one.ndim - len(names) for one, names in zip(arrays, dims, strict=True)]
    try:
        shape = numpy.broadcast_shapes(*(a.shape[:n] for a, n in zip(arrays, loops, strict=True)))
    except ValueError:  # NumPy has words for it
        return None
    inner = [one.shape[count:] for one, count in zip(arrays, loops, strict=True)]
    if not shape or 0 in shape or not all(map(_is_short, arrays, inner)):
        return None
    repeated = [broadcast_to(one, shape + row) for one, row in zip(arrays, inner, strict=True)]
    return _Rows(repeated, shape, tuple(core.placed("b" * len(shape), shape).grid_shape))


def _is_short(array: Any, row: tuple[int, ...]) -> bool:
    return is_moved(array.dtype) and (not row or core.blocks(row, array.itemsize) is None)


def _on_pieces(vectorized: Any, function: Function, rows: _Rows) -> Any:
    """Each rank's rows by themselves; NotImplemented if the function needs all ranks."""
    check = watched(vectorized.pyfunc, "vectorize")
    first = [array[(0,) * len(rows.shape)] for array in rows.arrays]
    like = _outputs(vectorized, lambda: function(*map(_copied, first)), rows)
    check()
    if not all(is_moved(one.dtype) for one in like):
        return NotImplemented
    count = len(rows.shape)
    parts = [one.redistribute(rows.blocks(one.shape[count:])).local for one in rows.arrays]
    laid = [rows.blocks(one.shape) for one in like]
    made = [
        numpy.empty(blocks.local_shape(core.rank()), one.dtype)
        for blocks, one in zip(laid, like, strict=True)
    ]
    try:
        agreed(lambda: _fill(function, parts, made, count, check))
    except RuntimeError as error:
        if "inside dappled.local()" in str(error):
            return NotImplemented
        raise
    results = tuple(map(joined, laid, made))
    return results[0] if len(results) == 1 else results


def _outputs(vectorized: Any, first: Callable[[], Any], rows: _Rows) -> list[Any]:
    """What there is for the first row, by NumPy: dtypes, lengths and errors are its own."""
    count = len(rows.shape)
    shadows = [numpy.zeros((1,) * count + one.shape[count:], one.dtype) for one in rows.arrays]
    kinds, signature = vectorized.otypes, vectorized.signature
    once = numpy.vectorize(lambda *_: _unwrapped(first()), otypes=kinds, signature=signature)
    found = called_by_user(once, *shadows)
    outputs = found if isinstance(found, tuple) else (found,)
    return [one[(*[0] * count, ...)] for one in outputs]


def _fill(
    function: Function, parts: list[Any], made: list[Any], count: int, check: Callable[[], None]
) -> None:
    """Calls the function for the rows of this rank."""
    with local():
        for index in numpy.ndindex(*made[0].shape[:count]):
            found = _unwrapped(function(*(_wrapped(part[index]) for part in parts)))
            results = found if isinstance(found, tuple) else (found,)
            if len(results) != len(made):
                text = "wrong number of outputs from pyfunc: expected {!r}, got {!r}"
                raise ValueError(text.format(len(made), len(results)))
            for output, result in zip(made, results, strict=True):
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
