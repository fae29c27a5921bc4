"""For every collective rule, exports that are valid alone and inconsistent together."""

from typing import Any

import numpy as np

from tests.protocol.exports import export
from tests.protocol.rule_cases import OLD, b, c, n, u

Exports = list[dict[str, Any]]


def line(dims: list[dict[str, Any]], extents: list[int], version: str = "0.10.0") -> Exports:
    """1-D exports in rank order."""
    return [export((d,), (e,), version) for d, e in zip(dims, extents, strict=True)]


def blocks(*held: tuple[int, int], size: int = 10, pads: Any = (), **more: Any) -> list[dict]:
    """Block dictionaries from (start, stop) of each rank, with paddings where given."""
    grid = len(held)
    dims = [
        b(size=size, proc_grid_size=grid, proc_grid_rank=i, start=start, stop=stop, **more)
        for i, (start, stop) in enumerate(held)
    ]
    return [{**d, "padding": p} if p else d for d, p in zip(dims, pads or [()] * grid, strict=True)]


def labels(*rows: list[int], **more: Any) -> list[dict]:
    common = {"size": sum(map(len, rows)), "proc_grid_size": len(rows), **more}
    return [u(proc_grid_rank=i, indices=np.array(row, int), **common) for i, row in enumerate(rows)]


def plane(first: list[dict], second: list[dict], shape: tuple[int, ...], **swap: Any) -> Exports:
    """2-D exports: the product of two axes; `swap` replaces one rank's first dictionary."""
    pairs = [(one, two) for one in first for two in second]
    found = [export(pair, shape) for pair in pairs]
    if swap:
        found[swap["rank"]] = export((swap["entries"], pairs[swap["rank"]][1]), shape)
    return found


TWO = blocks((0, 5), (5, 10))
BUFFERS = [5, 5]
FOUR = blocks((0, 4), (4, 8), size=8)
ODD = b(size=8, start=0, stop=4, padding=(0, 1))
EDGE = b(size=8, start=0, stop=4, padding=(1, 0))

# rule, exports, dimension, the keys it may name, fragments of the message
COLLECTIVE: list[tuple[str, Exports, int | None, tuple[str | None, ...], list[str]]] = [
    ("C01", [*line(TWO, BUFFERS)[:1], *line(TWO, BUFFERS, OLD)[1:]], None, ("__version__",), [OLD]),
    ("C01", [line(TWO, BUFFERS)[0], {**line(TWO, BUFFERS)[1], "buffer": np.zeros(5, "f4")}],
     None, ("buffer",), ["f", "d"]),
    ("C01", [line(TWO, BUFFERS)[0], {**line(TWO, BUFFERS)[1], "buffer": np.zeros(5, ">f8")}],
     None, ("buffer",), [">"]),
    ("C01", [export(({},), (5,)), export(({}, {}), (5, 5))], None, ("dim_data", "buffer", None),
     ["1", "2"]),
    ("C01", line([TWO[0], u(proc_grid_rank=1)], BUFFERS), 0, ("dist_type",), ["'b'", "'u'"]),
    ("C01", line([TWO[0], b(size=11, proc_grid_rank=1, start=5, stop=11)], [5, 6]), 0, ("size",),
     ["10", "11"]),
    ("C01", line([TWO[0], b(proc_grid_rank=1, proc_grid_size=3)], BUFFERS), 0,
     ("proc_grid_size",), ["2", "3"]),
    ("C01", line([c(proc_grid_rank=0, start=0), c(block_size=2, start=2)], [6, 4]), 0,
     ("block_size",), ["2", "3"]),
    ("C01", line([TWO[0], {**TWO[1], "periodic": True}], BUFFERS), 0, ("periodic",), ["True"]),
    ("C01", line([u(), u(proc_grid_rank=1, one_to_one=True)], BUFFERS), 0, ("one_to_one",),
     ["True"]),
    ("C02", line(TWO[:1], [5]), None, ("proc_grid_size", None), ["2", "1"]),
    ("C02", line([*TWO, TWO[1]], [5, 5, 5]), None, ("proc_grid_size", None), ["2", "3"]),
    ("C02", line(TWO[::-1], BUFFERS), None, ("proc_grid_rank", None), ["1", "0"]),
    ("C02", line([TWO[0]] * 2, BUFFERS), None, ("proc_grid_rank", None), ["1", "0"]),
    ("C02", [export(({},), (5,))] * 2, None, ("proc_grid_size", None), ["1", "2"]),
    ("C02", line([n()] * 3, [5] * 3, OLD), None, ("proc_grid_size", None), ["1", "3"]),
    ("C03", plane(FOUR, FOUR, (4, 4), rank=1, entries=ODD), 0, ("padding",), ["1"]),
    ("C03", plane(labels([0, 1, 2, 3], [4, 5]), FOUR, (4, 4))[:2] + [
        export((labels([0], row)[1] | {"size": 6}, FOUR[i]), (2, 4))
        for i, row in enumerate([[4, 5], [5, 4]])], 0, ("indices",), ["4", "5"]),
    ("C04", line(blocks((0, 5), (6, 10)), [5, 4]), 0, ("start", "stop"), ["5", "6"]),
    ("C04", line(blocks((0, 6), (5, 10)), [6, 5]), 0, ("start", "stop"), ["6", "5"]),
    ("C04", line(blocks((0, 5), (5, 10), pads=[(0, 1), (1, 0)]), BUFFERS), 0, ("start", "stop"),
     ["5", "4"]),
    ("C04", line(blocks((0, 6), (5, 10), pads=[(0, 1), (1, 0)]), [7, 6], OLD), 0,
     ("start", "stop"), ["5", "6"]),
    ("C05", line(blocks((0, 6), (5, 10), pads=[(0, 1), ()]), [6, 5]), 0, ("padding",), ["1", "0"]),
    ("C05", line(blocks((0, 6), (2, 5), (5, 10), pads=[(0, 2), (2, 0), ()]), [6, 3, 5]), 0,
     ("padding",), ["2", "1"]),
    ("C05", line(blocks((0, 5), (5, 10), pads=[(0, 1), (2, 0)]), [6, 7], OLD), 0, ("padding",),
     ["1", "2"]),
    ("C07", line(labels([0, 1], [1, 2], one_to_one=True), [2, 2]), 0, ("indices",), ["1"]),
    ("C07", line(labels([0, 1], [2], one_to_one=True, size=4), [2, 1]), 0, ("indices", "size"),
     ["3", "4"]),
    ("C07", line(labels([0, 1], [2], one_to_one=np.True_, size=2), [2, 1], OLD), 0,
     ("indices", "size"), ["3", "2"]),
    ("C08", line(blocks((0, 5), (5, 10), pads=[(0, 0), ()]), BUFFERS, OLD), 0, ("padding",),
     ["missing|absent|without|present|not have"]),
    ("C08", line([*blocks((0, 5), (5, 5), (5, 10))[:2], blocks((0, 5), (5, 5), (5, 10),
     pads=[(0, 0)] * 3)[2]], [5, 0, 5], OLD), 0, ("padding",),
     ["missing|absent|without|present|not have"]),
]  # fmt: skip
