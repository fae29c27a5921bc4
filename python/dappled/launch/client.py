"""What a rank tells the launcher beside it, if `dappled run` put one there."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator


def _told() -> int | None:
    """Where to write. Programs that this one starts inherit the variable: it is not for them."""
    place, _, launcher = os.environ.pop("DAPPLED_LAUNCHED", "").partition(":")
    if launcher != str(os.getppid()):
        return None
    os.set_inheritable(int(place), False)
    return int(place)


_place = _told()
_process = os.getpid()


def is_launched() -> bool:
    """Is there a launcher that says why a rank ends?"""
    return _place is not None


def tell(word: str) -> None:
    """Says that this rank has `joined` or `left` the job, is `connecting` to the other ranks or
    `connected`, or `alone`, has `failed`, or is `leaving`.
    """
    if _place is not None and os.getpid() == _process:
        with contextlib.suppress(OSError):  # nobody listens any more
            os.write(_place, f"{word}\n".encode())


@contextlib.contextmanager
def hushed() -> Iterator[None]:
    """Here MPI says nothing on stderr: the launcher says why the job ends, and says it once."""
    if _place is None:
        yield
        return
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    yield
    os.dup2(kept, 2)
    os.close(kept)
    os.close(nothing)
