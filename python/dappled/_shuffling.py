"""Arrays in pieces in a random order: NumPy's, which every rank has; elements stay in pieces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from dappled import _rows
from dappled._array import core, is_native
from dappled._chunks import CHUNK
from dappled._creation import asarray
from dappled._crossing import Proxy
from dappled._fallback import dressed
from dappled._piecewise import in_pieces
from dappled._searching import searchsorted
from dappled._tables import PIECEWISE

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
        if function.__name__ == "choice" and in_pieces(kwargs.get("p")):
            found = _weighed(theirs, *given, **kwargs)
        if arrange is _permutation and given and _is_nothing(given[0]) and not kwargs:
            found = given[0].copy()  # NumPy would write where it may only read
        kept = arrange is _shuffle and given and not getattr(given[0], "_writeable", True)
        placed = arrange is not _choice
        ordered = given and not kept and _is_ordered(theirs, given, kwargs, placed)
        if found is NotImplemented and ordered:
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
    several = array.ndim > 1 and isinstance(generator, numpy.random.RandomState)
    return -array.ndim <= axis < array.ndim and not (several and "size" in options)


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
    return numpy.take(x, _order(generator, x.shape[axis]), axis=axis)


def _choice(generator: Any, a: Any, *args: Any, axis: int = 0, **kwargs: Any) -> Any:
    chosen = generator.choice(a.shape[axis], *args, **kwargs)
    return numpy.take(a, chosen, axis=axis)


def _permuted(generator: Any, x: Any, axis: Any = None, *, out: Any = None) -> Any:
    """Each line in an order of its own; all elements in one, if no axis is said."""
    if out is not None or not x.flags.c_contiguous:
        return NotImplemented
    if not x.size:
        return x.copy()
    if axis is None:
        return x.reshape(-1)[_order(generator, x.size)].reshape(x.shape)
    lines = numpy.moveaxis(x, axis, -1)
    rows = lines.reshape(-1, lines.shape[-1])
    made = numpy.take_along_axis(rows, _orders(generator, rows.shape), 1)
    return numpy.moveaxis(made.reshape(lines.shape), -1, axis).copy()


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


def _weighed(
    generator: Any, a: Any, size: Any = None, replace: Any = True, p: Any = None, axis: int = 0
) -> Any:
    """`choice` by weights in pieces: NumPy's steps over ours; NotImplemented where it refuses."""
    from dappled._drawing import of_random  # which needs this

    if not replace or p.ndim != 1 or not is_native(p.dtype) or p.dtype.kind == "c":
        return NotImplemented
    length = a if isinstance(a, int) else numpy.shape(a)[axis] if numpy.ndim(a) else None
    rounding = numpy.sqrt(numpy.finfo(p.dtype if p.dtype.kind == "f" else float).eps)
    if length != p.size or not (p >= 0).all() or not abs(p.sum() - 1) <= rounding:
        return NotImplemented
    below = p.astype(float).cumsum()
    below /= below[-1]
    new = isinstance(generator, numpy.random.Generator)
    draw = numpy.random.Generator.random if new else numpy.random.RandomState.random_sample
    chosen = searchsorted(below, of_random(draw, "dappled.random")(generator, size), "right")
    chosen = int(chosen) if size is None else chosen
    return chosen if isinstance(a, int) else numpy.take(asarray(a), chosen, axis=axis)


ORDERING: dict[str, Function] = {
    "choice": _choice,
    "permutation": _permutation,
    "permuted": _permuted,
    "shuffle": _shuffle,
}
