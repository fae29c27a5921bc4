"""Random sets of exports that are valid alone, or nearly, and inconsistent together."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.protocol.mutations import Change, Export, copied, mutated

Entries = dict[str, Any]


def _resized(export: Export, axis: int, by: int) -> None:
    shape = list(export["buffer"].shape)
    shape[axis] = max(0, shape[axis] + by)
    export["buffer"] = np.zeros(shape)


def _moved(export: Export, entries: Entries, axis: int, what: int) -> None:
    for key in ("start", "stop"):
        entries[key] += (1, -1)[what % 2]


def _grown(export: Export, entries: Entries, axis: int, what: int) -> None:
    by = (1, -1)[what % 2]
    entries[("start", "stop")[what // 2 % 2]] += -by if what // 2 % 2 == 0 else by
    _resized(export, axis, by)


def _padded(export: Export, entries: Entries, axis: int, what: int) -> None:
    """One width changed, and what follows from it in either meaning."""
    by, side = (1, -1)[what % 2], what // 2 % 2
    widths = list(entries.get("padding", (0, 0)))
    widths[side] += by
    entries["padding"] = tuple(widths)
    if not export["__version__"].startswith("0.9"):
        entries[("start", "stop")[side]] += -by if side == 0 else by
    _resized(export, axis, by)


def _labelled(export: Export, entries: Entries, axis: int, what: int) -> None:
    """Another order, another label, or one less."""
    indices = entries["indices"].copy()
    if what % 3 == 0:
        indices = indices[::-1]
    elif what % 3 == 1:
        indices[what // 3 % len(indices)] = what % 5
    else:
        indices = indices[1:]
        _resized(export, axis, -1)
    entries["indices"] = indices


def _flagged(export: Export, entries: Entries, axis: int, what: int) -> None:
    key = "one_to_one" if entries["dist_type"] == "u" else "periodic"
    entries[key] = not entries.get(key, False)


def _unpadded(export: Export, entries: Entries, axis: int, what: int) -> None:
    """The same widths with another word: (0, 0) written out, or left out."""
    if entries.get("padding", (0, 0)) == (0, 0):
        entries.pop("padding") if "padding" in entries else entries.update(padding=(0, 0))


def _retyped(export: Export, entries: Entries, axis: int, what: int) -> None:
    kinds = ("f4", "i8", ">f8", "d", "g", "O")
    export["buffer"] = export["buffer"].astype(kinds[what % len(kinds)])


def _reversioned(export: Export, entries: Entries, axis: int, what: int) -> None:
    export["__version__"] = ("0.9.1", "0.10.2", "1.0.0", "0.12.0")[what % 4]


Changer = Callable[[Export, Entries, int, int], None]
ANY: list[Changer] = [_flagged, _retyped, _reversioned]
CHANGES: dict[str, list[Changer]] = {
    "b": [*ANY, _moved, _grown, _grown, _padded, _padded, _padded, _unpadded, _unpadded],
    "c": ANY,
    "u": [*ANY, _flagged, _labelled, _labelled, _labelled],
}
EVERYWHERE = (_flagged, _unpadded, _retyped, _reversioned)


def _one_change(exports: list[Export], alike: bool, change: Change) -> None:
    """On one rank, or `alike` on all that share its grid coordinate, or that must be the same."""
    kind, where, what = change
    rank, axis = where % len(exports), where // 16 % len(exports[0]["dim_data"])
    coordinate = exports[rank]["dim_data"][axis]["proc_grid_rank"]
    choices = CHANGES[exports[rank]["dim_data"][axis]["dist_type"]]
    made = choices[kind % len(choices)]
    for number, export in enumerate(exports):
        entries = export["dim_data"][axis]
        same = made in EVERYWHERE or entries["proc_grid_rank"] == coordinate
        if number == rank or (alike and same):
            made(export, entries, axis, what)


def _rearranged(exports: list[Export], at: int, how: int) -> list[Export]:
    """One missing, one twice, or one at the end."""
    rest = [*exports[:at], *exports[at + 1 :]]
    return [rest, [*exports, exports[at]], [*rest, exports[at]]][how % 3]


def disturbed(exports: list[Export], choice: int, changes: list[Change]) -> list[Export]:
    """The exports, changed so that most of them are still right alone."""
    exports = [copied(export) for export in exports]
    if choice % 32 == 0:
        return [mutated(export, changes[:1]) for export in exports]
    if choice % 32 == 1:
        return _rearranged(exports, choice // 32 % len(exports), changes[0][0])
    if choice % 32 == 2:
        exports[choice // 32 % len(exports)] = mutated(exports[0], changes)
        return exports
    for change in changes[: 1 + choice // 32]:
        try:
            _one_change(exports, choice % 2 == 0, change)
        except (KeyError, IndexError, ZeroDivisionError):
            continue
    return exports
