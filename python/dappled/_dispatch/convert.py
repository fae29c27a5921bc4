"""Arguments and results of one call into NumPy.

Our arrays become NumPy's, also in lists, tuples and dicts, and results become ours. An object that
NumPy returns as it was passed (an `out`, for example) comes back as the object that the user
passed. Subclasses (`matrix`, `MaskedArray`, `recarray`, `memmap`) stay NumPy's, because a mask or a
file would be lost. Callbacks get our arrays.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Collection
from typing import Any

import numpy

from dappled._compat.cpython_private import RESULT_REFERENCES, owns_memory_alone
from dappled._dispatch.numpy_facts import PROXIED
from dappled._interop.duck_arrays import as_dappled, only_converts, overrides_operators
from dappled._interop.writeback import lend
from dappled._ndarray.core import core, from_numpy, ndarray, needs_gather
from dappled._ndarray.memory_order import flags_of
from dappled._ranks.comm import check_collective
from dappled._ranks.config import warn_about_gather

# Types of list items that need no conversion.
_PLAIN = {bool, int, float, complex, str, bytes, type(None), *numpy.sctypeDict.values()}
_FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial, core.function)


class Proxy:
    """An object of ours around one of NumPy's."""

    _numpy: Any
    _kind: type

    def _hold(self, value: Any) -> None:
        """Stores NumPy's object."""
        object.__setattr__(self, "_numpy", value)


@functools.cache
def proxy_of(kind: Any) -> type[Proxy] | None:
    """Our class around a class of NumPy's; None if there is none."""
    if f"{kind.__module__}.{kind.__qualname__}" not in PROXIED:
        return None
    from dappled._dispatch.proxies import proxy  # which imports this module

    return proxy(kind)


class NumPyCall:
    """One call into NumPy, and the arrays that were converted for it."""

    __slots__ = (
        "_copies",
        "_function",
        "_lends",
        "_numpy_by_id",
        "_ours_by_id",
        "_targets",
        "_writeable",
        "_written",
    )

    def __init__(self, function: str, writeable: bool = False, lends: bool = False) -> None:
        self._function = function
        self._writeable = writeable
        self._lends = lends  # the caller is a library, which may write its arguments
        self._numpy_by_id: dict[int, Any] = {}  # by the id of our array
        # By the id of NumPy's array, which is kept alive
        self._ours_by_id: dict[int, tuple[Any, Any]] = {}
        self._written: list[Any] = []
        self._targets: list[Any] = []  # NumPy arrays that the call writes
        self._copies: list[Any] = []  # copies: writes to them do not reach our arrays

    def to_numpy(self, value: Any, written: bool = False) -> Any:
        """A value as NumPy takes it; `written` values are written back at the end.

        Written values must be converted first: later arguments are copied where they may overlap,
        so every source is read before anything is written.
        """
        if isinstance(value, ndarray):
            return self._array_to_numpy(value, written)
        if isinstance(value, numpy.ndarray):
            return self._numpy_argument(value, written)
        kind = type(value)
        if kind is list or isinstance(value, tuple):
            return self._sequence_to_numpy(value, written)
        if kind is dict:
            return {key: self.to_numpy(item, written) for key, item in value.items()}
        if isinstance(value, Proxy):
            return self._without_overlap(self._remember(value, value._numpy))
        if isinstance(value, _FUNCTIONS):
            return self._callback(value)
        if issubclass(kind, type):
            return _class_to_numpy(value)
        result = as_dappled(value, only_converts)
        return value if result is value else self._array_to_numpy(result, False)

    def convert_arguments(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        written: Collection[Any],
        targets_first: bool = True,
    ) -> tuple[list[Any], dict[str, Any]]:
        """All arguments of a call; `written` contains positions and names."""
        named: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        order = sorted(named, key=lambda key: (key in written) != targets_first)
        result = {key: self.to_numpy(named[key], key in written) for key in order}
        return [result[position] for position in range(len(args))], {
            name: result[name] for name in kwargs
        }

    def from_numpy(self, value: Any, holders: int = RESULT_REFERENCES) -> Any:
        """NumPy's value as ours; an array without other references is taken over.

        The result of a function that may return a view shares memory with other holders, on every
        rank.
        """
        kind: Any = type(value)
        if id(value) in self._ours_by_id:
            return self._ours_by_id[id(value)][1]
        if kind is numpy.ndarray:
            alone = owns_memory_alone(value, holders)
            return self._array_from_numpy(value, alone)
        if kind is list or isinstance(value, tuple):
            if _PLAIN.issuperset(map(type, value)):
                return value
            return _rebuild(value, [self.from_numpy(item, RESULT_REFERENCES + 1) for item in value])
        if kind is dict:
            items = {key: self.from_numpy(item) for key, item in value.items()}
            return value if all(items[key] is value[key] for key in value) else items
        if proxy := proxy_of(kind):
            return wrap_in_proxy(proxy, value)
        if core.ranks() > 1 and isinstance(value, numpy.ndarray):
            return self._subclass_from_numpy(value)
        return value

    def write_back(self) -> None:
        """Writes copies that NumPy has changed into their arrays."""
        for array in filter(_is_writeable, self._written):
            array[...] = self._numpy_by_id[id(array)]

    def _array_to_numpy(self, array: Any, written: bool) -> Any:
        if id(array) in self._numpy_by_id and not written:
            return self._without_overlap(self._numpy_by_id[id(array)])
        if gathered := needs_gather(array):
            check_collective(self._function)
            if array.size > 1:  # one element needs no warning
                warn_about_gather(self._function, array)
        theirs = core.unwrap(array, writeable=written or self._writeable)
        if written and array._held is None and (gathered or core.ranks() > 1):
            self._written.append(array)
            theirs = _writeable_copy(theirs, array, gathered)
        elif gathered and self._lends:
            theirs = lend(array, theirs)
        if core.ranks() > 1 and array._held is None and not array._shared:
            self._copies.append(theirs)
        if written:
            self._targets.append(theirs)
            return self._remember(array, theirs)
        return self._without_overlap(self._remember(array, theirs))

    def _numpy_argument(self, array: Any, written: bool) -> Any:
        if written:
            self._targets.append(array)
            return self._remember(array, array)  # the program's own array, which is returned
        return self._without_overlap(array)

    def _without_overlap(self, theirs: Any) -> Any:
        """A NumPy array to read, copied if it may overlap a target."""
        for target in self._targets:
            theirs = core.disjoint(target, theirs)
        return theirs

    def _array_from_numpy(self, value: Any, alone: bool) -> Any:
        if core.ranks() == 1:
            return core.wrap(value, alone)
        if self._writeable and not alone and not self._is_copied(value):
            return core.share(value)
        result = from_numpy(value)
        # The result is a copy: writes would not reach an array that NumPy holds, as a field of a
        # structure would.
        if value.base is not None and result._held is None:
            held = [theirs for theirs, ours in self._ours_by_id.values() if _is_held(ours)]
            if any(numpy.may_share_memory(value, theirs) for theirs in held):
                result._writeable = False
        return result

    def _is_copied(self, value: Any) -> bool:
        """Whether an array refers to a copy that was made for this call."""
        return any(numpy.may_share_memory(value, copy) for copy in self._copies)

    def _subclass_from_numpy(self, value: Any) -> Any:
        """A masked array or matrix with memory of its own, if ours is read-only.

        Views of other classes become read-only, because writes would be lost.
        """
        given = [
            theirs for theirs, _ in self._ours_by_id.values() if isinstance(theirs, numpy.ndarray)
        ]
        if not any(numpy.may_share_memory(value, theirs) for theirs in given):
            return value
        if overrides_operators(value):
            return value if value.flags.writeable else value.copy()
        value.flags.writeable = False
        return value

    def _remember(self, ours: Any, theirs: Any) -> Any:
        self._numpy_by_id[id(ours)] = theirs
        self._ours_by_id[id(theirs)] = theirs, ours
        return theirs

    def _sequence_to_numpy(self, value: Any, written: bool) -> Any:
        if _PLAIN.issuperset(map(type, value)):
            return value
        return _rebuild(value, [self.to_numpy(item, written) for item in value])

    def _callback(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def called_by_numpy(*args: Any, **kwargs: Any) -> Any:
            numpy_call = NumPyCall(self._function)
            ours = function(*self.from_numpy(args), **self.from_numpy(kwargs))
            return numpy_call.to_numpy(ours)

        return called_by_numpy


def _class_to_numpy(kind: type) -> type:
    if kind is ndarray:
        return numpy.ndarray
    return kind._kind if issubclass(kind, Proxy) else kind


def _writeable_copy(values: Any, array: Any, own: bool) -> Any:
    """Values in writeable memory, as contiguous as the array."""
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


def wrap_in_proxy(kind: type[Proxy], value: Any) -> Proxy:
    """NumPy's object in a proxy."""
    result = kind.__new__(kind)
    result._hold(value)
    return result


def _rebuild(sequence: Any, items: list[Any]) -> Any:
    """The items in a sequence of the same class; the same object if nothing changed."""
    if all(new is old for new, old in zip(items, sequence, strict=True)):
        return sequence
    kind = type(sequence)
    return kind._make(items) if hasattr(kind, "_make") else kind(items)
