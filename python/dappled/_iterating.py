"""`nditer` over arrays in pieces: a few elements are fetched at a time, as it is read.

With `external_loop` there are rows instead of elements, which may be all there is: these are arrays
of ours, and stay in pieces.

What is rare (other orders of axes, buffers, dtypes that are asked for) NumPy's own does, which has
the arrays whole; so it does whatever an iterator is asked for that is not here.
"""

from __future__ import annotations

import math
from typing import Any

import numpy

from dappled._array import core
from dappled._broadcasting import broadcast_to
from dappled._creation import asarray
from dappled._crossing import Crossing
from dappled._line import called_by_user
from dappled._order import strides_of
from dappled._piecewise import in_pieces

_AT_ONCE = 4096  # elements of each operand that are fetched together
_FLAGS = {"multi_index", "c_index", "f_index", "external_loop", "refs_ok", "zerosize_ok"}


def reading(op: Any, flags: Any = None, op_flags: Any = None, *args: Any, **kwargs: Any) -> Any:
    """An iterator over arrays in pieces; None if NumPy's has to do it."""
    given = list(op) if isinstance(op, list | tuple) else [op]
    words = {word for one in op_flags or () for word in ([one] if isinstance(one, str) else one)}
    known = _FLAGS.issuperset(flags or ()) and words <= {"readonly"} and not args
    if not known or kwargs.keys() - {"order"} or any(one is None for one in given):
        return None
    if not any(map(in_pieces, given)):
        return None
    arrays = list(map(asarray, given))
    try:
        shape = numpy.broadcast_shapes(*(one.shape for one in arrays))
    except ValueError:  # NumPy has words for it
        return None
    order = _order(arrays, kwargs.get("order", "K"))
    if not order or not all(shape):
        return None
    if "external_loop" not in (flags or ()):
        return Reading(arrays, shape, order, flags or ())
    step = _inner_length(arrays, flags, kwargs.get("order", "K"))
    return ReadingRows(arrays, shape, order, flags, step)


def _inner_length(arrays: list[Any], flags: Any, order: Any) -> int:
    """The elements that NumPy's iterator gives at a time: it looks at strides alone."""
    like = numpy.lib.stride_tricks.as_strided
    few = [like(numpy.empty(1, one.dtype), one.shape, strides_of(one)) for one in arrays]
    first = called_by_user(numpy.nditer, few, flags, order=order).value
    return int((first[0] if isinstance(first, tuple) else first).size)


def _order(arrays: list[Any], order: str) -> str | None:
    """In which order axes are walked along, the last one first or last; None for another."""
    if order in ("C", "F"):
        return order
    steps = [
        [step for step, length in zip(strides_of(one), one.shape, strict=True) if length > 1]
        for one in arrays
    ]
    if order not in ("A", "K") or any(min(row, default=1) <= 0 for row in steps):
        return None
    if all(row == sorted(row, reverse=True) for row in steps):
        return "C"
    alike = len({one.shape for one in arrays}) == 1 and all(row == sorted(row) for row in steps)
    return "F" if alike else None


class Reading:
    """An iterator with NumPy's members."""

    _step = 1  # elements that it goes on by

    def __init__(self, arrays: list[Any], shape: tuple[int, ...], order: str, flags: Any) -> None:
        self.operands, self.nop, self.itersize = tuple(arrays), len(arrays), math.prod(shape)
        self.dtypes = tuple(one.dtype for one in arrays)
        self.has_multi_index = "multi_index" in flags
        self.has_index = bool({"c_index", "f_index"} & {*flags})
        self._shape, self._order, self._flags = shape, order, list(flags)
        views = [broadcast_to(one, shape) for one in arrays]
        self._rows = [(one.T if order == "F" else one).reshape(-1) for one in views]
        self._fetched: tuple[int, list[Any]] = (-1, [])
        self.reset()

    def reset(self) -> None:
        """Goes back to the first element."""
        self.iterindex, self.finished, self._started = 0, False, False

    def iternext(self) -> bool:
        """Goes on to the next element, if there is one."""
        self.finished = self.finished or self.iterindex + self._step >= self.itersize
        self.iterindex += self._step * (not self.finished)
        return not self.finished

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        if self.finished or (self._started and not self.iternext()):
            raise StopIteration
        self._started = True
        return self.value

    @property
    def value(self) -> Any:
        """The element here, of several arrays those of all."""
        values = tuple(self[number] for number in range(self.nop))
        return values if self.nop > 1 else values[0]

    def __getitem__(self, number: int | slice) -> Any:
        if isinstance(number, slice):
            return tuple(self[one] for one in range(self.nop)[number])
        if self.finished:
            raise ValueError("Iterator is past the end")
        one = self._at(number)
        one.flags.writeable = False
        return one

    def _at(self, number: int) -> Any:
        """What an operand has here."""
        place = self.iterindex % _AT_ONCE
        start = self.iterindex - place
        if self._fetched[0] != start:
            ends = slice(start, start + _AT_ONCE)
            self._fetched = start, [core.unwrap(row[ends]) for row in self._rows]
        return self._fetched[1][number][place, ...]

    def __len__(self) -> int:
        return self.nop

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: Any) -> None:
        pass

    def close(self) -> None:
        """Writes what is pending: nothing."""

    @property
    def multi_index(self) -> tuple[int, ...]:
        """The coordinates of the element here."""
        if not self.has_multi_index:
            raise ValueError("Iterator is not tracking a multi-index")
        return self._place()

    @property
    def index(self) -> int:
        """The number of the element here, in the order that was asked for."""
        if not self.has_index:
            raise ValueError("Iterator does not have an index")
        order: Any = "C" if "c_index" in self._flags else "F"
        return int(numpy.ravel_multi_index(self._place(), self._shape, order=order))

    def _place(self) -> tuple[int, ...]:
        order: Any = self._order
        return tuple(map(int, numpy.unravel_index(self.iterindex, self._shape, order)))

    def whole(self) -> Any:
        """NumPy's iterator at the same place, with all elements here."""
        over = Crossing("dappled.nditer").over(list(self.operands))
        made: Any = numpy.nditer(over, self._flags)
        self._go_on(made)
        return made

    def _go_on(self, theirs: Any) -> None:
        theirs.iterindex = self.iterindex

    def __getattr__(self, name: str) -> Any:
        return getattr(self.whole(), name)


class ReadingRows(Reading):
    """The same over rows of a length."""

    def __init__(self, arrays: Any, shape: Any, order: str, flags: Any, step: int) -> None:
        self._step = step
        super().__init__(arrays, shape, order, flags)

    def _at(self, number: int) -> Any:
        return self._rows[number][self.iterindex : self.iterindex + self._step]

    def _go_on(self, theirs: Any) -> None:
        for _ in range(self.iterindex // self._step):  # it refuses to go there at once
            theirs.iternext()
