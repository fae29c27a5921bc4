"""NumPy on all threads: an array in parts, each done by a thread, where NumPy lets others run."""

from __future__ import annotations

import contextvars
import functools
import itertools
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy

from dappled._array import core

# Elements from which on threads are worth starting.
LARGE = 1 << 17


def threads() -> int:
    """How many threads may compute."""
    return core.cpu()[1]  # type: ignore[no-any-return]


def each(function: Callable[..., Any], parts: Sequence[Any]) -> list[Any]:
    """What a function makes of each part, one thread a part."""
    if len(parts) < 2:
        return [function(part) for part in parts]
    pool = ThreadPoolExecutor(len(parts))
    try:
        # `numpy.errstate` is a part of the context.
        run = [functools.partial(contextvars.copy_context().run, function) for _ in parts]
        running = [submit(pool, act, part) for act, part in zip(run, parts, strict=True)]
        return [one.result() for one in running]
    finally:
        # NumPy can't be interrupted: its threads end by themselves, and what they write is dropped.
        pool.shutdown(wait=not isinstance(sys.exception(), KeyboardInterrupt), cancel_futures=True)


def submit(pool: ThreadPoolExecutor, function: Callable[..., Any], part: Any) -> Future[Any]:
    """Gives work to a pool; MemoryError where there is no memory for another of its threads."""
    try:
        return pool.submit(function, part)
    except RuntimeError as error:
        raise MemoryError(f"Unable to allocate the memory of a thread: {error}") from None


def shares(length: int) -> list[slice]:
    """So many elements in as many parts as there are threads."""
    ends = numpy.linspace(0, length, min(threads(), max(length, 1)) + 1).astype(int)
    return [slice(start, stop) for start, stop in itertools.pairwise(ends)]


def plain(array: Any) -> Any:
    """The elements of an array in one process as NumPy's contiguous row, in C order."""
    memory = core.unwrap(array)
    return numpy.ascontiguousarray(memory).reshape(-1)


def unwritten(shape: tuple[int, ...], dtype: Any) -> tuple[Any, Any]:
    """Our array in one process, to be written, and its memory as NumPy's: best used before."""
    made = core.unwritten(shape, dtype)
    made = core.wrap(numpy.empty(shape, dtype), True) if made is None else made
    return made, core.unwrap(made, writeable=True)


def scratch(shape: tuple[int, ...], dtype: Any) -> Any:
    """Memory to be written, best used before: to fill new pages takes longer than most work."""
    made = core.scratch(shape, dtype)
    return numpy.empty(shape, dtype) if made is None else made


def as_bytes(array: Any) -> Any:
    """A row of elements as numbers of as many bytes; None where there are none such."""
    kind = _SIZES.get(array.dtype.itemsize)
    fits = kind and array.flags.carray and not array.dtype.hasobject and array.dtype.kind != "T"
    return array.view(kind) if fits else None


def readable(array: Any) -> Any:
    """The same, only to be read."""
    kind = _SIZES.get(array.dtype.itemsize)
    fits = kind and array.flags.c_contiguous and array.flags.aligned and array.dtype.kind in "biufc"
    return array.view(kind) if fits else None


def places(mask: Any) -> Any:
    """The places that a mask chooses, in NumPy's array."""
    made = numpy.empty(core.count_chosen(mask), numpy.int64)
    core.places(mask, made)
    return made


def put_rows(target: Any, numbers: Any, values: Any) -> None:
    """Writes rows by their numbers, all of which are there."""
    given = readable(values) if target.ndim == 1 else None
    if given is None or not len(numbers):
        target[numbers] = values
    else:
        core.put_items(target.view(given.dtype), numbers, given)


def rows_at(values: Any, numbers: Any) -> Any:
    """Rows by their numbers, all of which are there."""
    source = readable(values.reshape(-1)) if values.flags.c_contiguous else None
    if source is None or not len(numbers) or not values.size:
        return values[numbers]
    made = numpy.empty((len(numbers), *values.shape[1:]), values.dtype)
    width = values.size // len(values)
    core.take_rows(source, width, numbers, made.reshape(-1).view(source.dtype))
    return made


_SIZES = {1: "u1", 2: "u2", 4: "u4", 8: "u8", 16: "c16"}
