"""The layout of a view: every rank keeps exactly the elements that it owned."""

from math import prod
from typing import Any

from tests.protocol.oracle.maps import Axis, Cell, Layout

FULL = slice(None)


def canonical(key: Any, ndim: int) -> list[Any]:
    """A NumPy key as a list with one int or slice for each axis, None for each newaxis."""
    items = list(key) if isinstance(key, tuple) else [key]
    real = sum(item is not None and item is not Ellipsis for item in items)
    rest = [FULL] * (ndim - real)
    if Ellipsis not in items:
        return items + rest
    at = items.index(Ellipsis)
    return items[:at] + rest + items[at + 1 :]


def view(layout: Layout, key: Any) -> Layout:
    """The layout of `array[key]`."""
    items = canonical(key, len(layout.axes))
    if not items:
        return layout
    if layout.whole or (not layout.axes and layout.holder is None):
        kept = [axis for axis, _ in _kept(layout, items)]
        return Layout(tuple(kept), layout.nprocs, whole=bool(kept))
    if all(isinstance(item, slice) for item in items):
        return Layout(tuple(axis for axis, _ in _kept(layout, items)), layout.nprocs)
    return _merged(layout, items)


def _kept(layout: Layout, items: list[Any]) -> list[tuple[Axis, Any]]:
    """The axes of the view, each with the item that made it; ints leave none."""
    axes = iter(layout.axes)
    pairs = [(None if item is None else next(axes), item) for item in items]
    return [(_cut(axis, item), item) for axis, item in pairs if item is None or not _is_int(item)]


def _is_int(item: Any) -> bool:
    return item is not None and not isinstance(item, slice)


def _cut(axis: Axis | None, item: Any) -> Axis:
    """One axis through one slice; a newaxis is one cell on a grid of 1."""
    if axis is None:
        return Axis(1, (((0, True),),))
    chosen = range(axis.size)[item]
    if chosen == range(axis.size):
        return axis
    place = {index: position for position, index in enumerate(chosen)}
    cells = tuple(_cut_row(row, place, axis.labelled) for row in axis.cells)
    return Axis(len(chosen), cells, axis.labelled)


def _cut_row(row: tuple[Cell, ...], place: dict[int, int], labelled: bool) -> tuple[Cell, ...]:
    found = [(place[index], True) for index, owned in row if owned and index in place]
    return tuple(found if labelled else sorted(found))


def _merged(layout: Layout, items: list[Any]) -> Layout:
    """Each axis that an int removes multiplies the next kept axis, else the last one."""
    kept, real = [], []  # `real`: places in `kept` of axes that were not made by newaxis
    before: list[tuple[int, int]] = []  # (grid, coordinate) of removed axes, not merged yet
    axes = iter(layout.axes)
    for item in items:
        axis = None if item is None else next(axes)
        if _is_int(item):
            coordinate, _ = axis.holders[range(axis.size)[item]][0]
            before.append((len(axis.cells), coordinate))
            continue
        kept.append(_cut(axis, item))
        if axis is not None:
            kept[-1] = _spread(before, kept[-1], [])
            real.append(len(kept) - 1)
            before = []
    if not kept:
        return Layout((), layout.nprocs, holder=_holder(layout, before))
    if real:
        kept[real[-1]] = _spread([], kept[real[-1]], before)
    elif before or not layout.axes:
        kept[-1] = _alone(layout, before)
    return Layout(tuple(kept), layout.nprocs)


def _holder(layout: Layout, places: list[tuple[int, int]]) -> int:
    if layout.holder is not None:
        return layout.holder
    rank = 0
    for grid, coordinate in places:
        rank = rank * grid + coordinate
    return rank


def _alone(layout: Layout, places: list[tuple[int, int]]) -> Axis:
    """A newaxis beside no real axis (the last, of several): all ranks lie along it."""
    holder = _holder(layout, places)
    return Axis(1, tuple(((0, True),) if r == holder else () for r in range(layout.nprocs)))


def _spread(before: list, axis: Axis, after: list) -> Axis:
    """The axis on a grid with removed axes before and after it; padding has no neighbour then."""
    if prod(grid for grid, _ in before + after) == 1:
        return axis
    rows = [tuple(cell for cell in row if cell[1]) for row in axis.cells]
    for grid, coordinate in after:
        rows = [row if c == coordinate else () for row in rows for c in range(grid)]
    for grid, coordinate in reversed(before):
        rows = [row if c == coordinate else () for c in range(grid) for row in rows]
    return Axis(axis.size, tuple(rows), axis.labelled)
