"""`nditer` over arrays on several ranks: a few elements are fetched at a time, as it is read.

With `external_loop` there are rows instead of elements, which may be all there is: these are arrays
of ours, and stay in pieces.

What is rare (buffers, dtypes that are asked for) NumPy's own does, which has the arrays whole; so
it does whatever an iterator is asked for that is not here.
"""

from __future__ import annotations

import math
from typing import Any

import numpy

from dappled._array import ndarray
from dappled._broadcasting import broadcast_to
from dappled._creation import asarray
from dappled._crossing import Crossing
from dappled._flat import Ahead
from dappled._line import called_by_user
from dappled._order import strides_of

_FLAGS = {"multi_index", "c_index", "f_index", "external_loop", "refs_ok", "zerosize_ok"}


def reading(op: Any, flags: Any = None, op_flags: Any = None, *args: Any, **kwargs: Any) -> Any:
    """An iterator over arrays on several ranks; None if NumPy's has to do it."""
    given = list(op) if isinstance(op, list | tuple) else [op]
    words = {word for one in op_flags or () for word in ([one] if isinstance(one, str) else one)}
    known = _FLAGS.issuperset(flags or ()) and words <= {"readonly"} and not args
    if not known or kwargs.keys() - {"order"} or any(one is None for one in given):
        return None
    if not any(isinstance(one, ndarray) for one in given):
        return None
    arrays = list(map(asarray, given))
    try:
        shape = numpy.broadcast_shapes(*(one.shape for one in arrays))
    except ValueError:  # NumPy has words for it
        return None
    order = kwargs.get("order", "K")
    if order not in ("A", "C", "F", "K") or not all(shape):
        return None
    like = list(map(_without_elements, arrays))
    ways = _ways(like, shape, order)
    if "external_loop" not in (flags or ()):
        return Reading(arrays, shape, ways, flags or ())
    first = called_by_user(numpy.nditer, like, flags, order=order).value
    step = int((first[0] if isinstance(first, tuple) else first).size)
    return ReadingRows(arrays, shape, ways, flags, step)


def _without_elements(array: Any) -> Any:
    """An array of NumPy's with the same strides, by which an iterator is planned, and no memory."""
    return numpy.lib.stride_tricks.as_strided(
        numpy.empty(1, array.dtype), array.shape, strides_of(array)
    )


def _ways(like: list[Any], shape: tuple[int, ...], order: Any) -> list[tuple[int, bool]]:
    """The axes in the order that NumPy's iterator has them, the innermost last, and whether it goes
    along each of them from its end: it looks at strides alone.
    """
    theirs: Any = numpy.nditer(like, ["multi_index", "refs_ok"], order=order)
    start, inner, ways = theirs.multi_index, 1, []
    left = [axis for axis, length in enumerate(shape) if length > 1]
    while left:
        theirs.iterindex = inner
        axis = next(axis for axis in left if theirs.multi_index[axis] != start[axis])
        ways.append((axis, start[axis] > 0))
        left.remove(axis)
        inner *= shape[axis]
    rest = [(axis, False) for axis, length in enumerate(shape) if length == 1]
    return rest + ways[::-1]


class Reading:
    """An iterator with NumPy's members."""

    _step = 1  # elements that it goes on by

    def __init__(self, arrays: list[Any], shape: tuple[int, ...], ways: Any, flags: Any) -> None:
        self.operands, self.nop, self.itersize = tuple(arrays), len(arrays), math.prod(shape)
        self.dtypes = tuple(one.dtype for one in arrays)
        self.has_multi_index = "multi_index" in flags
        self.has_index = bool({"c_index", "f_index"} & {*flags})
        self._shape, self._ways, self._flags = shape, ways, list(flags)
        turns = {axis: slice(None, None, -1 if is_back else 1) for axis, is_back in ways}
        turn, axes = tuple(turns[axis] for axis in sorted(turns)), [axis for axis, _ in ways]
        self._views = [broadcast_to(one, shape)[turn].transpose(axes) for one in arrays]
        self._ahead = Ahead(self._views)
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
        return self._ahead[self.iterindex][number]

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
        lengths = [self._shape[axis] for axis, _ in self._ways]
        place = [0] * len(lengths)
        steps = numpy.unravel_index(self.iterindex, lengths) if lengths else ()
        for (axis, is_back), step in zip(self._ways, steps, strict=True):
            place[axis] = self._shape[axis] - 1 - int(step) if is_back else int(step)
        return tuple(place)

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

    def __init__(self, arrays: Any, shape: Any, ways: Any, flags: Any, step: int) -> None:
        self._step = step
        super().__init__(arrays, shape, ways, flags)
        self._rows = [one.reshape(-1) for one in self._views]

    def _at(self, number: int) -> Any:
        return self._rows[number][self.iterindex : self.iterindex + self._step]

    def _go_on(self, theirs: Any) -> None:
        for _ in range(self.iterindex // self._step):  # it refuses to go there at once
            theirs.iternext()
