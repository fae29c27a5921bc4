"""`a.flat`: an array as one row of elements, to be read, written and walked along."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy

from dappled._array import core, ndarray
from dappled._creation import asarray
from dappled._crossing import Crossing, Proxy
from dappled._fallback import are_kept, shadow
from dappled._order import flags_of
from dappled._piecewise import in_pieces
from dappled._tables import COMPUTED
from dappled._taking import nonzero

_AT_ONCE = 4096  # elements that are fetched together while an array in pieces is walked along


class Ahead:
    """Elements of arrays of one shape, in C order, fetched a few at a time before they are needed.

    They are fetched again when one of the arrays was written in between; first a single one, as the
    loop that reads them may write each time, then twice as many each time.
    """

    def __init__(self, arrays: list[Any]) -> None:
        self._arrays = arrays
        self._rows = list(map(_row, arrays))
        self._start = self._stop = 0
        self._count = _AT_ONCE
        self._writes: list[int | None] = []
        self._values: list[Any] = []

    def __getitem__(self, index: int) -> list[Any]:
        """The elements of all arrays at an index, as arrays without axes."""
        writes = [one._writes for one in self._arrays]
        unknown = zip(writes, self._arrays, strict=True)
        is_written = self._writes != writes or any(
            count is None and in_pieces(one) for count, one in unknown
        )
        if is_written or not self._start <= index < self._stop:
            first = not self._writes
            self._count = _AT_ONCE if first else 1 if is_written else min(2 * self._count, _AT_ONCE)
            self._fetch(index)
            self._writes = writes
        return [values[index - self._start, ...] for values in self._values]

    def _fetch(self, index: int) -> None:
        shape = self._arrays[0].shape
        *place, column = map(int, numpy.unravel_index(index, shape)) if shape else (0,)
        if any(
            row is None for row in self._rows
        ):  # the rest of one row, of a view that is not one row
            last = min(column + self._count, shape[-1])
            parts = [one[(*place, slice(column, last))] for one in self._arrays]
        else:
            parts = [row[index : index + self._count] for row in self._rows]
        self._values = list(map(core.unwrap, parts))
        self._start, self._stop = index, index + len(self._values[0])


def _row(array: Any) -> Any:
    """An array as one row that is a view of it; None if there is none."""
    try:
        return array.reshape(-1, copy=False)
    except ValueError:
        return None


class Walk:
    """The elements of an array on several ranks, one by one, as they are when it gets there.

    A few are fetched at a time. NumPy's own iterator would go on over the memory that the array had
    when it began, and a write may give the array other memory.
    """

    def __init__(self, base: Any) -> None:
        self._base, self.index = base, 0
        self._places = itertools.product(*map(range, base.shape))
        self.coords: tuple[int, ...] = next(self._places, (0,) * base.ndim)
        self._ahead: Any = None

    def __next__(self) -> Any:
        if self.index == self._base.size:
            raise StopIteration
        self._ahead = Ahead([self._base]) if self._ahead is None else self._ahead
        found = self._ahead[self.index][0][()]
        self.index += 1
        past = (*self._base.shape[:1], *[0] * (self._base.ndim - 1))
        self.coords = next(self._places, past)
        return found


def _simple(key: Any, size: int) -> Any:
    """A key, of which lists are arrays, a tuple of one is that one, and a mask of so many elements
    the numbers of what it chooses.
    """
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
    """Elements of an array in pieces."""
    if not _is_array(key):
        shadow(base).flat[key]  # which knows what is wrong with a key
    try:
        found = base.reshape(-1)[key]
    except IndexError as error:
        raise IndexError(str(error).replace("axis 0 with size", "size")) from None
    return found.copy() if isinstance(key, slice) else found


def write(base: Any, key: Any, value: Any) -> None:
    """Writes values, as often as they are needed, over elements of an array in pieces."""
    count = key.size if _is_array(key) else numpy.size(shadow(base).flat[key])
    is_row = flags_of(base).c_contiguous
    row = base.reshape(-1, copy=not is_row)
    if _is_array(key) or isinstance(key, slice):
        value = value if isinstance(value, ndarray) else core.wrap(numpy.asarray(value, base.dtype))
        if not value.size:  # nothing is written, wherever
            return
        value = numpy.resize(value, count) if value.ndim else value
        row[key.reshape(-1) if _is_array(key) else key] = value
    else:
        row[key] = _taken(value, base.dtype)
    if not is_row:
        base[...] = row.reshape(base.shape)


def _taken(value: Any, dtype: Any) -> Any:
    """A value as a single element; what that does not take NumPy refuses in its own way."""
    if isinstance(value, ndarray) and value.size != 1:
        raise ValueError("Error setting single item of array.")
    element = numpy.zeros(1, dtype)
    element.flat[0] = core.unwrap(value) if isinstance(value, ndarray) else value
    return element[0]


class flatiter(Proxy):  # the name is NumPy's
    """The elements of an array in C order. Indexing copies, as NumPy's does; assigning writes."""

    __slots__ = ("_walked", "base")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, base: Any) -> None:
        self.base = base
        self._walked: Any = None

    @property
    def _numpy(self) -> Any:
        return core.unwrap(self.base, writeable=True).flat

    @property
    def _walk(self) -> Any:
        if self._walked is None:
            self._walked = Walk(self.base) if core.ranks() > 1 else self._numpy
        return self._walked

    @property
    def index(self) -> int:
        """The number of the element that comes next."""
        return self._walk.index  # type: ignore[no-any-return]

    @property
    def coords(self) -> tuple[int, ...]:
        """The coordinates of the element that comes next."""
        return self._walk.coords  # type: ignore[no-any-return]

    def copy(self) -> Any:
        """The elements as a new array of one axis."""
        return self.base.copy().reshape(-1)

    def __len__(self) -> int:
        return self.base.size  # type: ignore[no-any-return]

    def __iter__(self) -> Any:
        return self if core.ranks() > 1 else self._walk

    def __next__(self) -> Any:
        return next(self._walk)

    def __getitem__(self, key: Any) -> Any:
        if in_pieces(self.base) and _is_plain(plain := _simple(key, len(self))):
            return _read(self.base, plain)
        if type(key) is int and not self.base.dtype.hasobject:
            return self._numpy[key]
        crossing = Crossing("flatiter.__getitem__")
        return crossing.back(crossing.over(self.base).flat[crossing.over(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        if (
            in_pieces(self.base)
            and _is_plain(plain := _simple(key, len(self)))
            and self.base._writeable
        ):
            return write(self.base, plain, value)
        if are_kept([self.base]):
            shadow(self.base).flat[shadow(key)] = shadow(value)
        crossing = Crossing("flatiter.__setitem__")
        target = crossing.over(self.base, written=True).flat
        target[crossing.over(key)] = crossing.over(value)
        crossing.write_back()

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
    if in_pieces(array) and array._writeable and numpy.size(value):
        return write(array, slice(None), value)
    if are_kept([array]):
        shadow(array).flat = shadow(value)
    crossing = Crossing("ndarray.flat")
    target = crossing.over(array, written=True)
    target.flat = crossing.over(value)
    crossing.write_back()


flat = property(flatiter, _assign, doc=numpy.ndarray.flat.__doc__)


class ndenumerate(numpy.ndenumerate):  # the name is NumPy's
    __doc__ = numpy.ndenumerate.__doc__
    __way__ = COMPUTED

    def __init__(self, arr: Any) -> None:
        self.iter: Any = asarray(arr).flat
