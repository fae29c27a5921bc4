"""`a.flat`: the elements of an array in C order."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy

from dappled._dispatch.convert import NumPyCall, Proxy
from dappled._dispatch.fallback import has_read_only_target
from dappled._dispatch.meta import as_meta
from dappled._dispatch.numpy_facts import COMPUTED
from dappled._ndarray.core import core, ndarray
from dappled._ndarray.memory_order import flags_of
from dappled._ranks.map_blocks import is_distributed
from dappled._routines.creation import asarray
from dappled._routines.indexing import nonzero

_PREFETCHED_ELEMENTS = 4096  # fetched together while a distributed array is iterated


class Prefetcher:
    """Elements of arrays of one shape, in C order, fetched in blocks before they are read.

    The block is fetched again after a write to one of the arrays, first one element, then twice as
    many each time: the loop that reads may write in every iteration.
    """

    def __init__(self, arrays: list[Any]) -> None:
        self._arrays = arrays
        self._rows = list(map(_row_view, arrays))
        self._start = self._stop = 0
        self._count = _PREFETCHED_ELEMENTS
        self._writes: list[int | None] = []
        self._values: list[Any] = []

    def __getitem__(self, index: int) -> list[Any]:
        """The elements of all arrays at an index, as arrays without axes."""
        writes = [one._writes for one in self._arrays]
        unknown = zip(writes, self._arrays, strict=True)
        is_written = self._writes != writes or any(
            count is None and is_distributed(one) for count, one in unknown
        )
        if is_written or not self._start <= index < self._stop:
            first = not self._writes
            self._count = (
                _PREFETCHED_ELEMENTS
                if first
                else 1
                if is_written
                else min(2 * self._count, _PREFETCHED_ELEMENTS)
            )
            self._fetch(index)
            self._writes = writes
        return [values[index - self._start, ...] for values in self._values]

    def _fetch(self, index: int) -> None:
        shape = self._arrays[0].shape
        *position, column = map(int, numpy.unravel_index(index, shape)) if shape else (0,)
        if any(
            row is None for row in self._rows
        ):  # the rest of one row, of a view that is not one row
            last = min(column + self._count, shape[-1])
            parts = [one[(*position, slice(column, last))] for one in self._arrays]
        else:
            parts = [row[index : index + self._count] for row in self._rows]
        self._values = list(map(core.unwrap, parts))
        self._start, self._stop = index, index + len(self._values[0])


def _row_view(array: Any) -> Any:
    """A one-dimensional view of an array; None if there is none."""
    try:
        return array.reshape(-1, copy=False)
    except ValueError:
        return None


class DistributedFlatIterator:
    """The elements of an array on several ranks, one by one, at their current values.

    NumPy's own iterator would read the memory that the array had at the start; a write may replace
    it.
    """

    def __init__(self, base: Any) -> None:
        self._base, self.index = base, 0
        self._coordinates = itertools.product(*map(range, base.shape))
        self.coords: tuple[int, ...] = next(self._coordinates, (0,) * base.ndim)
        self._prefetcher: Any = None

    def __next__(self) -> Any:
        if self.index == self._base.size:
            raise StopIteration
        self._prefetcher = (
            Prefetcher([self._base]) if self._prefetcher is None else self._prefetcher
        )
        result = self._prefetcher[self.index][0][()]
        self.index += 1
        past = (*self._base.shape[:1], *[0] * (self._base.ndim - 1))
        self.coords = next(self._coordinates, past)
        return result


def _normalise_key(key: Any, size: int) -> Any:
    """A key with lists as arrays, one-element tuples unpacked, and masks as index arrays."""
    key = key[0] if type(key) is tuple and len(key) == 1 else key
    key = numpy.asarray(key) if type(key) is list and key else key
    is_mask = _is_array(key) and key.dtype == bool and key.shape == (size,)
    return nonzero(asarray(key))[0] if is_mask else key


def _is_plain(key: Any) -> bool:
    if isinstance(key, ndarray | numpy.ndarray):
        return key.ndim > 0 and key.dtype.kind in "iu"
    return type(key) is int or isinstance(key, slice | numpy.integer)


def _is_array(key: Any) -> bool:
    return isinstance(key, ndarray | numpy.ndarray)


def _read(base: Any, key: Any) -> Any:
    """Elements of a distributed array."""
    if not _is_array(key):
        as_meta(base).flat[key]  # NumPy's error for an invalid key
    try:
        result = base.reshape(-1)[key]
    except IndexError as error:
        raise IndexError(str(error).replace("axis 0 with size", "size")) from None
    return result.copy() if isinstance(key, slice) else result


def write_flat_key(base: Any, key: Any, value: Any) -> None:
    """Writes values, repeated as needed, into elements of a distributed array."""
    count = key.size if _is_array(key) else numpy.size(as_meta(base).flat[key])
    is_row = flags_of(base).c_contiguous
    row = base.reshape(-1, copy=not is_row)
    if _is_array(key) or isinstance(key, slice):
        value = value if isinstance(value, ndarray) else core.wrap(numpy.asarray(value, base.dtype))
        if not value.size:  # nothing is written, wherever
            return
        value = numpy.resize(value, count) if value.ndim else value
        row[key.reshape(-1) if _is_array(key) else key] = value
    else:
        row[key] = _as_element(value, base.dtype)
    if not is_row:
        base[...] = row.reshape(base.shape)


def _as_element(value: Any, dtype: Any) -> Any:
    """A value as a single element, or NumPy's error."""
    if isinstance(value, ndarray) and value.size != 1:
        raise ValueError("Error setting single item of array.")
    element = numpy.zeros(1, dtype)
    element.flat[0] = core.unwrap(value) if isinstance(value, ndarray) else value
    return element[0]


class flatiter(Proxy):  # the name is NumPy's
    """The elements of an array in C order. Indexing copies, as NumPy's does; assigning writes."""

    __slots__ = ("_iterator", "base")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, base: Any) -> None:
        self.base = base
        self._iterator: Any = None

    @property
    def _numpy(self) -> Any:
        return core.unwrap(self.base, writeable=True).flat

    @property
    def _numpy_or_distributed(self) -> Any:
        if self._iterator is None:
            self._iterator = DistributedFlatIterator(self.base) if core.ranks() > 1 else self._numpy
        return self._iterator

    @property
    def index(self) -> int:
        """The index of the next element."""
        return self._numpy_or_distributed.index  # type: ignore[no-any-return]

    @property
    def coords(self) -> tuple[int, ...]:
        """The coordinates of the next element."""
        return self._numpy_or_distributed.coords  # type: ignore[no-any-return]

    def copy(self) -> Any:
        """The elements as a new array of one axis."""
        return self.base.copy().reshape(-1)

    def __len__(self) -> int:
        return self.base.size  # type: ignore[no-any-return]

    def __iter__(self) -> Any:
        return self if core.ranks() > 1 else self._numpy_or_distributed

    def __next__(self) -> Any:
        return next(self._numpy_or_distributed)

    def __getitem__(self, key: Any) -> Any:
        if is_distributed(self.base) and _is_plain(plain := _normalise_key(key, len(self))):
            return _read(self.base, plain)
        if type(key) is int and not self.base.dtype.hasobject:
            return self._numpy[key]
        numpy_call = NumPyCall("flatiter.__getitem__")
        return numpy_call.from_numpy(numpy_call.to_numpy(self.base).flat[numpy_call.to_numpy(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        if (
            is_distributed(self.base)
            and _is_plain(plain := _normalise_key(key, len(self)))
            and self.base._writeable
        ):
            return write_flat_key(self.base, plain, value)
        if has_read_only_target([self.base]):
            as_meta(self.base).flat[as_meta(key)] = as_meta(value)
        numpy_call = NumPyCall("flatiter.__setitem__")
        target = numpy_call.to_numpy(self.base, written=True).flat
        target[numpy_call.to_numpy(key)] = numpy_call.to_numpy(value)
        numpy_call.write_back()

    def __array__(self, dtype: Any = None, /, *, copy: bool | None = None) -> Any:
        return numpy.array(self._numpy.__array__(), dtype=dtype, copy=copy)


def _comparison(compare: Callable[[Any, Any], Any]) -> Callable[[flatiter, Any], Any]:
    def compared(self: flatiter, other: Any) -> Any:
        row = self.base.reshape(-1)
        return compare(row, other.base.reshape(-1) if isinstance(other, flatiter) else other)

    return compared


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(flatiter, f"__{_name}__", _comparison(getattr(operator, _name)))


def _assign(array: Any, value: Any) -> None:
    if is_distributed(array) and array._writeable and numpy.size(value):
        return write_flat_key(array, slice(None), value)
    if has_read_only_target([array]):
        as_meta(array).flat = as_meta(value)
    numpy_call = NumPyCall("ndarray.flat")
    target = numpy_call.to_numpy(array, written=True)
    target.flat = numpy_call.to_numpy(value)
    numpy_call.write_back()


flat = property(flatiter, _assign, doc=numpy.ndarray.flat.__doc__)


class ndenumerate(numpy.ndenumerate):  # the name is NumPy's
    __doc__ = numpy.ndenumerate.__doc__
    __execution__ = COMPUTED

    def __init__(self, arr: Any) -> None:
        self.iter: Any = asarray(arr).flat
