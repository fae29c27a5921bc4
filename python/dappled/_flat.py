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


class Walk:
    """The elements of an array in pieces, one after the other: a few are fetched at a time."""

    def __init__(self, base: Any) -> None:
        self._base, self.index = base, 0
        self._places = itertools.product(*map(range, base.shape))
        self.coords: tuple[int, ...] = next(self._places, (0,) * base.ndim)
        self._row: Any = None
        self._values: Any = ()

    def __next__(self) -> Any:
        if self.index == self._base.size:
            raise StopIteration
        place = self.index % _AT_ONCE
        if place == 0 or self._row is None:
            self._row = self._base.reshape(-1) if self._row is None else self._row
            start = self.index - place
            self._values = core.unwrap(self._row[start : start + _AT_ONCE])
        self.index += 1
        self.coords = next(self._places, (self._base.shape[0], *[0] * (self._base.ndim - 1)))
        return self._values[place]


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
            self._walked = Walk(self.base) if in_pieces(self.base) else self._numpy
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
        return self if in_pieces(self.base) else self._walk

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
        crossing.over(self.base, written=True).flat[crossing.over(key)] = crossing.over(value)
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
    crossing.over(array, written=True).flat = crossing.over(value)
    crossing.write_back()


flat = property(flatiter, _assign, doc=numpy.ndarray.flat.__doc__)


class ndenumerate(numpy.ndenumerate):  # the name is NumPy's
    __doc__ = numpy.ndenumerate.__doc__
    __way__ = COMPUTED

    def __init__(self, arr: Any) -> None:
        self.iter: Any = asarray(arr).flat
