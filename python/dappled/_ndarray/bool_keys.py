"""0-d boolean indices: `a[True]` adds an axis of length 1, `a[False]` one of length 0."""

from __future__ import annotations

from typing import Any

from dappled._ndarray.index_keys import is_basic_index, is_bool_scalar


def bool_view(array: Any, key: Any) -> Any:
    """The view that a key with one 0-d boolean selects; None for other keys."""
    keys = list(key) if type(key) is tuple else [key]
    positions = [position for position, one in enumerate(keys) if is_bool_scalar(one)]
    rest = [one for one in keys if not is_bool_scalar(one)]
    if len(positions) != 1 or not all(
        is_basic_index(one) and not isinstance(one, int) for one in rest
    ):
        return None
    (position,) = positions
    chosen, keys[position] = bool(keys[position]), None
    # The axes that the ellipsis stands for
    hidden = array.ndim - sum(isinstance(one, slice) for one in keys)
    before = sum(hidden if one is ... else 1 for one in keys[:position])
    view = array[tuple(keys)]
    return view if chosen else view[(slice(None),) * before + (slice(0, 0),)]
