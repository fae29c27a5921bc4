"""Files in memory: NumPy's own on every rank, but a new file is made once, and nobody clears it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy
from numpy.lib import format as npy

from dappled._agreeing import agreed
from dappled._array import core
from dappled._comm import is_local, together
from dappled._fallback import dressed
from dappled._parts import is_path
from dappled._standing import standing
from dappled._tables import GATHERED

_NEW = ("w+", "write")


def _memmap(
    filename: Any, dtype: Any = numpy.uint8, mode: Any = "r+", *args: Any, **kwargs: Any
) -> Any:
    def act(mode: Any) -> Any:
        return numpy.memmap(filename, dtype, mode, *args, **kwargs)

    return _made(act, filename) if _is_made(filename, mode) else act(mode)


def _open_memmap(filename: Any, mode: Any = "r+", *args: Any, **kwargs: Any) -> Any:
    def act(mode: str) -> Any:
        return npy.open_memmap(filename, mode, *args, **kwargs)

    return _made(act, filename) if _is_made(filename, mode) else act(mode)


memmap = standing(numpy.memmap, "dappled", _memmap)
open_memmap = dressed(_open_memmap, npy.open_memmap, "dappled.lib.format", GATHERED)


def _is_made(filename: Any, mode: Any) -> bool:
    return core.ranks() > 1 and mode in _NEW and is_path(filename) and not is_local()


def _made(act: Callable[[str], Any], filename: Any) -> Any:
    """A new file, by the first rank; the others open it, or make their own if they see another.

    Returns when all have it: none writes into what one that is late would clear.
    """
    together("numpy.memmap")
    is_first = core.rank() == 0
    made = agreed(lambda: act("w+") if is_first else None)
    mark = core.gather("a new file", _mark(filename) if is_first else b"")[0]
    made = agreed(lambda: made if is_first else act("r+" if _mark(filename) == mark else "w+"))
    made.mode = "w+"
    return made


def _mark(filename: Any) -> bytes:
    """What tells files apart that have the same name on other machines."""
    try:
        found = os.stat(filename)
    except OSError:
        return b"none"
    return f"{found.st_ino} {found.st_size} {found.st_mtime_ns}".encode()
