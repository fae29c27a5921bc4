"""permutation, shuffle, permuted and choice of distributed arrays.

Every rank has NumPy's order; elements stay distributed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy

from dappled._dispatch.convert import Proxy
from dappled._dispatch.fallback import with_numpy_metadata
from dappled._dispatch.numpy_facts import PIECEWISE
from dappled._ndarray.core import core, ndarray
from dappled._ndarray.memory_order import flags_of, strides_of
from dappled._ranks.map_blocks import is_distributed
from dappled._routines._distributed import row_blocks
from dappled._routines._distributed.chunks import CHUNK_ELEMENTS
from dappled.random._state import GeneratorState
from dappled.random._weighted_choice import weighted_choice

Function = Callable[..., Any]


def with_distributed_order(function: Function, otherwise: Function, module: str) -> Function:
    """Our `choice`, `permutation`, `permuted` or `shuffle`, of a generator or of the module."""
    arrange = ORDER_FUNCTIONS[function.__name__]
    bound = getattr(function, "__self__", None)
    is_method = not isinstance(bound, numpy.random.RandomState)

    def call(*args: Any, **kwargs: Any) -> Any:
        first, *given = args if is_method else (bound, *args)
        theirs = first._numpy if isinstance(first, Proxy) else first
        result = NotImplemented
        weights = kwargs.get("p", given[3] if len(given) > 3 else None)
        if function.__name__ == "choice" and is_distributed(weights):
            result = weighted_choice(theirs, *given, **kwargs)
        plain = kwargs in ({}, {"axis": 0}, {"axis": -1})
        if arrange is _permutation and given and _is_empty_row(given[0]) and plain:
            result = given[0].copy()  # NumPy would write to a read-only array
        kept = arrange is _shuffle and given and not getattr(given[0], "_writeable", True)
        placed = arrange is not _choice
        ordered = given and not kept and _has_order_axis(theirs, given, kwargs, placed)
        if result is NotImplemented and ordered:
            core.note(f"random numbers ({function.__name__})", GeneratorState(theirs).fingerprint())
            result = arrange(theirs, *given, **kwargs)
        return otherwise(*args, **kwargs) if result is NotImplemented else result

    return with_numpy_metadata(call, function, module, PIECEWISE)


def _has_order_axis(
    generator: Any, given: list[Any], options: dict[str, Any], placed: bool = True
) -> bool:
    """Whether a distributed array has the requested axis; NumPy raises otherwise.

    The axis may be a positional argument if `placed`.
    """
    array, axis = given[0], options.get("axis", given[1] if placed and len(given) > 1 else 0)
    axis = 0 if axis is None else axis
    if not is_distributed(array) or len(given) > 3 or not isinstance(axis, int):
        return False
    # The legacy generator chooses from one dimension only.
    of_row = not placed and isinstance(generator, numpy.random.RandomState)
    return -array.ndim <= axis < array.ndim and (array.ndim == 1 or not of_row)


def _is_empty_row(array: Any) -> bool:
    return isinstance(array, core.ndarray) and array.shape == (0,)


def _random_order(generator: Any, length: int) -> Any:
    order = numpy.arange(length)
    generator.shuffle(order)
    return order


def _shuffle(generator: Any, x: Any, axis: int = 0) -> None:
    if x.size:  # otherwise nothing is drawn
        x[...] = numpy.take(x, _random_order(generator, x.shape[axis]), axis=axis)


def _permutation(generator: Any, x: Any, axis: int = 0) -> Any:
    order = _random_order(generator, x.shape[axis])
    # Advanced indexing, for NumPy's memory order
    return x[(slice(None),) * range(x.ndim)[axis] + (order,)]


def _choice(generator: Any, a: Any, *args: Any, axis: int = 0, **kwargs: Any) -> Any:
    chosen = generator.choice(a.shape[axis], *args, **kwargs)
    return numpy.take(a, chosen, axis=axis)


def _permuted(generator: Any, x: Any, axis: Any = None, *, out: Any = None) -> Any:
    """Each line in an order of its own; all elements in one order without an axis."""
    if axis is None and out is None and _is_fortran_order(x):  # NumPy permutes in memory order
        result = _permuted(generator, x.T.copy())
        return result if result is NotImplemented else result.T
    if not flags_of(x if out is None else out).c_contiguous or not _is_valid_out(x, out):
        return NotImplemented
    if not x.size:
        return x.copy()
    if axis is None:
        result = x.reshape(-1)[_random_order(generator, x.size)].reshape(x.shape)
    else:
        lines = numpy.moveaxis(x, axis, -1)
        rows = lines.reshape(-1, lines.shape[-1])
        taken = numpy.take_along_axis(rows, _random_orders(generator, rows.shape), 1)
        result = numpy.moveaxis(taken.reshape(lines.shape), -1, axis)
    if out is None:
        return result if axis is None else result.copy()
    out[...] = result
    return out


def _is_fortran_order(x: Any) -> bool:
    """Whether a copy in memory order is in Fortran order, not in C order."""
    steps = [abs(step) for step, length in zip(strides_of(x), x.shape, strict=True) if length > 1]
    return x.size > 1 and len(steps) > 1 and all(map(operator.lt, steps, steps[1:]))


def _is_valid_out(x: Any, out: Any) -> bool:
    """Whether `out` may receive the elements of an array."""
    if out is None:
        return True
    known = isinstance(out, ndarray) and out._writeable and out.shape == x.shape
    return known and numpy.can_cast(x.dtype, out.dtype, "safe")


def _random_orders(generator: Any, shape: tuple[int, int]) -> Any:
    """An order for each line, of which each rank keeps its own lines."""
    count, length = shape
    first, stop = row_blocks.first_row(count), row_blocks.block_starts(count)[core.rank() + 1]
    own = numpy.empty((stop - first, length), numpy.intp)
    step = max(1, CHUNK_ELEMENTS // max(length, 1))
    for start in range(0, count, step):
        some = numpy.tile(numpy.arange(length), (min(step, count - start), 1))
        orders = generator.permuted(some, axis=1)
        low, high = max(start, first), min(start + len(some), stop)
        if low < high:
            own[low - first : high - first] = orders[low - start : high - start]
    return row_blocks.from_local_rows(own, count)


ORDER_FUNCTIONS: dict[str, Function] = {
    "choice": _choice,
    "permutation": _permutation,
    "permuted": _permuted,
    "shuffle": _shuffle,
}
