"""einsum of arrays in pieces: diagonals, sums, and a matrix product of two, and two again."""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

import numpy

from dappled._array import core, few, into, is_native, ndarray, ufuncs, wrapped
from dappled._fallback import shadow
from dappled._line import called_by_user
from dappled._matmul import matmul
from dappled._native import native
from dappled._order import by_stride, laid, lying_as
from dappled._piecewise import in_pieces
from dappled._products import ours

_parse: Any = import_module("numpy._core.einsumfunc")._parse_einsum_input


@native(numpy.einsum)
def einsum(*operands: Any, out: Any = None, optimize: Any = False, **kwargs: Any) -> Any:
    order = kwargs.pop("order", "K")
    if not kwargs.keys() <= {"casting", "dtype"} or len(operands) < 2 or order not in _ORDERS:
        return NotImplemented
    by_lists = type(operands[0]) is not str
    given = operands[: len(operands) // 2 * 2 : 2] if by_lists else operands[1:]
    arrays = list(given) if _is_seen(given) else ours(*given)
    if arrays is None:
        return NotImplemented
    try:
        subscripts, result, _ = _parse(shadow(operands))
    except (IndexError, TypeError, ValueError):
        numpy.einsum(*shadow(operands), optimize=optimize)  # which has other words for it
        return NotImplemented
    labels = subscripts.split(",")
    if set(result) != set(subscripts) and not any(map(in_pieces, arrays)):
        return NotImplemented  # no view: what is summed
    if len(labels) != len(arrays) or any(map(_is_short, arrays, labels)):
        numpy.einsum(*shadow(operands))  # which NumPy refuses
        return NotImplemented
    if not by_lists and "..." in operands[0].partition("->")[0]:
        # NumPy refuses a result without the axes of an ellipsis, and its parser does not.
        numpy.einsum(operands[0], *(few(array, 1) for array in arrays))
    sizes: dict[str, int] = {}
    written, seen_in = f"{subscripts}->{result}", arrays
    for label, size in (pair for one in zip(labels, arrays, strict=True) for pair in _pairs(*one)):
        sizes[label] = size if sizes.get(label, 1) == 1 else sizes[label]
    seen = [_unrepeated(one, names, sizes) for names, one in zip(labels, arrays, strict=True)]
    if None in seen:
        return NotImplemented  # lengths that do not fit
    arrays, labels = map(list, zip(*filter(None, seen), strict=True))
    if kwargs or out is not None:
        seen_as = f"{','.join(labels)}->{result}"
        asked = called_by_user(_asked, seen_as, arrays, out, optimize, kwargs)
        if not is_native(asked):
            return NotImplemented
        arrays = [array.astype(asked, copy=False) for array in arrays]
    with numpy.errstate(all="ignore"):  # NumPy's looks at no signals
        if len(arrays) == 1:
            made = _of_one(arrays[0], labels[0], result)
        else:
            made = _of_many(arrays, labels, result, sizes)
        is_view = len(seen_in) == 1 and set(result) == set(subscripts)
        if out is not None or is_view or not isinstance(made, ndarray):
            return into(made, out, casts=True)
        return laid(made, _axes(written, seen_in, order, optimize))


# Where a result may lie: as it comes, or as is asked for.
_ORDERS = ("K", "C", "F", "A")


def _axes(subscripts: str, arrays: list[Any], order: Any, optimize: Any) -> list[int]:
    """The axes of a result as they lie in memory: NumPy finds them for few elements that lie as
    these do.
    """
    if optimize:  # two at a time, as their lengths say
        optimize, _ = numpy.einsum_path(subscripts, *shadow(arrays), optimize=optimize)
    few = map(lying_as, arrays)
    return by_stride(numpy.einsum(subscripts, *few, order=order, optimize=optimize))


def _asked(
    subscripts: str, arrays: list[Any], out: Any, optimize: Any, options: dict[str, Any]
) -> Any:
    """The dtype in which NumPy computes, if it does not refuse."""
    length = 2 if optimize else 1  # which has ways of its own
    written = few(out, length) if isinstance(out, ndarray) else None
    operands = (few(array, length) for array in arrays)
    numpy.einsum(subscripts, *operands, out=written, optimize=optimize, **options)
    if options.get("dtype") is not None:
        return numpy.dtype(options["dtype"])
    kinds = [array.dtype for array in arrays]
    return numpy.result_type(*kinds, *([] if written is None or optimize else [written.dtype]))


def _is_seen(given: Any) -> bool:
    """Whether a result may be a view of one whole array: of several ranks' NumPy's is a copy."""
    one = core.ranks() > 1 and len(given) == 1 and isinstance(given[0], ndarray)
    return one and is_native(given[0].dtype)


def _of_many(arrays: list[Any], labels: list[str], result: str, sizes: dict[str, int]) -> Any:
    """Two at a time, in the order that NumPy finds best."""
    if len(arrays) > 2:
        kind = numpy.result_type(*(array.dtype for array in arrays))
        arrays = [array.astype(kind, copy=False) for array in arrays]
    for one, other in _path(arrays, labels, result):
        names = [labels.pop(max(one, other)), labels.pop(min(one, other))][::-1]
        pair = [arrays.pop(max(one, other)), arrays.pop(min(one, other))][::-1]
        needed = "".join((result, *labels))
        both = dict.fromkeys("".join(names))
        kept = "".join(label for label in both if label in needed) if labels else result
        made = _of_two(pair, names, kept, sizes)
        if made is NotImplemented or not labels:
            return made
        arrays.append(made if isinstance(made, ndarray) else wrapped(numpy.asarray(made)))
        labels.append(kept)


def _path(arrays: list[Any], labels: list[str], result: str) -> list[tuple[int, int]]:
    """Which two are next, each time, of those that are left and what was made, at their end."""
    if len(arrays) == 2:
        return [(0, 1)]
    subscripts = f"{','.join(labels)}->{result}"
    path, _ = numpy.einsum_path(subscripts, *shadow(tuple(arrays)), optimize="greedy")
    if all(len(pair) == 2 for pair in path[1:]):
        return path[1:]
    return [(0, 1)] + [(0, left) for left in range(len(arrays) - 2, 0, -1)]


def _is_short(array: Any, names: str) -> bool:
    return bool(array.ndim != len(names))


def _pairs(names: str, array: Any) -> list[tuple[str, int]]:
    """The labels of an array, with the lengths of its axes."""
    return list(zip(names, array.shape, strict=True))


def _unrepeated(array: Any, names: str, sizes: dict[str, int]) -> tuple[Any, str] | None:
    """An array without axes of length 1 that are longer in others; None if lengths do not fit."""
    wrong = [label for label, size in _pairs(names, array) if size != sizes[label]]
    if any(names.count(label) > 1 for label in wrong):
        return None
    if any(array.shape[names.index(label)] != 1 for label in wrong):
        return None
    key = tuple(0 if label in wrong else slice(None) for label in names)
    return array[(*key, ...)], "".join(label for label in names if label not in wrong)


def _without_repeats(array: Any, names: str) -> tuple[Any, str]:
    """Diagonals where a label stands twice: a view."""
    writeable = array._writeable
    for label in dict.fromkeys(names):
        while names.count(label) > 1:
            first = names.index(label)
            second = names.index(label, first + 1)
            array = array.diagonal(0, first, second)
            names = names[:first] + names[first + 1 : second] + names[second + 1 :] + label
    array._writeable = writeable
    return array, names


def _summed(array: Any, names: str, kept: str) -> tuple[Any, str]:
    """Summed along the axes that nobody asks for."""
    axes = tuple(axis for axis, label in enumerate(names) if label not in kept)
    if not axes:
        return array, names
    fold = "logical_or" if array.dtype == bool else "add"
    summed = core.reduce(array, fold, axes if len(axes) < array.ndim else None, array.dtype)
    return summed, "".join(label for label in names if label in kept)


def _of_one(array: Any, names: str, result: str) -> Any:
    seen, names = _without_repeats(array[...], names)
    found, names = _summed(seen, names, result)
    return found.transpose([names.index(label) for label in result]) if result else found[()]


def _of_two(arrays: list[Any], labels: list[str], result: str, sizes: dict[str, int]) -> Any:
    seen = [
        _without_repeats(array[...], names) for array, names in zip(arrays, labels, strict=True)
    ]
    (a, one), (b, other) = seen
    a, one = _summed(a, one, result + other)
    b, other = _summed(b, other, result + one)
    if not (isinstance(a, ndarray) and isinstance(b, ndarray)):
        made = ufuncs["multiply"](a, b)
        names = one + other
        return made.transpose([names.index(label) for label in result]) if result else made
    both = [label for label in one if label in other]
    batch = [label for label in both if label in result]
    inner = [label for label in both if label not in result]
    rows = [label for label in one if label not in other]
    columns = [label for label in other if label not in one]
    left = _grouped(a, one, (batch, rows, inner), sizes)
    right = _grouped(b, other, (batch, inner, columns), sizes)
    made = matmul(left, right) if inner else ufuncs["multiply"](left, right)
    if made is NotImplemented:
        return NotImplemented
    order = batch + rows + columns
    found = made.reshape([sizes[label] for label in order])
    return found.transpose([order.index(label) for label in result]) if result else found[()]


def _grouped(array: Any, names: str, groups: Any, sizes: dict[str, int]) -> Any:
    """Three axes, each of them all axes of a group."""
    order = [names.index(label) for group in groups for label in group]
    shape = [math.prod(sizes[label] for label in group) for group in groups]
    return array.transpose(order).reshape(shape)
