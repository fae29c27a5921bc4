"""np.memmap and open_memmap: NumPy's on every rank; rank 0 alone creates a new file."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy
from numpy.lib import format as npy

from dappled._dispatch.drop_in_class import drop_in_class
from dappled._dispatch.fallback import with_numpy_metadata
from dappled._dispatch.numpy_facts import GATHERED
from dappled._ndarray.core import core
from dappled._ranks.comm import check_collective, is_local
from dappled._ranks.consensus import collective_try
from dappled._routines.io.parallel import is_path

_CREATING_MODES = ("w+", "write")


def _memmap(
    filename: Any, dtype: Any = numpy.uint8, mode: Any = "r+", *args: Any, **kwargs: Any
) -> Any:
    def act(mode: Any) -> Any:
        return numpy.memmap(filename, dtype, mode, *args, **kwargs)

    return _create_once(act, filename) if _must_create_once(filename, mode) else act(mode)


def _open_memmap(filename: Any, mode: Any = "r+", *args: Any, **kwargs: Any) -> Any:
    def act(mode: str) -> Any:
        return npy.open_memmap(filename, mode, *args, **kwargs)

    return _create_once(act, filename) if _must_create_once(filename, mode) else act(mode)


memmap = drop_in_class(numpy.memmap, "dappled", _memmap)
open_memmap = with_numpy_metadata(_open_memmap, npy.open_memmap, "dappled.lib.format", GATHERED)


def _must_create_once(filename: Any, mode: Any) -> bool:
    return core.ranks() > 1 and mode in _CREATING_MODES and is_path(filename) and not is_local()


def _create_once(act: Callable[[str], Any], filename: Any) -> Any:
    """Creates a file on rank 0; other ranks open it, or create their own on another disk.

    Returns when all have it, so no late rank truncates written data. Collective.
    """
    check_collective("numpy.memmap")
    is_first = core.rank() == 0
    result = collective_try(lambda: act("w+") if is_first else None)
    mark = core.gather("a new file", _file_identity(filename) if is_first else b"")[0]
    result = collective_try(
        lambda: result if is_first else act("r+" if _file_identity(filename) == mark else "w+")
    )
    result.mode = "w+"
    return result


def _file_identity(filename: Any) -> bytes:
    """Distinguishes files of the same name on different machines."""
    try:
        result = os.stat(filename)
    except OSError:
        return b"none"
    return f"{result.st_ino} {result.st_size} {result.st_mtime_ns}".encode()
