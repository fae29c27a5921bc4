"""Keys in which a single truth stands: `a[True]` has all of `a`, and an axis more, of length 1."""

from __future__ import annotations

from typing import Any

from dappled._keys import is_basic, is_truth


def seen(array: Any, key: Any) -> Any:
    """What such a key selects, as a view; None if it is another, or has numbers beside it."""
    keys = list(key) if type(key) is tuple else [key]
    places = [place for place, one in enumerate(keys) if is_truth(one)]
    rest = [one for one in keys if not is_truth(one)]
    if len(places) != 1 or not all(is_basic(one) and not isinstance(one, int) for one in rest):
        return None
    (place,) = places
    chosen, keys[place] = bool(keys[place]), None
    hidden = array.ndim - sum(isinstance(one, slice) for one in keys)  # behind the dots
    before = sum(hidden if one is ... else 1 for one in keys[:place])
    view = array[tuple(keys)]
    return view if chosen else view[(slice(None),) * before + (slice(0, 0),)]
