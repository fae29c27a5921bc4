"""For every rule, descriptions that violate it first, and the expected error text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.protocol.exports import export
from tests.protocol.invalid_values import Raising, released

MISSING = object()


def changed(entries: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in {**entries, **changes}.items() if v is not MISSING}


def b(**changes: Any) -> dict[str, Any]:
    """Rank 0 of 2 on a block axis of 10: owns 0..5."""
    grid = {"proc_grid_size": 2, "proc_grid_rank": 0}
    return changed({"dist_type": "b", "size": 10, **grid, "start": 0, "stop": 5}, changes)


def c(**changes: Any) -> dict[str, Any]:
    """Rank 1 of 2 on a block-cyclic axis of 10, blocks of 3: owns 3, 4, 5, 9."""
    grid = {"proc_grid_size": 2, "proc_grid_rank": 1}
    return changed({"dist_type": "c", "size": 10, **grid, "start": 3, "block_size": 3}, changes)


def u(**changes: Any) -> dict[str, Any]:
    """Rank 0 of 2 on an unstructured axis of 10: holds five labels."""
    grid = {"proc_grid_size": 2, "proc_grid_rank": 0}
    indices = np.array([9, -2, 0, 4, 100])
    return changed({"dist_type": "u", "size": 10, **grid, "indices": indices}, changes)


def n(**changes: Any) -> dict[str, Any]:
    return changed({"dist_type": "n", "size": 5}, changes)


@dataclass(frozen=True)
class Case:
    """A rule, a dimension that breaks it, the keys it may name, fragments of the message."""

    rule: str
    entries: dict[str, Any]
    keys: str | tuple[str | None, ...]
    says: Sequence[str]  # regular expressions: the value, and numbers of what was expected
    extent: int = 5
    version: str = "0.10.0"


OLD = "0.9.0"
BUFFER = ("stop", "start", "buffer", None)

LOCAL = [
    Case("L06", {}, "dist_type", ["missing", "0.9"], version=OLD),
    Case("L06", b(dist_type="x"), "dist_type", ["'x'"]),
    Case("L06", b(dist_type=MISSING), "dist_type", ["missing"]),
    Case("L06", n(), "dist_type", ["'n'"]),
    Case("L06", b(dist_type=b"b"), "dist_type", ["b'b'"]),
    Case("L06", b(dist_type=None), "dist_type", ["None"]),
    Case("L06", b(dist_type="bc"), "dist_type", ["'bc'"], version=OLD),
    Case("L06", {"foo": 1}, "dist_type", ["missing"]),
    Case("L07", b(size=-1), "size", ["-1", ">= 0|0 <="]),
    Case("L07", b(size=10.0), "size", [r"10\.0"]),
    Case("L07", c(size=True), "size", ["True"]),
    Case("L07", u(size="10"), "size", ["'10'"]),
    Case("L07", u(size=MISSING), "size", ["missing"]),
    Case("L07", n(size=None), "size", ["None"], version=OLD),
    Case("L07", b(size=np.float64(10)), "size", ["10"]),
    Case("L08", b(proc_grid_size=0), "proc_grid_size", ["got 0", ">= 1|1 <="]),
    Case("L08", c(proc_grid_size=MISSING), "proc_grid_size", ["missing"]),
    Case("L08", b(proc_grid_rank=2), "proc_grid_rank", ["got 2"]),
    Case("L08", u(proc_grid_rank=-1), "proc_grid_rank", ["-1"]),
    Case("L08", b(proc_grid_rank=False), "proc_grid_rank", ["False"], version=OLD),
    Case("L08", b(proc_grid_rank=MISSING), "proc_grid_rank", ["missing"]),
    Case("L09", b(start=MISSING), "start", ["missing"]),
    Case("L09", b(stop=MISSING), "stop", ["missing"]),
    Case("L09", b(start=-1), "start", ["-1"]),
    Case("L09", b(stop=11), "stop", ["11", "10"]),
    Case("L09", b(start=6), ("start", "stop"), ["6", "5"]),
    Case("L09", b(stop=5.0), "stop", [r"5\.0"], version=OLD),
    Case("L10", b(start=1, stop=6), "start", ["1", "0"]),
    Case("L10", b(proc_grid_rank=1, start=3, stop=8), "stop", ["8", "10"]),
    Case("L10", b(start=1, stop=6, padding=(1, 0)), "start", ["1", "0"], version=OLD),
    Case("L11", b(stop=4), BUFFER, ["4", "5"]),
    Case("L11", b(stop=4), BUFFER, ["4", "5"], version="1.0.0"),
    Case("L11", b(padding=(0, 1)), BUFFER, ["got 5", "1"], version=OLD),
    Case("L11", b(padding=(1, 1), periodic=True), BUFFER, ["5", "6", "2"], 6, OLD),
    Case("L11", n(padding=(1, 1), periodic=True), (*BUFFER, "size"), ["5", "2"], version=OLD),
    Case("L11", n(size=6), (*BUFFER, "size"), ["5", "6"], version=OLD),
    Case("L12", b(padding=(3, -1)), "padding", [r"\(3, -1\)", ">= 0"]),
    Case("L12", b(padding=(3, 3)), "padding", [r"\(3, 3\)", "5"]),
    Case("L12", b(padding=3), "padding", ["got 3"]),
    Case("L12", b(padding=(1,)), "padding", [r"1"]),
    Case("L12", b(padding=(1.0, 0)), "padding", [r"1\.0"]),
    Case("L12", b(padding=None), "padding", ["None"]),
    Case("L12", b(padding=(True, 0)), "padding", ["True"]),
    Case("L12", b(padding=(6, 0)), "padding", [r"\(6, 0\)", "5"], version=OLD),
    Case("L12", n(padding="ab"), "padding", ["'ab'"], version=OLD),
    Case("L13", b(periodic=1), "periodic", ["got 1"]),
    Case("L13", b(periodic=None), "periodic", ["None"]),
    Case("L13", c(periodic=True), "periodic", ["True"], 4),
    Case("L13", c(periodic=False), "periodic", ["False"], 4),
    Case("L13", u(periodic=True), "periodic", ["True"]),
    Case("L13", u(periodic="yes"), "periodic", ["'yes'"], version=OLD),
    Case("L13", c(periodic=0), "periodic", ["got 0"], 4, OLD),
    Case("L14", c(block_size=0), "block_size", ["got 0", ">= 1|1 <="], 4),
    Case("L14", c(block_size=-3), "block_size", ["-3"], 4),
    Case("L14", c(block_size=None), "block_size", ["None"], 4),
    Case("L14", c(block_size=True), "block_size", ["True"], 4, OLD),
    Case("L15", c(start=MISSING), "start", ["missing"], 4),
    Case("L15", c(start=2), "start", ["got 2", "3"], 4),
    Case("L15", c(start=10), "start", ["got 10", "3"], 4),
    Case("L15", c(start=1.0, block_size=1), "start", [r"1\.0"], 5),
    Case("L15", c(start=11, size=2), "start", ["got 11", "3"], 0),
    Case("L16", c(), (*BUFFER, "size", "block_size"), ["4", "5"]),
    Case("L16", c(size=0, start=3), (*BUFFER, "size", "block_size"), ["0", "1"], 1),
    Case("L17", u(indices=MISSING), "indices", ["missing"]),
    Case("L17", u(indices=[1, 2, 1, 3, 4]), "indices", ["1"]),
    Case("L17", u(indices=[1, 2, 3]), "indices", ["3", "5"]),
    Case("L17", u(indices=[0, 1, 2, 3, 4.0]), "indices", [r"4\.0|float|ints"]),
    Case("L17", u(indices=np.arange(5.0)), "indices", ["d|float|\\."]),
    Case("L17", u(indices=np.zeros((5, 1), int)), "indices", ["5, 1"]),
    Case("L17", u(indices="abcde"), "indices", ["'abcde'"]),
    Case("L17", u(indices=[True, 0, 2, 3, 4]), "indices", ["True|bool|ints"]),
    Case("L17", u(indices=set(range(5))), "indices", ["set|0, 1"]),
    Case("L17", u(indices=frozenset(range(5))), "indices", ["set|0, 1"]),
    Case("L17", u(indices=dict.fromkeys(range(5))), "indices", ["dict|0"]),
    Case("L17", u(indices=dict.fromkeys(range(5)).keys()), "indices", ["dict|0"]),
    Case("L17", u(indices=iter(range(5))), "indices", ["iterator"]),
    Case("L17", u(indices=range(2**62)), "indices", ["4611686018427387904", "5"]),
    Case("L17", u(indices=[2**63, 1, 2, 3, 4]), "indices", ["9223372036854775808"]),
    Case("L17", u(indices=[0], size=0), "indices", ["0"], 1),
    Case("L17", u(indices=None), "indices", ["None"], version=OLD),
    Case("L18", u(one_to_one=1), "one_to_one", ["got 1"]),
    Case("L18", u(one_to_one=None), "one_to_one", ["None"]),
    Case("L18", u(one_to_one="True"), "one_to_one", ["'True'"], version=OLD),
]

D = "dim_data"
TOP = [
    ("L01", None, None, ["None"]),
    ("L01", [("__version__", "0.10.0")], None, ["__version__"]),
    ("L01", {"__version__": "0.10.0", "buffer": b"ab"}, "dim_data", ["missing|dim_data"]),
    ("L01", {**export(({},), (3,)), "extra": 1}, "extra", ["extra"]),
    ("L01", {**export(({},), (3,)), 7: 1}, None, ["7"]),
    ("L02", export(({},), (3,), "0.8.0"), "__version__", ["'0.8.0'", "0.9", "0.10", "1"]),
    ("L02", export(({},), (3,), "2.0.0"), "__version__", ["'2.0.0'"]),
    ("L02", export(({},), (3,), "0.10"), "__version__", ["'0.10'"]),
    ("L02", export(({},), (3,), "0.10.0rc1"), "__version__", ["'0.10.0rc1'"]),
    ("L02", export(({},), (3,), (0, 10, 0)), "__version__", [r"\(0, 10, 0\)"]),
    ("L02", export(({},), (3,), None), "__version__", ["None"]),
    ("L03", {**export(({},), (3,)), "buffer": [1, 2, 3]}, "buffer", ["1, 2, 3|list"]),
    ("L03", {**export(({},), (3,)), "buffer": "abc"}, "buffer", ["abc|str"]),
    (
        "L03",
        {**export(({},), (3,)), "buffer": np.zeros(3, "M8[s]")},
        "buffer",
        ["(?i)datetime|M8|'M'"],
    ),
    ("L03", {**export(({},), (3,)), "buffer": released()}, "buffer", ["memoryview|released"]),
    ("L03", {**export(({},), (3,)), "buffer": Raising()}, "buffer", ["Raising"]),
    ("L04", export(None, (3,)), D, ["None"]),
    ("L04", export({}, (3,)), D, [r"\{\}"]),
    ("L04", export((), (3,)), D, ["0", "1"]),
    ("L04", export(({}, {}), (3,)), D, ["2", "1"]),
    ("L04", export(({},), ()), D, ["1", "0"]),
    ("L04", export(("b",), (3,)), D, ["'b'"]),
    ("L04", export(({}, None), (3, 3)), D, ["None"]),
]
