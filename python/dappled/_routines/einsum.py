"""einsum of distributed arrays: diagonals, sums, and pairwise matrix products."""

from __future__ import annotations

import math
from typing import Any

import numpy

from dappled._compat.numpy_private import parse_einsum_input
from dappled._dispatch.callsite import call_from_user_frame
from dappled._dispatch.implements import implements
from dappled._dispatch.meta import as_meta, small_meta
from dappled._ndarray.core import core, from_numpy, is_native, ndarray, ufuncs, write_into
from dappled._ndarray.memory_order import axes_by_stride, sample_in_memory_order, with_memory_order
from dappled._ranks.map_blocks import is_distributed
from dappled._routines.products import as_distributed_arrays, matmul


@implements(numpy.einsum)
def einsum(*operands: Any, out: Any = None, optimize: Any = False, **kwargs: Any) -> Any:
    order = kwargs.pop("order", "K")
    if (
        not kwargs.keys() <= {"casting", "dtype"}
        or len(operands) < 2
        or order not in _RESULT_ORDERS
    ):
        return NotImplemented
    by_lists = type(operands[0]) is not str
    given = operands[: len(operands) // 2 * 2 : 2] if by_lists else operands[1:]
    arrays = list(given) if _may_be_view(given) else as_distributed_arrays(*given)
    if arrays is None:
        return NotImplemented
    try:
        subscripts, result, _ = parse_einsum_input(as_meta(operands))
    except (IndexError, TypeError, ValueError):
        numpy.einsum(*as_meta(operands), optimize=optimize)  # NumPy's own error message
        return NotImplemented
    labels = subscripts.split(",")
    if set(result) != set(subscripts) and not any(map(is_distributed, arrays)):
        return NotImplemented  # a sum is not a view
    if len(labels) != len(arrays) or any(map(_has_wrong_ndim, arrays, labels)):
        numpy.einsum(*as_meta(operands))  # NumPy's error
        return NotImplemented
    if not by_lists and "..." in operands[0].partition("->")[0]:
        # NumPy raises for a result without the axes of an ellipsis; its parser does not.
        numpy.einsum(operands[0], *(small_meta(array, 1) for array in arrays))
    sizes: dict[str, int] = {}
    written, seen_in = f"{subscripts}->{result}", arrays
    for label, size in (
        pair for one in zip(labels, arrays, strict=True) for pair in _labelled_lengths(*one)
    ):
        sizes[label] = size if sizes.get(label, 1) == 1 else sizes[label]
    seen = [
        _without_broadcast_axes(one, names, sizes)
        for names, one in zip(labels, arrays, strict=True)
    ]
    if None in seen:
        return NotImplemented  # lengths that do not match
    arrays, labels = map(list, zip(*filter(None, seen), strict=True))
    if kwargs or out is not None:
        seen_as = f"{','.join(labels)}->{result}"
        asked = call_from_user_frame(_computation_dtype, seen_as, arrays, out, optimize, kwargs)
        if not is_native(asked):
            return NotImplemented
        arrays = [array.astype(asked, copy=False) for array in arrays]
    with numpy.errstate(all="ignore"):  # NumPy ignores floating-point errors here
        if len(arrays) == 1:
            output = _contract_one(arrays[0], labels[0], result)
        else:
            output = _contract_pairwise(arrays, labels, result, sizes)
        is_view = len(seen_in) == 1 and set(result) == set(subscripts)
        if out is not None or is_view or not isinstance(output, ndarray):
            return write_into(output, out, casts=True)
        return with_memory_order(output, _result_axes(written, seen_in, order, optimize))


# Memory orders of the result.
_RESULT_ORDERS = ("K", "C", "F", "A")


def _result_axes(subscripts: str, arrays: list[Any], order: Any, optimize: Any) -> list[int]:
    """The memory order of the result, which NumPy determines on small samples."""
    if optimize:  # pairwise, by the actual lengths
        optimize, _ = numpy.einsum_path(subscripts, *as_meta(arrays), optimize=optimize)
    sample = map(sample_in_memory_order, arrays)
    return axes_by_stride(numpy.einsum(subscripts, *sample, order=order, optimize=optimize))


def _computation_dtype(
    subscripts: str, arrays: list[Any], out: Any, optimize: Any, options: dict[str, Any]
) -> Any:
    """The dtype in which NumPy computes, unless it raises."""
    length = 2 if optimize else 1  # optimised paths have checks of their own
    written = small_meta(out, length) if isinstance(out, ndarray) else None
    operands = (small_meta(array, length) for array in arrays)
    numpy.einsum(subscripts, *operands, out=written, optimize=optimize, **options)
    if options.get("dtype") is not None:
        return numpy.dtype(options["dtype"])
    kinds = [array.dtype for array in arrays]
    return numpy.result_type(*kinds, *([] if written is None or optimize else [written.dtype]))


def _may_be_view(given: Any) -> bool:
    """Whether the result may be a view of a replicated array."""
    one = core.ranks() > 1 and len(given) == 1 and isinstance(given[0], ndarray)
    return one and is_native(given[0].dtype)


def _contract_pairwise(
    arrays: list[Any], labels: list[str], result: str, sizes: dict[str, int]
) -> Any:
    """Contracts two operands at a time, in the order of `numpy.einsum_path`."""
    if len(arrays) > 2:
        kind = numpy.result_type(*(array.dtype for array in arrays))
        arrays = [array.astype(kind, copy=False) for array in arrays]
    for one, other in _contraction_path(arrays, labels, result):
        names = [labels.pop(max(one, other)), labels.pop(min(one, other))][::-1]
        pair = [arrays.pop(max(one, other)), arrays.pop(min(one, other))][::-1]
        needed = "".join((result, *labels))
        both = dict.fromkeys("".join(names))
        kept = "".join(label for label in both if label in needed) if labels else result
        output = _contract_two(pair, names, kept, sizes)
        if output is NotImplemented or not labels:
            return output
        arrays.append(output if isinstance(output, ndarray) else from_numpy(numpy.asarray(output)))
        labels.append(kept)


def _contraction_path(arrays: list[Any], labels: list[str], result: str) -> list[tuple[int, int]]:
    """The pairs to contract, by positions among the remaining operands."""
    if len(arrays) == 2:
        return [(0, 1)]
    subscripts = f"{','.join(labels)}->{result}"
    path, _ = numpy.einsum_path(subscripts, *as_meta(tuple(arrays)), optimize="greedy")
    if all(len(pair) == 2 for pair in path[1:]):
        return path[1:]
    return [(0, 1)] + [(0, left) for left in range(len(arrays) - 2, 0, -1)]


def _has_wrong_ndim(array: Any, names: str) -> bool:
    return bool(array.ndim != len(names))


def _labelled_lengths(names: str, array: Any) -> list[tuple[str, int]]:
    """The labels of an array with the lengths of its axes."""
    return list(zip(names, array.shape, strict=True))


def _without_broadcast_axes(
    array: Any, names: str, sizes: dict[str, int]
) -> tuple[Any, str] | None:
    """An array without its broadcast axes; None if lengths do not match."""
    wrong = [label for label, size in _labelled_lengths(names, array) if size != sizes[label]]
    if any(names.count(label) > 1 for label in wrong):
        return None
    if any(array.shape[names.index(label)] != 1 for label in wrong):
        return None
    key = tuple(0 if label in wrong else slice(None) for label in names)
    return array[(*key, ...)], "".join(label for label in names if label not in wrong)


def _diagonal_view(array: Any, names: str) -> tuple[Any, str]:
    """Diagonal views for repeated labels."""
    writeable = array._writeable
    for label in dict.fromkeys(names):
        while names.count(label) > 1:
            first = names.index(label)
            second = names.index(label, first + 1)
            array = array.diagonal(0, first, second)
            names = names[:first] + names[first + 1 : second] + names[second + 1 :] + label
    array._writeable = writeable
    return array, names


def _sum_labels(array: Any, names: str, kept: str) -> tuple[Any, str]:
    """Sums over labels that are not needed."""
    axes = tuple(axis for axis, label in enumerate(names) if label not in kept)
    if not axes:
        return array, names
    fold = "logical_or" if array.dtype == bool else "add"
    summed = core.reduce(array, fold, axes if len(axes) < array.ndim else None, array.dtype)
    return summed, "".join(label for label in names if label in kept)


def _contract_one(array: Any, names: str, result: str) -> Any:
    seen, names = _diagonal_view(array[...], names)
    selected, names = _sum_labels(seen, names, result)
    return selected.transpose([names.index(label) for label in result]) if result else selected[()]


def _contract_two(arrays: list[Any], labels: list[str], result: str, sizes: dict[str, int]) -> Any:
    seen = [_diagonal_view(array[...], names) for array, names in zip(arrays, labels, strict=True)]
    (a, one), (b, other) = seen
    a, one = _sum_labels(a, one, result + other)
    b, other = _sum_labels(b, other, result + one)
    if not (isinstance(a, ndarray) and isinstance(b, ndarray)):
        output = ufuncs["multiply"](a, b)
        names = one + other
        return output.transpose([names.index(label) for label in result]) if result else output
    both = [label for label in one if label in other]
    batch = [label for label in both if label in result]
    inner = [label for label in both if label not in result]
    rows = [label for label in one if label not in other]
    columns = [label for label in other if label not in one]
    left = _as_matrix_stack(a, one, (batch, rows, inner), sizes)
    right = _as_matrix_stack(b, other, (batch, inner, columns), sizes)
    output = matmul(left, right) if inner else ufuncs["multiply"](left, right)
    if output is NotImplemented:
        return NotImplemented
    order = batch + rows + columns
    selected = output.reshape([sizes[label] for label in order])
    return selected.transpose([order.index(label) for label in result]) if result else selected[()]


def _as_matrix_stack(array: Any, names: str, groups: Any, sizes: dict[str, int]) -> Any:
    """A stack of matrices: three axes, each of a group of labels."""
    order = [names.index(label) for group in groups for label in group]
    shape = [math.prod(sizes[label] for label in group) for group in groups]
    return array.transpose(order).reshape(shape)
