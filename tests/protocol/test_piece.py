"""`Piece`: no copy in either direction, and the canonical form."""

import gc
import weakref

import numpy as np
import pytest
from dappled.protocol import Distribution, Piece, ProtocolError, from_distarray, validate
from hypothesis import given, settings

from tests.protocol.exports import assert_plain, comparable
from tests.protocol.rule_cases import OLD, b, c, n, u
from tests.protocol.strategies import specs


class Offer:
    """A producer: anything with `__distarray__`."""

    def __init__(self, offered):
        self.offered = offered

    def __distarray__(self):
        return self.offered


def offer(buffer, *dims, version="0.10.0"):
    return Offer({"__version__": version, "buffer": buffer, "dim_data": dims})


def both_ways(buffer, *dims):
    """A piece made directly, and one read from a producer."""
    return [Piece(buffer, dims), from_distarray(offer(buffer, *dims))]


def test_writes_are_seen_on_both_sides():
    buffer = np.zeros((5, 3))
    for number, piece in enumerate(both_ways(buffer, b(), {}), start=1):
        seen = np.asarray(piece)
        assert np.shares_memory(seen, buffer)
        buffer[1, 2] = number
        assert seen[1, 2] == number
        seen[0, 0] = -number
        assert buffer[0, 0] == -number


@pytest.mark.parametrize("use", [np.asarray, memoryview, lambda piece: piece.buffer])
def test_every_door_shows_the_same_memory(use):
    buffer = np.arange(5.0)
    for piece in both_ways(buffer, b()):
        seen = np.asarray(use(piece))
        assert np.shares_memory(seen, buffer) and seen.dtype == buffer.dtype
        np.testing.assert_array_equal(seen, buffer)


def test_the_export_shows_the_same_memory():
    buffer = np.arange(5.0)
    for piece in both_ways(buffer, b()):
        assert np.shares_memory(np.asarray(piece.__distarray__()["buffer"]), buffer)


def test_read_only_stays_read_only():
    buffer = np.arange(5.0)
    buffer.flags.writeable = False
    for piece in both_ways(buffer, b()):
        assert memoryview(piece).readonly
        assert not np.asarray(piece).flags.writeable
        assert piece.__array_interface__["data"][1] is True
        exported = np.asarray(piece.__distarray__()["buffer"])
        assert not exported.flags.writeable
    assert memoryview(Piece(b"abcde", (b(),))).readonly
    assert not memoryview(Piece(bytearray(5), (b(),))).readonly


GRID = np.arange(120.0).reshape(6, 20)
LAYOUTS = [
    np.asfortranarray(GRID[:5, :3]), GRID[:5, :3], GRID[::-1, ::4][:5], GRID.T[:5, :3],
    GRID[4::-1, 10:3:-2], np.broadcast_to(np.arange(3.0), (5, 3)), np.zeros((5, 0)),
]  # fmt: skip


@pytest.mark.parametrize("buffer", LAYOUTS, ids=lambda array: str(array.strides))
def test_order_and_strides_are_kept(buffer):
    for piece in both_ways(buffer, b(), {}):
        for seen in (np.asarray(piece), np.asarray(memoryview(piece))):
            assert seen.shape == buffer.shape
            np.testing.assert_array_equal(seen, buffer)
            if buffer.size:
                assert seen.strides == buffer.strides
                assert seen.ctypes.data == buffer.ctypes.data


@pytest.mark.parametrize("dtype", ["f4", "?", "c16", ">i2", "U3", "S4", "i4,f8", "O", "e", "g"])
def test_any_dtype(dtype):
    buffer = np.zeros(5, dtype)
    for piece in both_ways(buffer, b()):
        assert np.asarray(piece).dtype == buffer.dtype
        assert memoryview(piece).format == memoryview(buffer).format


def test_the_array_interface():
    buffer = GRID[:5, ::2]
    piece = Piece(buffer, (b(), {}))
    found, meant = piece.__array_interface__, buffer.__array_interface__
    assert (found["shape"], found["typestr"]) == (meant["shape"], meant["typestr"])
    assert found["data"][0] == meant["data"][0] and found["version"] == 3
    assert (found.get("strides") or buffer.strides) == buffer.strides


def test_zero_dimensions():
    buffer = np.array(3.5)
    for piece in both_ways(buffer):
        assert piece.dim_data == ()
        seen = np.asarray(piece)
        assert seen.shape == () and np.shares_memory(seen, buffer)
        validate(piece.__distarray__())


@settings(max_examples=150)
@given(specs())
def test_exports_are_right_and_canonical(spec):
    for rank, offered in enumerate(spec.exports()):
        piece = from_distarray(Offer(offered))
        export = piece.__distarray__()
        assert validate(export) is None
        assert list(export) == ["__version__", "buffer", "dim_data"]
        assert export["__version__"] == "0.10.0" and type(export["__version__"]) is str
        assert_plain(export["dim_data"])
        assert comparable(export["dim_data"]) == comparable(spec.dim_data(rank))
        assert comparable(piece.dim_data) == comparable(export["dim_data"])


def test_a_producer_of_ours_is_a_consumer_of_ours():
    piece = Piece(np.arange(5.0), (u(one_to_one=True),))
    again = from_distarray(from_distarray(piece))
    assert np.shares_memory(np.asarray(again), np.asarray(piece))
    assert comparable(again.dim_data) == comparable(piece.dim_data)


@pytest.mark.parametrize("version", ["1.0.0", "0.10.4", "0.13.0"])
def test_later_versions_are_written_as_ours(version):
    piece = Piece(np.zeros(5), (b(),), version=version)
    assert piece.__distarray__()["__version__"] == "0.10.0"
    assert piece.__distarray__()["dim_data"] == (b(),)


@pytest.mark.parametrize("version", ["0.9.0", "0.9.3"])
@pytest.mark.parametrize(
    "entries, extent", [(b(padding=(0, 1)), 6), (c(periodic=True), 4), (n(), 5), (b(), 5)]
)
def test_the_old_version_stays_old(version, entries, extent):
    piece = Piece(np.zeros(extent), (entries,), version=version)
    export = piece.__distarray__()
    assert export["__version__"] == "0.9.0"
    assert validate(export) is None
    if entries["dist_type"] != "n":
        assert export["dim_data"] == (entries,)


def test_distributions_describe_pieces():
    distribution = Distribution((7, 6), "bc", grid_shape=(2, 3), padding=[1, None])
    for rank in range(6):
        buffer = np.zeros(distribution.local_shape(rank))
        piece = Piece(buffer, distribution.dim_data(rank))
        assert comparable(piece.dim_data) == comparable(distribution.dim_data(rank))


def test_the_piece_keeps_the_buffer_alive():
    class Owner(np.ndarray):
        pass

    buffer = np.arange(5.0).view(Owner)
    alive = weakref.ref(buffer)
    piece = Piece(buffer, (b(),))
    view = memoryview(piece)
    del buffer, piece
    gc.collect()
    assert view.tolist() == [0, 1, 2, 3, 4]
    del view
    gc.collect()
    assert alive() is None


def test_indices_are_copied_not_shared():
    """A producer that changes its list later does not change what was read."""
    indices = np.array([4, 3, 2, 1, 0])
    piece = Piece(np.zeros(5), (u(indices=indices),))
    indices[0] = 99
    assert piece.dim_data[0]["indices"].tolist() == [4, 3, 2, 1, 0]


def test_dim_data_cannot_be_changed_from_outside():
    piece = Piece(np.zeros(5), (b(),))
    piece.dim_data[0]["size"] = 99
    piece.__distarray__()["dim_data"][0]["size"] = 99
    assert piece.dim_data[0]["size"] == 10 and validate(piece.__distarray__()) is None


class Refusing:
    def __distarray__(self):
        raise KeyError("no")


class Odd:
    __distarray__ = 5


class Asking:
    def __distarray__(self, more):
        return more


STRANGERS = [object(), None, 5, np.zeros(3), Refusing(), Odd(), Asking(), Offer(None), Offer([])]


@pytest.mark.parametrize("stranger", STRANGERS, ids=lambda value: type(value).__name__)
def test_missing_export_violates_rule_l01(stranger):
    with pytest.raises(ProtocolError) as caught:
        from_distarray(stranger)
    assert caught.value.rule == "L01"


@pytest.mark.parametrize("dtype", ["M8[s]", "m8[D]"])
def test_a_dtype_without_a_buffer_form(dtype):
    for make in (lambda x: Piece(x, (b(),)), lambda x: from_distarray(offer(x, b()))):
        with pytest.raises(ProtocolError, match=r"(?i)buffer|pep 3118") as caught:
            make(np.zeros(5, dtype))
        assert caught.value.rule == "L03"


@pytest.mark.parametrize(
    "entries, version, rule",
    [
        (b(size=-1), "0.10.0", "L07"),
        ({}, OLD, "L06"),
        (b(stop=4), "1.0.0", "L11"),
        (b(), "2.0.0", "L02"),
    ],
)
def test_a_wrong_description_is_refused(entries, version, rule):
    with pytest.raises(ProtocolError) as caught:
        Piece(np.zeros(5), (entries,), version=version)
    assert caught.value.rule == rule
