"""Malformed exports: valid ones with a few changes, each identified by three numbers."""

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.protocol.invalid_values import Raising, junk

Change = tuple[int, int, int]  # which kind of change, where, and to what
Export = dict[str, Any]
KEYS = (
    "dist_type", "size", "proc_grid_size", "proc_grid_rank", "start", "stop", "padding",
    "periodic", "block_size", "indices", "one_to_one",
)  # fmt: skip
TOP = ("__version__", "buffer", "dim_data")
EXTRA = ("extra", "Size", "", "\ud800", 0, None, (1, 2), b"size", 2**70, Raising)
VERSIONS = (
    "0.9.0", "0.9.7", "0.10.0", "0.10.3", "0.11.0", "1.0.0", "1.7.2", "0.8.0", "2.0.0", "0.10",
    "0.10.0.0", "0.10.0a", "v0.10.0", " 0.10.0", "0.10.0\n", "0.-10.0", "", "..", "1.0", "0.1.0",
    "\u0966.10.0", "10.0.0", "0..0", "+0.10.0",
)  # fmt: skip


def copied(export: Export) -> Export:
    """An export that can be changed without changing the first one."""
    dims = tuple(dict(entries) for entries in export["dim_data"])
    return {**export, "dim_data": dims}


def _top(export: Export, where: int, what: int) -> None:
    export[TOP[where % 3]] = junk(what)


def _no_top(export: Export, where: int, what: int) -> None:
    export.pop(TOP[where % 3], None)


def _more_top(export: Export, where: int, what: int) -> None:
    export[_extra(where)] = junk(what)


def _extra(where: int) -> Any:
    key = EXTRA[where % len(EXTRA)]
    return key() if key is Raising else key


def _version(export: Export, where: int, what: int) -> None:
    export["__version__"] = VERSIONS[what % len(VERSIONS)]


def _shape(export: Export, where: int, what: int) -> None:
    """One extent more or less, or an axis more or less."""
    shape = list(export["buffer"].shape)
    at = where % (len(shape) + 1)
    if at == len(shape):
        shape = shape[:-1] if what % 2 else [*shape, 1]
    else:
        shape[at] = max(0, shape[at] + (1, -1, 2)[what % 3])
    export["buffer"] = np.zeros(shape)


def _format(export: Export, where: int, what: int) -> None:
    kinds = ("f4", "i1", "?", "O", "U3", "V5", "i4,f8", "c16", ">f8", "M8[s]", "m8[D]", "g")
    export["buffer"] = np.zeros(export["buffer"].shape, kinds[what % len(kinds)])


def _sequence(export: Export, where: int, what: int) -> None:
    """dim_data as a list, twice as long, one shorter, or as something like a sequence."""
    dims = _dims(export)
    export["dim_data"] = [list(dims), dims + dims, dims[:-1], iter(dims), dict(enumerate(dims))][
        what % 5
    ]


def _dim(export: Export, where: int, what: int) -> None:
    dims = list(_dims(export))
    dims[where % len(dims)] = junk(what)
    export["dim_data"] = tuple(dims)


def _empty_dim(export: Export, where: int, what: int) -> None:
    dims = list(_dims(export))
    dims[where % len(dims)] = {}
    export["dim_data"] = tuple(dims)


def _entry(export: Export, where: int, what: int) -> None:
    dims = _dims(export)
    dims[where % len(dims)][KEYS[where // len(dims) % len(KEYS)]] = junk(what)


def _dims(export: Export) -> list[Any] | tuple[Any, ...]:
    """The dimensions; what an earlier change put there may be endless."""
    if not isinstance(export["dim_data"], list | tuple):
        raise TypeError("no list any more")
    return export["dim_data"]


def _entries(export: Export, where: int) -> dict[Any, Any]:
    """A dimension dictionary, if it still is one."""
    entries = _dims(export)[where % len(export["dim_data"])]
    if not isinstance(entries, dict):
        raise TypeError("no dictionary any more")
    return entries


def _no_entry(export: Export, where: int, what: int) -> None:
    entries = _entries(export, where)
    entries.pop(sorted(entries)[what % len(entries)], None)


def _more_entries(export: Export, where: int, what: int) -> None:
    _entries(export, where)[_extra(what)] = junk(what // 16)


def _nudge(export: Export, where: int, what: int) -> None:
    """An int, or a width, or a label, a little larger or smaller."""
    entries = _entries(export, where)
    key = sorted(entries)[where // 8 % len(entries)]
    by = (1, -1, 2, -3)[what % 4]
    if key == "padding" and type(entries[key]) is tuple:
        widths = list(entries[key])
        widths[what // 4 % 2] += by
        entries[key] = tuple(widths)
    elif key == "indices" and isinstance(entries[key], np.ndarray) and entries[key].size:
        labels = [int(label) for label in entries[key]]
        labels[what // 4 % len(labels)] += by
        entries[key] = np.array(labels)
    elif type(entries[key]) is int:
        entries[key] += by


CHANGES: list[Callable[[Export, int, int], None]] = [
    _top, _no_top, _more_top, _version, _version, _shape, _shape, _format, _sequence, _dim,
    _empty_dim, _no_entry, _more_entries, *[_entry] * 16, *[_nudge] * 6,
]  # fmt: skip


def mutated(export: Export, changes: list[Change]) -> Export:
    """The export with the changes made; one that an earlier change made senseless is left."""
    found = copied(export)
    for kind, where, what in changes:
        try:
            CHANGES[kind % len(CHANGES)](found, where, what)
        except Exception:
            continue
    return found


MOST = 2**20
number = st.integers(0, MOST)
changes = st.lists(st.tuples(number, number, number), min_size=1, max_size=3)


def batches(count: int) -> st.SearchStrategy[list[list[Change]]]:
    """So many lists of changes, all from one number: hypothesis takes far longer to draw them one
    by one than it takes to validate what they make, and nothing is shrunk."""
    return st.integers(0, 2**64 - 1).map(lambda seed: _drawn(Random(seed), count))


def _drawn(random: Random, count: int) -> list[list[Change]]:
    return [[_change(random) for _ in range(random.randint(1, 3))] for _ in range(count)]


def _change(random: Random) -> Change:
    kind, where, what = (random.randint(0, MOST) for _ in range(3))
    return kind, where, what
