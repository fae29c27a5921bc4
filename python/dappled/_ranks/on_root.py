"""Gathered LAPACK calls on rank 0, with the BLAS threads of its node.

The other ranks wait, so rank 0 can use their threads; each by itself would take longer.
"""

from __future__ import annotations

import functools
import os
import pickle
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from dappled._compat.numpy_private import openblas_threads
from dappled._ndarray.core import core
from dappled._ranks.broadcast import broadcast_from
from dappled._routines._distributed.threads import thread_count


def call_on_root(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls a function on rank 0 and broadcasts its result or error. Collective."""
    count = _root_thread_count()
    if count <= thread_count():
        return function(*args, **kwargs)

    def result() -> Any:
        with _blas_threads(count):
            return function(*args, **kwargs)

    return broadcast_from(0, result)


@functools.cache
def _root_thread_count() -> int:
    """The threads that rank 0 may use; 0 where they cannot be set. Collective once."""
    mine = (platform.node(), thread_count(), _core_count(), openblas_threads() is not None)
    gathered = [pickle.loads(sent) for sent in core.gather("threads", pickle.dumps(mine))]
    node, _, cores, known = gathered[0]
    together = sum(count for other, count, *_ in gathered if other == node)
    return min(cores, together) if known else 0


def _core_count() -> int:
    """The number of cores that this process may use."""
    known = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if known else os.cpu_count() or 1


@contextmanager
def _blas_threads(count: int) -> Iterator[None]:
    setter = openblas_threads()
    assert setter is not None
    tell, asked = setter
    before = asked()
    tell(count)
    try:
        yield
    finally:
        tell(before)
