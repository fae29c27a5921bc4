"""`nditer` over distributed arrays: elements are fetched in blocks as they are read.

With `external_loop` it yields distributed rows. Buffers, requested dtypes and members that are
missing here use NumPy's iterator over gathered arrays.
"""

from __future__ import annotations

import math
from typing import Any

import numpy

from dappled._dispatch.callsite import call_from_user_frame
from dappled._dispatch.convert import NumPyCall
from dappled._dispatch.meta import meta
from dappled._ndarray.core import ndarray
from dappled._ndarray.flatiter import Prefetcher
from dappled._ndarray.memory_order import strides_of
from dappled._routines.broadcasting import broadcast_to
from dappled._routines.creation import asarray

_FLAGS = {"multi_index", "c_index", "f_index", "external_loop", "refs_ok", "zerosize_ok"}


def distributed_nditer(
    op: Any, flags: Any = None, op_flags: Any = None, *args: Any, **kwargs: Any
) -> Any:
    """An iterator over distributed arrays; None if NumPy's must be used."""
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
    except ValueError:  # NumPy raises the error
        return None
    order = kwargs.get("order", "K")
    if order not in ("A", "C", "F", "K") or not all(shape):
        return None
    like = [meta(one.shape, one.dtype, strides=strides_of(one)) for one in arrays]
    directions = _iteration_order(like, shape, order)
    if "external_loop" not in (flags or ()):
        return DistributedIterator(arrays, shape, directions, flags or ())
    first = call_from_user_frame(numpy.nditer, like, flags, order=order).value
    step = int((first[0] if isinstance(first, tuple) else first).size)
    return DistributedRowIterator(arrays, shape, directions, flags, step)


def _iteration_order(like: list[Any], shape: tuple[int, ...], order: Any) -> list[tuple[int, bool]]:
    """The axes in the order of NumPy's iterator, innermost last, with their directions.

    True means that an axis is iterated from its end. NumPy decides by strides alone.
    """
    theirs: Any = numpy.nditer(like, ["multi_index", "refs_ok"], order=order)
    start, inner, directions = theirs.multi_index, 1, []
    left = [axis for axis, length in enumerate(shape) if length > 1]
    while left:
        theirs.iterindex = inner
        axis = next(axis for axis in left if theirs.multi_index[axis] != start[axis])
        directions.append((axis, start[axis] > 0))
        left.remove(axis)
        inner *= shape[axis]
    rest = [(axis, False) for axis, length in enumerate(shape) if length == 1]
    return rest + directions[::-1]


class DistributedIterator:
    """An iterator with the members of `numpy.nditer`."""

    _step = 1  # elements per step

    def __init__(
        self, arrays: list[Any], shape: tuple[int, ...], directions: Any, flags: Any
    ) -> None:
        self.operands, self.nop, self.itersize = tuple(arrays), len(arrays), math.prod(shape)
        self.dtypes = tuple(one.dtype for one in arrays)
        self.has_multi_index = "multi_index" in flags
        self.has_index = bool({"c_index", "f_index"} & {*flags})
        self._shape, self._axes, self._flags = shape, directions, list(flags)
        turns = {axis: slice(None, None, -1 if is_back else 1) for axis, is_back in directions}
        turn, axes = tuple(turns[axis] for axis in sorted(turns)), [axis for axis, _ in directions]
        self._views = [broadcast_to(one, shape)[turn].transpose(axes) for one in arrays]
        self._prefetcher = Prefetcher(self._views)
        self.reset()

    def reset(self) -> None:
        """Returns to the first element."""
        self.iterindex, self.finished, self._started = 0, False, False

    def iternext(self) -> bool:
        """Advances to the next element; False at the end."""
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
        """The current element; of several operands, a tuple."""
        values = tuple(self[index] for index in range(self.nop))
        return values if self.nop > 1 else values[0]

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return tuple(self[one] for one in range(self.nop)[index])
        if self.finished:
            raise ValueError("Iterator is past the end")
        one = self._value_at(index)
        one.flags.writeable = False
        return one

    def _value_at(self, index: int) -> Any:
        """The current value of an operand."""
        return self._prefetcher[self.iterindex][index]

    def __len__(self) -> int:
        return self.nop

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: Any) -> None:
        pass

    def close(self) -> None:
        """Does nothing: there are no pending writes."""

    @property
    def multi_index(self) -> tuple[int, ...]:
        """The coordinates of the current element."""
        if not self.has_multi_index:
            raise ValueError("Iterator is not tracking a multi-index")
        return self._coordinates()

    @property
    def index(self) -> int:
        """The flat index of the current element, in C or Fortran order."""
        if not self.has_index:
            raise ValueError("Iterator does not have an index")
        order: Any = "C" if "c_index" in self._flags else "F"
        return int(numpy.ravel_multi_index(self._coordinates(), self._shape, order=order))

    def _coordinates(self) -> tuple[int, ...]:
        lengths = [self._shape[axis] for axis, _ in self._axes]
        position = [0] * len(lengths)
        steps = numpy.unravel_index(self.iterindex, lengths) if lengths else ()
        for (axis, is_back), step in zip(self._axes, steps, strict=True):
            position[axis] = self._shape[axis] - 1 - int(step) if is_back else int(step)
        return tuple(position)

    def gathered(self) -> Any:
        """NumPy's iterator over gathered operands, at the same position."""
        over = NumPyCall("dappled.nditer").to_numpy(list(self.operands))
        result: Any = numpy.nditer(over, self._flags)
        self._advance(result)
        return result

    def _advance(self, theirs: Any) -> None:
        theirs.iterindex = self.iterindex

    def __getattr__(self, name: str) -> Any:
        return getattr(self.gathered(), name)


class DistributedRowIterator(DistributedIterator):
    """An iterator over rows (`external_loop`)."""

    def __init__(self, arrays: Any, shape: Any, directions: Any, flags: Any, step: int) -> None:
        self._step = step
        super().__init__(arrays, shape, directions, flags)
        self._rows = [one.reshape(-1) for one in self._views]

    def _value_at(self, index: int) -> Any:
        return self._rows[index][self.iterindex : self.iterindex + self._step]

    def _advance(self, theirs: Any) -> None:
        for _ in range(self.iterindex // self._step):  # NumPy's iterator cannot jump there
            theirs.iternext()
