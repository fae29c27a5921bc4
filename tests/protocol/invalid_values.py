"""Invalid values for exports: wrong types, out of range, huge or hostile."""

import array
import collections
import decimal
import fractions
import itertools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np


class Raising:
    """Every question that a reader might ask raises."""

    def _raise(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("hostile")

    __repr__ = __str__ = __len__ = __index__ = __int__ = __float__ = __bool__ = _raise
    __getitem__ = __iter__ = __contains__ = __buffer__ = __format__ = __call__ = _raise
    __eq__ = __lt__ = __add__ = __distarray__ = _raise
    __array_interface__ = property(_raise)
    __hash__ = object.__hash__


class Exiting(Raising):
    """The same with an exception that is no Exception's relative in meaning."""

    def _raise(self, *args: Any, **kwargs: Any) -> Any:
        raise MemoryError("hostile")

    __repr__ = __str__ = __len__ = __index__ = __iter__ = __buffer__ = _raise


class Endless:
    """A sequence that says it is long and never ends."""

    def __len__(self) -> int:
        return 2**62

    def __getitem__(self, index: int) -> int:
        return 0


class RaisingDict(dict):
    """A dict whose methods raise; what it holds can only be read past them."""

    hostile = True
    __getitem__ = __iter__ = __len__ = __contains__ = keys = items = get = Raising._raise
    __repr__ = Raising._raise


class Odd(int):
    """An int, though it does not print."""

    __repr__ = __str__ = Raising._raise


class OddText(str):
    """A str, though it does not print."""

    __repr__ = __str__ = Raising._raise


def released() -> memoryview:
    view = memoryview(b"gone")
    view.release()
    return view


def released_pickle() -> pickle.PickleBuffer:
    buffer = pickle.PickleBuffer(b"gone")
    buffer.release()
    return buffer


def endless_list() -> list[Any]:
    """A list that contains itself."""
    found: list[Any] = [0]
    found.append(found)
    return found


def deep_list(depth: int = 50_000) -> list[Any]:
    found: list[Any] = []
    for _ in range(depth):
        found = [found]
    return found


DEEP = deep_list()
LONG = "x" * 100_000

PLAIN: list[Any] = [
    None, True, False, 0, 1, 2, 3, 5, -1, -2, 2**31, 2**62, -(2**62), 2**70, -(2**70), 10**30,
    0.0, 1.0, 2.5, float("nan"), float("inf"), -0.0, 1j, Ellipsis, NotImplemented, int, len,
    "", "0", "1", "b", "c", "u", "n", "B", "bb", "block", "0.10.0", "\ud800", "\0", LONG,
    b"", b"b", b"\x00\x01", bytearray(b"\x02"), decimal.Decimal(1), fractions.Fraction(2, 1),
    (), (0,), (0, 0), (1, 1), (0, 1), (1, 0), (2, 3), (0, 0, 0), (True, 0), (0, None), (0.0, 0),
    (-1, 0), (0, -1), (2**62, 2**62), (2**70, 0), ("0", "0"), ((0, 0), 0), [0, 0], [1, 1], [0],
    [0, 1, 2], [1, 0], [-5, 9], [0, 0, 0], [0.0, 1.0], [True, False], [[0], [1]], [None], DEEP,
    [2**70, 1], [2**62, -(2**62)], {1, 2}, frozenset([1]), {"a": 1}, {1: 2}, {"size": 3},
    range(0), range(2), range(3), range(2**62), range(2**70), range(-(2**62), 2**62),
    np.int8(1), np.int16(2), np.int32(0), np.int64(3), np.uint8(1), np.uint64(2), np.intp(-1),
    np.bool_(True), np.bool_(False), np.float16(1), np.float32(1), np.float64(2),
    np.longdouble(1), np.complex64(1), np.str_("b"), np.str_("0.9.0"), np.bytes_(b"b"),
    np.datetime64(1, "s"), np.timedelta64(1, "s"), np.void(b"ab"),
    Odd(0), Odd(2), OddText("b"), OddText("c"), OddText("0.10.0"), OddText("x"),
]  # fmt: skip

MADE: list[Callable[[], Any]] = [
    object, Raising, Raising, Exiting, Endless, RaisingDict, endless_list, released,
    released_pickle, dict, list, collections.OrderedDict, lambda: collections.defaultdict(int),
    lambda: collections.UserDict(a=1), lambda: iter([0, 1]), itertools.count,
    lambda: itertools.repeat(0), lambda: (i for i in range(2)),
    lambda: [Raising(), Raising()], lambda: (Raising(), 0), lambda: {"dist_type": Raising()},
    lambda: np.arange(3), lambda: np.arange(2, dtype=np.uint8), lambda: np.arange(6)[::-2],
    lambda: np.arange(2, dtype=">i4"), lambda: np.arange(3.0), lambda: np.arange(3) > 1,
    lambda: np.zeros((2, 2), int), lambda: np.array(["2001-01-01"], "M8[D]"),
    lambda: np.array([1, 2], "m8[s]"), lambda: np.array([2**63 + 1, 0], np.uint64),
    lambda: np.zeros(0), lambda: np.zeros(2, "i4,f8"), lambda: np.array(["a"]),
    lambda: array.array("i", [1, 0]), lambda: array.array("d", [1.0]), lambda: array.array("d"),
    lambda: memoryview(b"\x00\x01"), lambda: memoryview(b"\x00\x01").cast("c"),
    lambda: memoryview(np.arange(4).reshape(2, 2)), lambda: np.ma.masked, lambda: np.nan,
]  # fmt: skip

POOL = len(PLAIN) + len(MADE)


def junk(choice: int) -> Any:
    """The value of a choice; objects that a reader could change are made anew."""
    choice %= POOL
    return PLAIN[choice] if choice < len(PLAIN) else MADE[choice - len(PLAIN)]()
