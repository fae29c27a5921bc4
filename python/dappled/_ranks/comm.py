"""The communicator: ranks, barriers, and code that runs on one rank alone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from dappled._ndarray.core import core


class Stats(NamedTuple):
    """Messages, bytes and waiting time of a rank; subtract two to measure an interval.

    >>> import dappled
    >>> before = dappled.comm.stats()
    >>> dappled.comm.stats() - before
    Stats(messages=0, bytes=0, seconds=0.0)
    """

    messages: int
    bytes: int
    seconds: float

    def __sub__(self, before: Stats) -> Stats:
        messages, sent = self.messages - before.messages, self.bytes - before.bytes
        return Stats(messages, sent, self.seconds - before.seconds)


class Comm:
    """The ranks of the program.

    >>> import dappled
    >>> dappled.comm
    Comm(rank=0, size=1)
    >>> dappled.comm.barrier()
    """

    @property
    def rank(self) -> int:
        """This process's rank, counted from 0. Local."""
        return core.rank()  # type: ignore[no-any-return]

    @property
    def size(self) -> int:
        """The number of ranks. Local."""
        return core.ranks()  # type: ignore[no-any-return]

    @property
    def node_rank(self) -> int:
        """This process's rank among those of its node, counted from 0. Local."""
        return core.node_rank()  # type: ignore[no-any-return]

    @property
    def name(self) -> str:
        """The MPI library and its version, or 'solo'. Local.

        >>> import dappled
        >>> dappled.comm.name
        'solo'
        """
        return core.fabric_name()  # type: ignore[no-any-return]

    def stats(self) -> Stats:
        """Messages and bytes that this rank has sent, and seconds that it has waited. Local.

        Messages that detect diverging ranks are not counted.
        """
        return Stats(*core.comm_stats())

    def barrier(self) -> None:
        """Waits for all ranks. Collective."""
        check_collective("dappled.comm.barrier")
        core.gather("dappled.comm.barrier", b"")

    def first(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Calls a function on rank 0; all ranks get its result, or raise its exception.

        For work that must be done once: a file of another format, a directory, a request, a log.
        The result is pickled. The function runs inside `dappled.local()`, so it must not be
        collective. Collective.

        >>> import dappled, os, tempfile
        >>> folder = dappled.comm.first(tempfile.mkdtemp)
        >>> dappled.comm.first(os.listdir, folder)
        []
        >>> dappled.comm.first(os.rmdir, folder)
        """
        if self.size == 1:
            return function(*args, **kwargs)
        from dappled._ranks.broadcast import broadcast_from

        check_collective("dappled.comm.first")

        def result() -> Any:
            with local():
                return function(*args, **kwargs)

        return broadcast_from(0, result, "dappled.comm.first")

    def __repr__(self) -> str:
        return f"Comm(rank={self.rank}, size={self.size})"


comm = Comm()


class _Depth(threading.local):
    """The number of `local()` blocks that this thread is in."""

    value = 0


_depth = _Depth()


def init(comm: Any = None) -> None:
    """Sets the communicator: mpi4py's `comm`, or by default all ranks that were launched.

    Must precede the first array and any use of `dappled.comm`. Messages use a duplicate of the
    communicator. With `comm.Split(...)` each group of ranks has its own arrays. Collective over the
    communicator.

    >>> import dappled
    >>> dappled.init()
    >>> dappled.comm.size
    1
    """
    core.init(None if comm is None else _handle(comm))


def _handle(comm: Any) -> int:
    """The MPI handle of an mpi4py communicator."""
    handle = getattr(comm, "handle", None)
    if not isinstance(handle, int):
        expected = "expected an mpi4py communicator such as mpi4py.MPI.COMM_WORLD"
        raise TypeError(f"{expected}, not {type(comm).__name__!r}")
    return handle & (2**64 - 1)


@contextmanager
def local() -> Iterator[None]:
    """A block that runs on this rank alone: a collective operation in it is an error.

    `repr` shows the local piece, so a debugger can inspect one rank. Other threads may communicate
    meanwhile.

    >>> import dappled
    >>> with dappled.local():
    ...     dappled.comm.rank
    0
    """
    _depth.value += 1
    core.set_local(is_local())
    try:
        yield
    finally:
        _depth.value -= 1
        core.set_local(is_local())


def is_local() -> bool:
    """Whether this rank runs alone here, and there are others."""
    return _depth.value > 0 and core.ranks() > 1


def check_collective(what: str) -> None:
    """Raises if this process or thread may not run a collective operation here."""
    core.check_collective(what)
