"""The local rules L01 to L18, each a predicate that takes the earlier ones for granted."""

from dataclasses import dataclass
from typing import Any

from tests.protocol.oracle.values import (
    Unspecified,
    is_bool,
    is_count,
    labels,
    meaning,
    number,
    pair,
    view_of,
)

TOP_KEYS = {"__version__", "buffer", "dim_data"}
Violation = tuple[str, int | None]


@dataclass(frozen=True)
class Dim:
    """A dimension dictionary, the extent of the buffer (None: unknown), the meaning."""

    entries: dict[str, Any]
    extent: int | None
    old: bool

    @property
    def kind(self) -> Any:
        return self.entries.get("dist_type")

    def number(self, key: str, default: int | None = None) -> int | None:
        """An entry as an int; on 'n' the place in the grid and the bounds are known."""
        if self.kind == "n" and key in ("proc_grid_size", "proc_grid_rank", "start", "stop"):
            return {"proc_grid_size": 1, "stop": self.number("size")}.get(key, 0)
        return number(self.entries.get(key, default))

    @property
    def widths(self) -> tuple[int, int] | None:
        return pair(self.entries.get("padding", (0, 0)))

    @property
    def periodic(self) -> bool | None:
        value = self.entries.get("periodic", False)
        return bool(value) if is_bool(value) else None

    @property
    def communication(self) -> tuple[int, int]:
        """The widths of what copies a neighbour: inner edges, in a periodic 0.9 the outer too."""
        outer = self.old and self.periodic
        left, right = self.widths
        rank, last = self.number("proc_grid_rank"), self.number("proc_grid_size") - 1
        return (left if rank > 0 or outer else 0, right if rank < last or outer else 0)

    @property
    def held(self) -> tuple[int, int]:
        """The global range that the buffer covers, all padding included."""
        left, right = self.communication if self.old else (0, 0)
        return self.number("start") - left, self.number("stop") + right

    @property
    def owned(self) -> tuple[int, int]:
        left, right = self.communication
        return self.held[0] + left, self.held[1] - right


def owned_count(dim: Dim) -> int:
    """The formula of PROTOCOL.md, "Owned counts"."""
    if dim.kind in ("b", "n"):
        return dim.owned[1] - dim.owned[0]
    if dim.kind == "u":
        return len(labels(dim.entries["indices"], dim.extent))
    grid, rank = dim.number("proc_grid_size"), dim.number("proc_grid_rank")
    block_size = dim.number("block_size", 1)
    blocks, part = divmod(dim.number("size"), block_size)
    extra = blocks % grid
    count = blocks // grid * block_size
    return count + (block_size if rank < extra else part if rank == extra else 0)


def _l08(dim: Dim) -> bool:
    grid, rank = dim.number("proc_grid_size"), dim.number("proc_grid_rank")
    return is_count(grid, 1) and is_count(rank) and rank < grid


def _l09(dim: Dim) -> bool:
    start, stop = dim.number("start"), dim.number("stop")
    return None not in (start, stop) and 0 <= start <= stop <= dim.number("size")


def _l10(dim: Dim) -> bool:
    first = dim.number("proc_grid_rank") == 0
    last = dim.number("proc_grid_rank") == dim.number("proc_grid_size") - 1
    return not (first and dim.number("start") != 0) and not (
        last and dim.number("stop") != dim.number("size")
    )


def _l11(dim: Dim) -> bool:
    if dim.extent is None or (dim.old and (dim.widths is None or dim.periodic is None)):
        return True  # nothing to compare with; a broken padding or periodic has its own rule
    return dim.held[1] - dim.held[0] == dim.extent


def _l12(dim: Dim) -> bool:
    if dim.widths is None:
        return False
    extent = dim.held[1] - dim.held[0] if dim.extent is None else dim.extent
    return sum(dim.widths) <= extent


def _l13(dim: Dim) -> bool:
    allowed = dim.old or dim.kind == "b" or "periodic" not in dim.entries
    return allowed and dim.periodic is not None


def _l15(dim: Dim) -> bool:
    place = dim.number("proc_grid_rank") * dim.number("block_size", 1)
    size, start = dim.number("size"), dim.number("start")
    return start == place or (place > size and start == size)


def _l17(dim: Dim) -> bool:
    found = labels(dim.entries.get("indices"), dim.extent)
    return found is not None and not (found and dim.number("size") == 0)


# id, the kinds of dimension it speaks of, the predicate; in the order in which they are tried
RULES = [
    ("L06", None, lambda dim: isinstance(dim.kind, str) and dim.kind in _kinds(dim)),
    ("L07", None, lambda dim: is_count(dim.number("size"))),
    ("L08", "bcu", _l08),
    ("L09", "b", _l09),
    ("L10", "b", _l10),
    ("L11", "bn", _l11),
    ("L12", "bn", _l12),
    ("L13", "bncu", _l13),
    ("L14", "c", lambda dim: is_count(dim.number("block_size", 1), 1)),
    ("L15", "c", _l15),
    ("L16", "c", lambda dim: dim.extent in (None, owned_count(dim))),
    ("L17", "u", _l17),
    ("L18", "u", lambda dim: is_bool(dim.entries.get("one_to_one", False))),
]


def _kinds(dim: Dim) -> tuple[str, ...]:
    return ("b", "c", "u", "n") if dim.old else ("b", "c", "u")


def read(entries: dict, extent: int | None, old: bool) -> Dim | None:
    """A dictionary as a Dim, `{}` written out; None where that needs an extent (L05).

    `{}` is not 0.9: there `dist_type` is missing, and L06 names it.
    """
    if getattr(entries, "hostile", False):
        raise Unspecified("a dict whose methods raise")
    if entries or old:
        return Dim(dict(dict.items(entries)), extent, old)
    if extent is None:
        return None
    grid = {"proc_grid_size": 1, "proc_grid_rank": 0}
    return Dim({"dist_type": "b", "size": extent, "start": 0, "stop": extent, **grid}, extent, old)


def first_of_dim(entries: dict, extent: int | None, old: bool) -> str | None:
    """The first rule that one dimension breaks."""
    dim = read(entries, extent, old)
    if dim is None:
        return "L05"
    speaks = ((rule, test) for rule, kinds, test in RULES if kinds is None or dim.kind in kinds)
    return next((rule for rule, test in speaks if not test(dim)), None)


def first_violation(export: Any) -> Violation | None:
    """The first local rule that an export breaks, and the dimension; None: it is right."""
    top = _first_of_top(export)
    if top is not None:
        return top, None
    shape, old = view_of(export["buffer"]).shape, meaning(export["__version__"]) == "old"
    for dimension, entries in enumerate(export["dim_data"]):
        rule = first_of_dim(entries, shape[dimension], old)
        if rule is not None:
            return rule, dimension
    return None


def _first_of_top(export: Any) -> str | None:
    if getattr(export, "hostile", False):
        raise Unspecified("a dict whose methods raise")
    if not isinstance(export, dict) or set(dict.keys(export)) != TOP_KEYS:
        return "L01"
    if meaning(export["__version__"]) is None:
        return "L02"
    view, dims = view_of(export["buffer"]), export["dim_data"]
    if view is None:
        return "L03"
    right = isinstance(dims, tuple | list) and all(isinstance(entries, dict) for entries in dims)
    return None if right and len(dims) == view.ndim else "L04"
