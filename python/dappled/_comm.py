"""The ranks that run the program, and how one of them looks at its own part in peace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dappled._array import core


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

    def barrier(self) -> None:
        """Waits until every rank is here. Collective."""
        together("dappled.comm.barrier")
        core.gather("dappled.comm.barrier", b"")

    def __repr__(self) -> str:
        return f"Comm(rank={self.rank}, size={self.size})"


comm = Comm()
_depth = 0


@contextmanager
def local() -> Iterator[None]:
    """What this rank does here, it does alone: nothing is sent, and what would send is an error.

    `repr` shows the local piece, so that one rank can be looked at in a debugger.

    >>> import dappled
    >>> with dappled.local():
    ...     dappled.comm.rank
    0
    """
    global _depth
    _depth += 1
    core.set_local(is_local())
    try:
        yield
    finally:
        _depth -= 1
        core.set_local(is_local())


def is_local() -> bool:
    """Whether this rank is on its own here, and not the only one."""
    return _depth > 0 and core.ranks() > 1


def together(what: str) -> None:
    """Refuses what all ranks must do, where one rank is on its own."""
    if is_local():
        raise RuntimeError(f"{what} is for all ranks to do: inside dappled.local() nothing is sent")
