"""`a.flat`: an array as one row of elements, to be read, written and walked along."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy

from dappled._array import core
from dappled._crossing import Crossing, Proxy
from dappled._piecewise import in_pieces


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
    def _is_row(self) -> bool:
        """Whether the elements are a view of one axis."""
        return self.base.flags.c_contiguous  # type: ignore[no-any-return]

    @property
    def _walk(self) -> Any:
        self._walked = self._numpy if self._walked is None else self._walked
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

    def __iter__(self) -> flatiter:
        return self

    def __next__(self) -> Any:
        return next(self._walk)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice) and in_pieces(self.base):
            return self.base.reshape(-1)[key].copy()
        crossing = Crossing("flatiter.__getitem__")
        return crossing.back(crossing.over(self.base).flat[crossing.over(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        number = isinstance(value, int | float | complex | numpy.number | numpy.bool)
        if isinstance(key, slice) and number and in_pieces(self.base) and self._is_row:
            self.base.reshape(-1)[key] = value
            return
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
    crossing = Crossing("ndarray.flat")
    crossing.over(array, written=True).flat = crossing.over(value)
    crossing.write_back()


flat = property(flatiter, _assign, doc=numpy.ndarray.flat.__doc__)
