"""Parallel file access: every rank its piece, or rank 0 alone."""

from __future__ import annotations

import contextlib
import math
import os
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

from dappled._ndarray.core import core
from dappled._ranks.comm import check_collective, is_local
from dappled._ranks.consensus import collective_try
from dappled.protocol import Distribution

# Bytes of a chunk on one rank.
_ROUND_BYTES = 1 << 25


def is_path(file: Any) -> bool:
    """Whether a file is given by its path."""
    return isinstance(file, str | bytes | os.PathLike)


def check_path(what: str, file: Any) -> None:
    """Raises on all ranks if they name different files. Collective for paths.

    Each rank would access another file, and replicated arrays would differ.
    """
    if core.ranks() == 1 or not is_path(file) or is_local():
        return
    sent = core.gather(f"the file of dappled.{what}", os.fsencode(file))
    if len(set(sent)) > 1:
        ranks = {name: [at for at, one in enumerate(sent) if one == name] for name in sent}
        named = ", ".join(
            f"{os.fsdecode(name)!r} on {_format_ranks(at)}" for name, at in ranks.items()
        )
        raise ValueError(
            f"dappled.{what}: ranks name different files: {named}. All ranks read and write one "
            "file together; use dappled.local() for a file per rank"
        )


def _format_ranks(ranks: list[int]) -> str:
    """Ranks as text, the first few by number."""
    if len(ranks) == 1:
        return f"rank {ranks[0]}"
    more = f" and {len(ranks) - 4} more" if len(ranks) > 4 else ""
    return f"ranks {', '.join(map(str, ranks[:4]))}{more}"


def is_single_rank() -> bool:
    """Whether there is one rank: NumPy's functions apply."""
    return core.ranks() == 1  # type: ignore[no-any-return]


def write_parallel(path: Any, head: bytes, array: Any) -> None:
    """Creates a file with a header and elements in C order. Collective."""
    check_collective("writing a file")
    core.write_raw(array, os.fsdecode(path), head)


def read_parallel(path: Any, offset: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """An array in C order at an offset of a file, each rank its piece. Collective.

    None if the array or the file is small.
    """
    blocks = core.blocks(shape, dtype.itemsize)
    if blocks is None or os.path.getsize(path) < offset + math.prod(shape) * dtype.itemsize:
        return None
    check_collective("reading a file")
    return core.read_raw(os.fsdecode(path), offset, dtype, blocks)


def chunks_on_root(array: Any, rows: bool = False) -> Iterator[Any]:
    """An array in chunks on rank 0, in order; other ranks get None. Collective."""
    line = array if rows else array.reshape(-1)
    length = line.shape[0]
    step = max(1, _ROUND_BYTES // max(1, line.nbytes // max(1, length)))
    for start in range(0, length, step):
        part = line[start : start + step]
        size, ends = part.shape[0], core.ranks() - 1
        bounds = [[0, *[size] * (ends + 1)], *[None] * (part.ndim - 1)]
        kinds = "b" + "n" * (part.ndim - 1)
        grid = (core.ranks(), *[1] * (part.ndim - 1))
        owned = Distribution(part.shape, kinds, grid_shape=grid, bounds=bounds)
        values = part.redistribute(owned).local
        yield values if core.rank() == 0 else None


def chunks_on_all_ranks(array: Any) -> Iterator[Any]:
    """An array in chunks on every rank, for files that each rank has opened. Collective."""
    row = array.reshape(-1)
    step = max(1, _ROUND_BYTES // row.itemsize)
    for start in range(0, row.size, step):
        yield core.unwrap(row[start : start + step])


class CollectiveGuard:
    """Runs file operations on rank 0 (or on all ranks), and raises their errors on all at the end.

    It starts with a barrier: a late rank may still read the file.
    """

    def __init__(self, everywhere: bool = False) -> None:
        check_collective("writing a file")
        core.gather("writing a file, which one rank alone does in dappled.local()", b"")
        self._acts = everywhere or core.rank() == 0
        self._error: Exception | None = None

    def do(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Calls a function, unless an earlier one failed."""
        if not self._acts or self._error is not None:
            return None
        try:
            return function(*args, **kwargs)
        except Exception as error:
            self._error = error

    def end(self) -> None:
        """Waits for all ranks; raises the first error on all. Collective."""
        collective_try(self._raise)

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error


@contextlib.contextmanager
def atomic_replace(path: Any) -> Iterator[str]:
    """A temporary path; it replaces the file when the block ends.

    Several ranks may write the same file.
    """
    path = os.path.realpath(os.fsdecode(path))
    if os.path.exists(path) and not os.path.isfile(path):
        yield path
        return
    folder, name = os.path.split(path)
    handle, temporary = tempfile.mkstemp(f".{name}", ".dappled.", folder)
    os.close(handle)
    try:
        yield temporary
        os.chmod(temporary, _file_mode(path))
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _file_mode(path: str) -> int:
    """The permissions of a file, or those of a new one."""
    if os.path.exists(path):
        return os.stat(path).st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
