"""Arrays in pieces in a random order: NumPy's, which every rank has; elements stay in pieces."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy

from dappled import _rows
from dappled._array import core, ndarray
from dappled._chunks import CHUNK
from dappled._crossing import Proxy
from dappled._fallback import dressed
from dappled._order import flags_of, strides_of
from dappled._piecewise import in_pieces
from dappled._states import State
from dappled._tables import PIECEWISE
from dappled._weighing import weighed

Function = Callable[..., Any]


def ordering(function: Function, otherwise: Function, module: str) -> Function:
    """Our `choice`, `permutation` or `shuffle`, of a generator or of the module."""
    arrange = ORDERING[function.__name__]
    bound = getattr(function, "__self__", None)
    is_method = not isinstance(bound, numpy.random.RandomState)

    def call(*args: Any, **kwargs: Any) -> Any:
        first, *given = args if is_method else (bound, *args)
        theirs = first._numpy if isinstance(first, Proxy) else first
        found = NotImplemented
        weights = kwargs.get("p", given[3] if len(given) > 3 else None)
        if function.__name__ == "choice" and in_pieces(weights):
            found = weighed(theirs, *given, **kwargs)
        plain = kwargs in ({}, {"axis": 0}, {"axis": -1})
        if arrange is _permutation and given and _is_nothing(given[0]) and plain:
            found = given[0].copy()  # NumPy would write where it may only read
        kept = arrange is _shuffle and given and not getattr(given[0], "_writeable", True)
        placed = arrange is not _choice
        ordered = given and not kept and _is_ordered(theirs, given, kwargs, placed)
        if found is NotImplemented and ordered:
            core.note(f"random numbers ({function.__name__})", State(theirs).fingerprint())
            found = arrange(theirs, *given, **kwargs)
        return otherwise(*args, **kwargs) if found is NotImplemented else found

    return dressed(call, function, module, PIECEWISE)


def _is_ordered(
    generator: Any, given: list[Any], options: dict[str, Any], placed: bool = True
) -> bool:
    """Whether an array in pieces has an axis that can be ordered; NumPy says what is wrong else.
    The axis may be `placed` behind the array.
    """
    array, axis = given[0], options.get("axis", given[1] if placed and len(given) > 1 else 0)
    axis = 0 if axis is None else axis
    if not in_pieces(array) or len(given) > 3 or not isinstance(axis, int):
        return False
    # The old generator chooses from one row alone.
    of_row = not placed and isinstance(generator, numpy.random.RandomState)
    return -array.ndim <= axis < array.ndim and (array.ndim == 1 or not of_row)


def _is_nothing(array: Any) -> bool:
    return isinstance(array, core.ndarray) and array.shape == (0,)


def _order(generator: Any, length: int) -> Any:
    order = numpy.arange(length)
    generator.shuffle(order)
    return order


def _shuffle(generator: Any, x: Any, axis: int = 0) -> None:
    if x.size:  # else nothing is drawn
        x[...] = numpy.take(x, _order(generator, x.shape[axis]), axis=axis)


def _permutation(generator: Any, x: Any, axis: int = 0) -> Any:
    order = _order(generator, x.shape[axis])
    return x[(slice(None),) * range(x.ndim)[axis] + (order,)]  # a key, as NumPy has it in memory


def _choice(generator: Any, a: Any, *args: Any, axis: int = 0, **kwargs: Any) -> Any:
    chosen = generator.choice(a.shape[axis], *args, **kwargs)
    return numpy.take(a, chosen, axis=axis)


def _permuted(generator: Any, x: Any, axis: Any = None, *, out: Any = None) -> Any:
    """Each line in an order of its own; all elements in one, if no axis is said."""
    if axis is None and out is None and _is_in_columns(x):  # NumPy's order is that of memory
        made = _permuted(generator, x.T.copy())
        return made if made is NotImplemented else made.T
    if not flags_of(x if out is None else out).c_contiguous or not _is_held(x, out):
        return NotImplemented
    if not x.size:
        return x.copy()
    if axis is None:
        made = x.reshape(-1)[_order(generator, x.size)].reshape(x.shape)
    else:
        lines = numpy.moveaxis(x, axis, -1)
        rows = lines.reshape(-1, lines.shape[-1])
        taken = numpy.take_along_axis(rows, _orders(generator, rows.shape), 1)
        made = numpy.moveaxis(taken.reshape(lines.shape), -1, axis)
    if out is None:
        return made if axis is None else made.copy()
    out[...] = made
    return out


def _is_in_columns(x: Any) -> bool:
    """Whether a copy in the order of an array's memory is in Fortran's, and not in C's."""
    steps = [abs(step) for step, length in zip(strides_of(x), x.shape, strict=True) if length > 1]
    return x.size > 1 and len(steps) > 1 and all(map(operator.lt, steps, steps[1:]))


def _is_held(x: Any, out: Any) -> bool:
    """Whether an array may be written with the elements of another, as NumPy has it here."""
    if out is None:
        return True
    known = isinstance(out, ndarray) and out._writeable and out.shape == x.shape
    return known and numpy.can_cast(x.dtype, out.dtype, "safe")


def _orders(generator: Any, shape: tuple[int, int]) -> Any:
    """An order for each line, of which each rank keeps its own lines'."""
    count, length = shape
    first, stop = _rows.own_start(count), _rows.starts(count)[core.rank() + 1]
    own = numpy.empty((stop - first, length), numpy.intp)
    step = max(1, CHUNK // max(length, 1))
    for start in range(0, count, step):
        some = numpy.tile(numpy.arange(length), (min(step, count - start), 1))
        orders = generator.permuted(some, axis=1)
        low, high = max(start, first), min(start + len(some), stop)
        if low < high:
            own[low - first : high - first] = orders[low - start : high - start]
    return _rows.from_rows(own, count)


ORDERING: dict[str, Function] = {
    "choice": _choice,
    "permutation": _permutation,
    "permuted": _permuted,
    "shuffle": _shuffle,
}
