"""Unambiguous forms that are read although Dappled never writes them."""

import array
import collections

import numpy as np
import pytest
from dappled.protocol import from_distarray, validate

from tests.protocol.exports import assert_plain, comparable, export
from tests.protocol.rule_cases import OLD, b, c, n, u

FIVE = [9, -2, 0, 4, 100]


class Offer:
    """Any object with `__distarray__`."""

    def __init__(self, offered):
        self.offered = offered

    def __distarray__(self):
        return self.offered


def read(entries, extent, version="0.10.0"):
    """The one dictionary as it is written again."""
    offered = export((entries,), (extent,), version)
    validate(offered)
    dim_data = from_distarray(Offer(offered)).__distarray__()["dim_data"]
    assert_plain(dim_data)
    return comparable(dim_data)[0]


PADDED = b(stop=6, padding=(0, 1))
SAME = [
    ("padding as a list", b(stop=6, padding=[0, 1]), 6, PADDED),
    ("padding of NumPy ints", b(stop=6, padding=(np.int8(0), np.uint64(1))), 6, PADDED),
    ("(0, 0) is the default", b(padding=(0, 0)), 5, b()),
    ("not periodic is the default", b(periodic=False), 5, b()),
    ("numpy.bool_", b(periodic=np.True_), 5, b(periodic=True)),
    ("unknown keys", b(colour="red", Size=3, note=object()), 5, b()),
    ("keys that are no text", {**b(), 3: 4, None: 5, (1,): 6}, 5, b()),
    ("keys of another kind", b(block_size="x", indices=5, one_to_one=None), 5, b()),
    ("an ordered dict", collections.OrderedDict(b()), 5, b()),
    ("a default dict", collections.defaultdict(int, b()), 5, b()),
    ("a NumPy string", b(dist_type=np.str_("b")), 5, b()),
    ("empty, between others", b(proc_grid_size=3, proc_grid_rank=1, start=5), 0,
     b(proc_grid_size=3, proc_grid_rank=1, start=5)),
    ("an empty dict", {}, 4, b(size=4, proc_grid_size=1, stop=4)),
    ("a block of 1 is the default", c(block_size=1, start=1), 5, c(block_size=None, start=1)),
    ("start past the end", c(size=2, start=3), 0, c(size=2, start=3)),
    ("start at the end", c(size=2, start=2), 0, c(size=2, start=3)),
    ("cyclic ignores stop and padding", c(stop="x", padding=-1), 4, c()),
    ("a start beyond 64 bits", c(block_size=2**62, proc_grid_rank=7, proc_grid_size=8,
     start=7 * 2**62), 0, c(block_size=2**62, proc_grid_rank=7, proc_grid_size=8,
     start=7 * 2**62)),
    ("one_to_one of NumPy", u(one_to_one=np.True_), 5, u(one_to_one=True)),
    ("many to one is the default", u(one_to_one=False), 5, u()),
]  # fmt: skip


@pytest.mark.parametrize("entries, extent, meant", [row[1:] for row in SAME],
                         ids=[row[0] for row in SAME])  # fmt: skip
def test_read_and_written_again(entries, extent, meant):
    meant = {key: value for key, value in meant.items() if value is not None}
    assert read(entries, extent) == comparable([meant])[0]


@pytest.mark.parametrize("key", ["size", "proc_grid_size", "proc_grid_rank", "start", "stop"])
@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.uint64, np.intp])
def test_numpy_integers_are_ints(key, kind):
    assert read(b(**{key: kind(b()[key])}), 5) == b()


INDICES = [
    FIVE, tuple(FIVE), np.array(FIVE), np.array(FIVE, np.int16), np.array(FIVE, ">i4"),
    np.array(FIVE)[::-1][::-1], np.repeat(FIVE, 3)[::3], array.array("h", FIVE),
    memoryview(np.array(FIVE)), [np.int8(label) for label in FIVE], collections.UserList(FIVE),
]  # fmt: skip


@pytest.mark.parametrize("indices", INDICES, ids=lambda value: type(value).__name__)
def test_indices_of_any_integer_kind(indices):
    assert read(u(indices=indices), 5)["indices"] == ("int64", FIVE)


@pytest.mark.parametrize(
    "indices", [range(5), np.arange(5, dtype=np.uint8), bytes(range(5)), bytearray(range(5))]
)
def test_indices_that_count(indices):
    assert read(u(indices=indices), 5)["indices"] == ("int64", [0, 1, 2, 3, 4])


@pytest.mark.parametrize(
    "indices",
    [[], (), range(0), np.zeros(0), np.zeros(0, bool), np.zeros(0, "U3"), array.array("d"), b""],
    ids=repr,
)
@pytest.mark.parametrize("size", [0, 10])
def test_no_indices_of_any_format(indices, size):
    assert read(u(indices=indices, size=size), 0)["indices"] == ("int64", [])


@pytest.mark.parametrize("version", ["0.10.0", "0.10.9", "0.11.0", "0.99.1", "1.0.0", "1.12.3"])
def test_later_versions_have_the_current_meaning(version):
    assert read(PADDED, 6, version) == PADDED


@pytest.mark.parametrize("version", ["0.9.0", "0.9.1", "0.9.12"])
def test_old_versions_have_the_old_meaning(version):
    assert read(b(padding=(0, 1)), 6, version) == b(padding=(0, 1))
    assert read(c(periodic=True), 4, version)["periodic"] is True


@pytest.mark.parametrize(
    "entries, extent",
    [
        (n(), 5),
        (n(padding=(1, 1)), 5),
        (n(padding=(1, 1), periodic=True), 7),
        (n(proc_grid_size="x", start=-1), 5),
        (b(padding=(2, 1), periodic=True), 8),
    ],
)
def test_old_dimensions(entries, extent):
    found = read(entries, extent, OLD)
    assert found["size"] == entries["size"]
    assert found.get("padding", (0, 0)) == entries.get("padding", (0, 0))


def test_dim_data_as_a_list():
    validate(export([b(), {}], (5, 2)))


@pytest.mark.parametrize("dtype", ["f4", "O", "?", "U3", "V5", "i4,f8", "c16", ">f8", "g", "e"])
def test_buffers_of_any_format(dtype):
    validate({"__version__": "0.10.0", "buffer": np.zeros(5, dtype), "dim_data": (b(),)})


@pytest.mark.parametrize("buffer", [b"abcde", bytearray(5), array.array("d", FIVE)])
def test_buffers_of_other_makers(buffer):
    validate({"__version__": "0.10.0", "buffer": buffer, "dim_data": (b(),)})
