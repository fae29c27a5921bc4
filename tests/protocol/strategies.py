"""Hypothesis strategies: distributions of every kind, and basic keys."""

from dataclasses import replace
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.protocol.specs import AxisSpec, Spec

MOST_RANKS = 12
MOST_ELEMENTS = 150
HUGE = (2**62, -(2**62), 2**70, -(2**70))


@st.composite
def cuts(draw: st.DrawFn, size: int, parts: int) -> tuple[int, ...]:
    """Bounds of `parts` pieces of 0..size, empty ones included."""
    inner = draw(st.lists(st.integers(0, size), min_size=parts - 1, max_size=parts - 1))
    return (0, *sorted(inner), size)


@st.composite
def block_axes(draw: st.DrawFn, size: int, grid: int, padded: bool | None = None) -> AxisSpec:
    """Regular or irregular, often with padding, sometimes periodic."""
    bounds = draw(st.none() | cuts(size, grid))
    plain = AxisSpec("b", size, grid, bounds)
    if size < 2 or padded is False or not (padded or draw(st.booleans())):
        return plain
    periodic = draw(st.booleans())
    return AxisSpec("b", size, grid, bounds, draw(paddings(plain)), periodic)


def widths(most: int) -> st.SearchStrategy[int]:
    """A width up to `most`, seldom 0 where there is a choice."""
    some = st.integers(min(1, most), most)
    return some | some | st.just(most) | st.just(0)


@st.composite
def paddings(draw: st.DrawFn, axis: AxisSpec) -> int | tuple[int, ...]:
    """A width for all edges, or one for each, none wider than what lies beside it."""
    counts = [len(axis.owned(c)) for c in range(axis.grid)]
    least = min(count for count in counts if count)
    if draw(st.booleans()):
        return draw(widths(least // 2 if axis.grid == 1 else least))
    inner = [draw(widths(min(both))) for both in pairwise(counts)]
    left = draw(widths(counts[0]))
    right = draw(widths(counts[-1] - (left if axis.grid == 1 else 0)))
    return (left, *inner, right)


@st.composite
def cyclic_axes(draw: st.DrawFn, size: int, grid: int) -> AxisSpec:
    return AxisSpec("c", size, grid, block_size=draw(st.integers(1, max(1, size + 1))))


@st.composite
def exact_axes(draw: st.DrawFn, size: int, grid: int) -> AxisSpec:
    """Unstructured, each of 0..size-1 once, in any order."""
    labels = draw(st.permutations(range(size)))
    bounds = draw(cuts(size, grid))
    parts = tuple(tuple(labels[a:b]) for a, b in pairwise(bounds))
    return AxisSpec("u", size, grid, indices=parts, one_to_one=draw(st.booleans()))


@st.composite
def labelled_axes(draw: st.DrawFn, size: int, grid: int) -> AxisSpec:
    """Unstructured with free labels: negative, large, on several ranks; or once each."""
    label = st.integers(-6, 12) | st.sampled_from([2**40, -(2**63), 2**63 - 1])
    rows = st.lists(label, max_size=5 if size else 0, unique=True).map(tuple)
    parts = tuple(draw(rows) for _ in range(grid))
    held = [label for row in parts for label in row]
    once = len(set(held)) == len(held) and draw(st.booleans())
    return AxisSpec("u", len(held) if once else size, grid, indices=parts, one_to_one=once)


@st.composite
def axis_specs(draw: st.DrawFn, size: int, most: int, exact: bool) -> AxisSpec:
    kind = draw(st.sampled_from("bbbccuun"))
    grid = 1 if kind == "n" else draw(st.integers(1, min(most, 5)) | st.integers(1, most))
    if kind == "n":
        return replace(draw(block_axes(size, 1)), kind="n", bounds=None)
    if kind == "u" and not exact and draw(st.booleans()):
        return draw(labelled_axes(size, grid))
    kinds = {"b": block_axes, "c": cyclic_axes, "u": exact_axes}
    return draw(kinds[kind](size, grid))


@st.composite
def shapes(draw: st.DrawFn, most_dims: int = 4) -> tuple[int, ...]:
    """Of few elements, sometimes none, 0-d included."""
    shape: list[int] = []
    for _ in range(draw(st.integers(0, most_dims))):
        room = MOST_ELEMENTS // max(1, prod(shape))
        empty = draw(st.integers(0, 15)) == 0
        shape.append(0 if empty else draw(st.integers(1, min(room, 13))))
    return tuple(shape)


@st.composite
def specs(
    draw: st.DrawFn, shape: tuple[int, ...] | None = None, exact: bool = False, whole: bool = True
) -> Spec:
    """Any distribution; `exact`: unstructured labels are 0..size-1, each once."""
    shape = draw(shapes()) if shape is None else shape
    if whole and (not shape or draw(st.integers(0, 9)) == 0):
        copies = draw(st.integers(1, MOST_RANKS))
        return Spec(tuple(AxisSpec("n", size) for size in shape), copies)
    axes: list[AxisSpec] = []
    for size in shape:
        room = MOST_RANKS // prod(axis.grid for axis in axes)
        axes.append(draw(axis_specs(size, room, exact)))
    return Spec(tuple(axes), scalars=draw(st.booleans()))


@st.composite
def slices(draw: st.DrawFn, size: int) -> slice:
    """A full one now and then; else any bounds and steps, half of them backwards."""
    if draw(st.integers(0, 3)) == 0:
        return slice(None)
    near = st.integers(-size - 1, size + 1)
    far = st.integers(-2 * size - 2, 2 * size + 2).map(np.int64)
    bound = st.none() | near | near | far | st.sampled_from(HUGE)
    steps = st.sampled_from([None, 1, 2, 3, -1, -1, -2, -3]) | st.sampled_from([-1, 2, *HUGE])
    return slice(draw(bound), draw(bound), draw(steps))


@st.composite
def keys(draw: st.DrawFn, shape: tuple[int, ...], ints: bool = True) -> Any:
    """A basic key that NumPy takes for this shape."""
    items: list[Any] = []
    for size in shape:
        index = st.integers(-size, size - 1) if size and ints else st.nothing()
        items.append(draw(slices(size) | slices(size) | index | index.map(np.int32)))
    if draw(st.booleans()):  # an ellipsis, for some axes or for none
        low, high = sorted(draw(st.tuples(*[st.integers(0, len(items))] * 2)))
        items[low:high] = [Ellipsis]
    elif draw(st.booleans()):
        items = items[: draw(st.integers(0, len(items)))]
    for at in draw(st.lists(st.integers(0, len(items)), max_size=2)):
        items.insert(at, None)
    return items[0] if len(items) == 1 and draw(st.booleans()) else tuple(items)
