"""The ranks that run the program, and how one of them looks at its own part in peace."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from dappled._array import core


class Stats(NamedTuple):
    """What a rank has sent to others, and how long it has waited; the difference of two is what
    was sent in between.

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
    """The ranks, as a program sees them.

    >>> import dappled
    >>> dappled.comm
    Comm(rank=0, size=1)
    >>> dappled.comm.barrier()
    """

    @property
    def rank(self) -> int:
        """Which of the ranks this process is, counted from 0. Local."""
        return core.rank()  # type: ignore[no-any-return]

    @property
    def size(self) -> int:
        """How many ranks run the program. Local."""
        return core.ranks()  # type: ignore[no-any-return]

    @property
    def node_rank(self) -> int:
        """Which of the ranks on the same machine this process is, counted from 0. Local."""
        return core.node_rank()  # type: ignore[no-any-return]

    @property
    def name(self) -> str:
        """What carries messages: the MPI library and its version, or 'solo'. Local.

        >>> import dappled
        >>> dappled.comm.name
        'solo'
        """
        return core.fabric_name()  # type: ignore[no-any-return]

    def stats(self) -> Stats:
        """Messages and bytes that this rank has sent to others since it began, without what is sent
        along to find ranks that diverge, and the seconds that it has waited for others. Local.
        """
        return Stats(*core.comm_stats())

    def barrier(self) -> None:
        """Waits until every rank is here. Collective."""
        together("dappled.comm.barrier")
        core.gather("dappled.comm.barrier", b"")

    def first(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Calls a function on rank 0 alone; all ranks get its result, or raise its exception.

        For what must be done once: a file that is not NumPy's, a folder, a request, a log. The
        result is sent by pickle. The function may not do what all ranks must do together: it is
        called inside `dappled.local()`. Collective.

        >>> import dappled, os, tempfile
        >>> folder = dappled.comm.first(tempfile.mkdtemp)
        >>> dappled.comm.first(os.listdir, folder)
        []
        >>> dappled.comm.first(os.rmdir, folder)
        """
        if self.size == 1:
            return function(*args, **kwargs)
        from dappled._panels import from_rank  # which needs this module

        together("dappled.comm.first")

        def made() -> Any:
            with local():
                return function(*args, **kwargs)

        return from_rank(0, made, "dappled.comm.first")

    def __repr__(self) -> str:
        return f"Comm(rank={self.rank}, size={self.size})"


comm = Comm()


class _Depth(threading.local):
    """How many `local()` blocks this thread is in."""

    value = 0


_depth = _Depth()


def init(comm: Any = None) -> None:
    """Says whose ranks are used: an mpi4py communicator's; by default all that were launched.

    Comes before the first array, and before `dappled.comm` is asked; messages go through a
    communicator of their own. With `comm.Split(...)` several groups of ranks each have their own
    arrays. Collective over the communicator.

    >>> import dappled
    >>> dappled.init()
    >>> dappled.comm.size
    1
    """
    core.init(None if comm is None else _handle(comm))


def _handle(comm: Any) -> int:
    """The MPI library's own name of an mpi4py communicator."""
    handle = getattr(comm, "handle", None)
    if not isinstance(handle, int):
        expected = "expected an mpi4py communicator such as mpi4py.MPI.COMM_WORLD"
        raise TypeError(f"{expected}, not {type(comm).__name__!r}")
    return handle & (2**64 - 1)


@contextmanager
def local() -> Iterator[None]:
    """What this rank does here, it does alone: nothing is sent, and what would send is an error.

    `repr` shows the local piece, so that one rank can be looked at in a debugger. Other threads may
    communicate meanwhile.

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
    """Whether this rank is on its own here, and not the only one."""
    return _depth.value > 0 and core.ranks() > 1


def together(what: str) -> None:
    """Refuses what communicates, where this process or thread may not."""
    core.check_collective(what)
