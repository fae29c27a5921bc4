"""NumPy's LAPACK of a whole matrix, by the first rank alone.

It has the threads of all ranks of its node, who wait for it. Each by itself would do the same on
its own threads, and take longer.
"""

from __future__ import annotations

import ctypes
import functools
import os
import pickle
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy

from dappled._array import core
from dappled._panels import from_rank
from dappled._threads import threads


def by_first(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What the first rank computes, or the error that all raise. Collective."""
    count = _threads_of_all()
    if count <= threads():
        return function(*args, **kwargs)

    def made() -> Any:
        with _on_threads(count):
            return function(*args, **kwargs)

    return from_rank(0, made)


@functools.cache
def _threads_of_all() -> int:
    """Threads that the first rank may have while the others wait; 0 where that can't be said.
    Collective when it is first asked.
    """
    mine = (platform.node(), threads(), _cores(), _setter() is not None)
    told = [pickle.loads(sent) for sent in core.gather("threads", pickle.dumps(mine))]
    node, _, cores, known = told[0]
    together = sum(count for other, count, *_ in told if other == node)
    return min(cores, together) if known else 0


def _cores() -> int:
    """The cores that this process may use."""
    known = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if known else os.cpu_count() or 1


@functools.cache
def _setter() -> tuple[Any, Any] | None:
    """How OpenBLAS is told its number of threads, and tells it; None where NumPy has no such."""
    try:
        library = ctypes.CDLL(numpy.linalg._umath_linalg.__file__)
        name = "scipy_openblas_{}_num_threads64_"
        return getattr(library, name.format("set")), getattr(library, name.format("get"))
    except (AttributeError, OSError):
        return None


@contextmanager
def _on_threads(count: int) -> Iterator[None]:
    setter = _setter()
    assert setter is not None
    tell, asked = setter
    before = asked()
    tell(count)
    try:
        yield
    finally:
        tell(before)
