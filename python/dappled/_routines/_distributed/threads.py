"""NumPy on all threads of a process: slices of an array, one per thread."""

from __future__ import annotations

import contextvars
import functools
import itertools
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy

from dappled._ndarray.core import core

# Elements from which threads pay.
MIN_PARALLEL_ELEMENTS = 1 << 17


def thread_count() -> int:
    """The number of threads that may compute."""
    return core.cpu()[1]  # type: ignore[no-any-return]


def map_threads(function: Callable[..., Any], parts: Sequence[Any]) -> list[Any]:
    """The function's result for each slice, one thread per slice."""
    if len(parts) < 2:
        return [function(part) for part in parts]
    pool = ThreadPoolExecutor(len(parts))
    try:
        # `numpy.errstate` is part of the context.
        run = [functools.partial(contextvars.copy_context().run, function) for _ in parts]
        running = [submit(pool, act, part) for act, part in zip(run, parts, strict=True)]
        return [one.result() for one in running]
    finally:
        # NumPy cannot be interrupted: its threads finish, and their results are dropped.
        pool.shutdown(wait=not isinstance(sys.exception(), KeyboardInterrupt), cancel_futures=True)


def submit(pool: ThreadPoolExecutor, function: Callable[..., Any], part: Any) -> Future[Any]:
    """Submits work to a pool; MemoryError if a thread cannot be started."""
    try:
        return pool.submit(function, part)
    except RuntimeError as error:
        raise MemoryError(f"Unable to allocate the memory of a thread: {error}") from None


def thread_slices(length: int) -> list[slice]:
    """As many slices of `length` elements as there are threads."""
    ends = numpy.linspace(0, length, min(thread_count(), max(length, 1)) + 1).astype(int)
    return [slice(start, stop) for start, stop in itertools.pairwise(ends)]


def as_contiguous_row(array: Any) -> Any:
    """The elements of a local array as a contiguous NumPy row, in C order."""
    memory = core.unwrap(array)
    return numpy.ascontiguousarray(memory).reshape(-1)


def uninitialised(shape: tuple[int, ...], dtype: Any) -> tuple[Any, Any]:
    """Our uninitialised array of this process, and its memory as a NumPy array.

    Memory is reused where possible: new pages are slow to fill.
    """
    result = core.unwritten(shape, dtype)
    result = core.wrap(numpy.empty(shape, dtype), True) if result is None else result
    return result, core.unwrap(result, writeable=True)


def scratch(shape: tuple[int, ...], dtype: Any) -> Any:
    """Uninitialised scratch memory, reused where possible."""
    result = core.scratch(shape, dtype)
    return numpy.empty(shape, dtype) if result is None else result


def as_writeable_words(array: Any) -> Any:
    """A row as unsigned words of its itemsize, writeable; None if that is not possible."""
    kind = _WORD_DTYPES.get(array.dtype.itemsize)
    fits = kind and array.flags.carray and not array.dtype.hasobject and array.dtype.kind != "T"
    return array.view(kind) if fits else None


def as_readable_words(array: Any) -> Any:
    """A row as words of its itemsize, for reading; None if that is not possible."""
    kind = _WORD_DTYPES.get(array.dtype.itemsize)
    fits = kind and array.flags.c_contiguous and array.flags.aligned and array.dtype.kind in "biufc"
    return array.view(kind) if fits else None


def true_positions(mask: Any) -> Any:
    """The indices where a mask is True."""
    result = numpy.empty(core.count_chosen(mask), numpy.int64)
    core.places(mask, result)
    return result


_WORD_DTYPES = {1: "u1", 2: "u2", 4: "u4", 8: "u8", 16: "c16"}
