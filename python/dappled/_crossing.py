"""One call into NumPy: our arrays go over as NumPy's, and what comes back is ours.

Arrays are found in lists, tuples and dicts too. Whatever NumPy hands back as the very object that
it was given (an `out`, for example) comes back as the very object that the user gave. Subclasses
of NumPy's array (`matrix`, `MaskedArray`, `recarray`, `memmap`) stay NumPy's: a mask or a file
would be lost. Functions that the user hands over get our arrays, as everywhere.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Collection
from typing import Any

import numpy

from dappled._array import core, is_gathered, ndarray, wrapped
from dappled._comm import together
from dappled._config import note_gather
from dappled._foreign import as_ours, is_only_made, takes_part
from dappled._lending import lent
from dappled._order import flags_of
from dappled._tables import PROXIED

# What a list may be full of without being searched for arrays.
_PLAIN = {bool, int, float, complex, str, bytes, type(None), *numpy.sctypeDict.values()}
_FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial, core.function)


# Who holds a result while it is handed back: the caller, this module, and who counts.
_HOLDERS = 3


class Proxy:
    """An object of ours around one of NumPy's."""

    _numpy: Any
    _kind: type

    def _hold(self, value: Any) -> None:
        """Takes the object of NumPy's that this one stands for."""
        object.__setattr__(self, "_numpy", value)


@functools.cache
def proxy_of(kind: Any) -> type[Proxy] | None:
    """The class of ours around objects of a class of NumPy's, where there is one."""
    if f"{kind.__module__}.{kind.__qualname__}" not in PROXIED:
        return None
    from dappled._proxy import proxy  # which itself needs crossings

    return proxy(kind)


class Crossing:
    """What one call has handed over."""

    __slots__ = (
        "_copies",
        "_function",
        "_lends",
        "_ours",
        "_targets",
        "_theirs",
        "_writeable",
        "_written",
    )

    def __init__(self, function: str, writeable: bool = False, lends: bool = False) -> None:
        self._function = function
        self._writeable = writeable
        self._lends = lends  # to a library, which may write what it is given
        self._theirs: dict[int, Any] = {}  # by the id of our array
        self._ours: dict[int, tuple[Any, Any]] = {}  # by the id of theirs, which is kept alive
        self._written: list[Any] = []
        self._targets: list[Any] = []  # what NumPy writes into, as it sees it
        self._copies: list[Any] = []  # of arrays that do not see what is written there

    def over(self, value: Any, written: bool = False) -> Any:
        """A value as NumPy takes it; one that NumPy writes into is written back at the end.

        Values that are written are handed over first. What comes after them is copied where it
        may share memory with them: every source is read before anything is written.
        """
        if isinstance(value, ndarray):
            return self._array_over(value, written)
        if isinstance(value, numpy.ndarray):
            return self._array_of_theirs(value, written)
        kind = type(value)
        if kind is list or isinstance(value, tuple):
            return self._sequence_over(value, written)
        if kind is dict:
            return {key: self.over(item, written) for key, item in value.items()}
        if isinstance(value, Proxy):
            return self._disjoint(self._pair(value, value._numpy))
        if isinstance(value, _FUNCTIONS):
            return self._callback(value)
        if issubclass(kind, type):
            return _class_over(value)
        made = as_ours(value, is_only_made)
        return value if made is value else self._array_over(made, False)

    def all_over(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        written: Collection[Any],
        targets_first: bool = True,
    ) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of a call, of which some are written, by their places or names."""
        named: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        order = sorted(named, key=lambda key: (key in written) != targets_first)
        made = {key: self.over(named[key], key in written) for key in order}
        return [made[place] for place in range(len(args))], {name: made[name] for name in kwargs}

    def back(self, value: Any, holders: int = _HOLDERS) -> Any:
        """A value of NumPy's as ours; an array that nobody else holds is ours alone.

        A function that may return a view shares the memory of what others hold, on every rank.
        """
        kind: Any = type(value)
        if id(value) in self._ours:
            return self._ours[id(value)][1]
        if kind is numpy.ndarray:
            alone = _is_alone(value, holders)
            return self._array_back(value, alone)
        if kind is list or isinstance(value, tuple):
            if _PLAIN.issuperset(map(type, value)):
                return value
            return _rebuilt(value, [self.back(item, _HOLDERS + 1) for item in value])
        if kind is dict:
            items = {key: self.back(item) for key, item in value.items()}
            return value if all(items[key] is value[key] for key in value) else items
        if proxy := proxy_of(kind):
            return around(proxy, value)
        if core.ranks() > 1 and isinstance(value, numpy.ndarray):
            return self._apart(value)
        return value

    def write_back(self) -> None:
        """Where NumPy wrote into a copy, the copy is written into the array."""
        for array in filter(_is_writeable, self._written):
            array[...] = self._theirs[id(array)]

    def _array_over(self, array: Any, written: bool) -> Any:
        if id(array) in self._theirs and not written:
            return self._disjoint(self._theirs[id(array)])
        if gathered := is_gathered(array):
            together(self._function)
            if array.size > 1:  # one element is sent like any other
                note_gather(self._function, array)
        theirs = core.unwrap(array, writeable=written or self._writeable)
        if written and array._held is None and (gathered or core.ranks() > 1):
            self._written.append(array)
            theirs = _to_be_written(theirs, array, gathered)
        elif gathered and self._lends:
            theirs = lent(array, theirs)
        if core.ranks() > 1 and array._held is None and not array._shared:
            self._copies.append(theirs)
        if written:
            self._targets.append(theirs)
            return self._pair(array, theirs)
        return self._disjoint(self._pair(array, theirs))

    def _array_of_theirs(self, array: Any, written: bool) -> Any:
        if written:
            self._targets.append(array)
            return self._pair(array, array)  # the program's own, which it gets back
        return self._disjoint(array)

    def _disjoint(self, theirs: Any) -> Any:
        """An array of NumPy's that is read, copied if it may share memory with a target."""
        for target in self._targets:
            theirs = core.disjoint(target, theirs)
        return theirs

    def _array_back(self, value: Any, alone: bool) -> Any:
        if core.ranks() == 1:
            return core.wrap(value, alone)
        if self._writeable and not alone and not self._is_copied(value):
            return core.share(value)
        made = wrapped(value)
        # That is a copy: what should be seen in an array that NumPy holds, as a field of a
        # structure, may not be written there.
        if value.base is not None and made._held is None:
            held = [theirs for theirs, ours in self._ours.values() if _is_held(ours)]
            if any(numpy.may_share_memory(value, theirs) for theirs in held):
                made._writeable = False
        return made

    def _is_copied(self, value: Any) -> bool:
        """Whether an array sees the memory of a copy that was made for this call."""
        return any(numpy.may_share_memory(value, copy) for copy in self._copies)

    def _apart(self, value: Any) -> Any:
        """A masked array or a matrix with memory of its own, where that of ours can't be written;
        of other classes what is written there would be lost.
        """
        given = [theirs for theirs, _ in self._ours.values() if isinstance(theirs, numpy.ndarray)]
        if not any(numpy.may_share_memory(value, theirs) for theirs in given):
            return value
        if takes_part(value):
            return value if value.flags.writeable else value.copy()
        value.flags.writeable = False
        return value

    def _pair(self, ours: Any, theirs: Any) -> Any:
        self._theirs[id(ours)] = theirs
        self._ours[id(theirs)] = theirs, ours
        return theirs

    def _sequence_over(self, value: Any, written: bool) -> Any:
        if _PLAIN.issuperset(map(type, value)):
            return value
        return _rebuilt(value, [self.over(item, written) for item in value])

    def _callback(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def called_by_numpy(*args: Any, **kwargs: Any) -> Any:
            crossing = Crossing(self._function)
            ours = function(*self.back(args), **self.back(kwargs))
            return crossing.over(ours)

        return called_by_numpy


def _class_over(kind: type) -> type:
    if kind is ndarray:
        return numpy.ndarray
    return kind._kind if issubclass(kind, Proxy) else kind


def _is_alone(array: Any, holders: int) -> bool:
    """Whether an array and its memory are held by nobody but those who hand it back."""
    if sys.getrefcount(array) > holders + 1:  # one more here
        return False
    base = array.base
    if base is None:
        return bool(array.flags.owndata)
    return type(base) is numpy.ndarray and base.flags.owndata and sys.getrefcount(base) == 3


def _to_be_written(values: Any, array: Any, own: bool) -> Any:
    """Values in memory of their own, as contiguous as the array: some functions ask for that."""
    flags = flags_of(array)
    c_order, f_order = flags.c_contiguous, flags.f_contiguous
    if not array._writeable or (own and c_order):
        return values
    if c_order or f_order:
        return values.copy(order="C" if c_order else "F")
    apart = numpy.empty((*values.shape, 2), values.dtype)[..., 0]
    apart[...] = values
    return apart


def _is_writeable(array: Any) -> bool:
    return array._writeable  # type: ignore[no-any-return]


def _is_held(value: Any) -> bool:
    return isinstance(value, ndarray) and value._held is not None


def around(kind: type[Proxy], value: Any) -> Proxy:
    """An object of NumPy's in a proxy."""
    made = kind.__new__(kind)
    made._hold(value)
    return made


def _rebuilt(sequence: Any, items: list[Any]) -> Any:
    """The items in a sequence of the same kind: the same one if nothing has changed."""
    if all(new is old for new, old in zip(items, sequence, strict=True)):
        return sequence
    kind = type(sequence)
    return kind._make(items) if hasattr(kind, "_make") else kind(items)
