"""Files that all ranks read or write at once, each its own part; and those that one rank writes."""

from __future__ import annotations

import contextlib
import math
import os
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from dappled._agreeing import agreed
from dappled._array import core
from dappled._comm import is_local, together
from dappled.protocol import Distribution

# Bytes that a rank, or the one that writes alone, has beside its pieces.
_ROUND = 1 << 25


def is_path(file: Any) -> bool:
    """Whether a file is given by its name."""
    return isinstance(file, str | bytes | os.PathLike)


def check_path(what: str, file: Any) -> None:
    """Raises on all ranks if they name different files. Collective, but for opened files.

    Each rank would read or write another one, and arrays that all have would differ.
    """
    if core.ranks() == 1 or not is_path(file) or is_local():
        return
    sent = core.gather(f"the file of dappled.{what}", os.fsencode(file))
    if len(set(sent)) > 1:
        ranks = {name: [at for at, one in enumerate(sent) if one == name] for name in sent}
        named = ", ".join(f"{os.fsdecode(name)!r} on {_some(at)}" for name, at in ranks.items())
        raise ValueError(
            f"dappled.{what} is given another file on each rank: {named}. All ranks read and write "
            "one file together; a rank reads or writes its own inside dappled.local()"
        )


def _some(ranks: list[int]) -> str:
    """Ranks in words, the first few by number."""
    if len(ranks) == 1:
        return f"rank {ranks[0]}"
    more = f" and {len(ranks) - 4} more" if len(ranks) > 4 else ""
    return f"ranks {', '.join(map(str, ranks[:4]))}{more}"


def is_alone() -> bool:
    """Whether there is one rank, and NumPy's functions do."""
    return core.ranks() == 1  # type: ignore[no-any-return]


def write(path: Any, head: bytes, array: Any) -> None:
    """The elements in C order behind a head: the first rank makes the file, each writes its part.

    Returns when the file is complete; what fails on one rank is raised on all.
    """
    row = array.reshape(-1)
    guard = Guard(everywhere=True)

    def make() -> None:
        if core.rank() == 0:
            with open(path, "wb") as file:
                file.write(head)
                file.truncate(len(head) + row.nbytes)

    agreed(make)
    for first, values in _own_runs(row):
        guard.do(_write_at, path, len(head) + first * row.itemsize, values)
    guard.end()


def _write_at(path: Any, offset: int, values: Any) -> None:
    with open(path, "r+b") as file:
        file.seek(offset)
        values.tofile(file)


def _own_runs(row: Any) -> Iterator[tuple[int, Any]]:
    """This rank's elements in runs, as many rounds as keep them small: first index and values."""
    step = max(1, _ROUND // row.itemsize) * core.ranks()
    for start in range(0, row.size, step):
        part = row[start : start + step].redistribute("b")
        values = part.local
        if values.size:
            yield start + part.distribution.global_index(core.rank(), (0,))[0], values


def read(path: Any, offset: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """An array in C order at a place in a file, of which each rank reads its piece; None if it is
    small, or the file is.
    """
    blocks = core.blocks(shape, dtype.itemsize)
    if blocks is None or os.path.getsize(path) < offset + math.prod(shape) * dtype.itemsize:
        return None
    together("reading a file")
    return core.from_piece(blocks, agreed(lambda: _piece(path, offset, blocks, dtype)), True)


def _piece(path: Any, offset: int, blocks: Any, dtype: Any) -> Any:
    own = blocks.local_shape(core.rank())
    if 0 in own:
        return numpy.empty(own, dtype)
    first = blocks.global_index(core.rank(), (0,) * len(own))
    box = tuple(slice(start, start + length) for start, length in zip(first, own, strict=True))
    file: Any = numpy.memmap(path, dtype, "r", offset, blocks.shape)
    return numpy.array(file[box])


def chunks(array: Any, rows: bool = False) -> Iterator[Any]:
    """An array in chunks that the first rank has, in order; the others get None.

    Chunks of elements, or of rows.
    """
    line = array if rows else array.reshape(-1)
    length = line.shape[0]
    step = max(1, _ROUND // max(1, line.nbytes // max(1, length)))
    for start in range(0, length, step):
        part = line[start : start + step]
        size, ends = part.shape[0], core.ranks() - 1
        bounds = [[0, *[size] * (ends + 1)], *[None] * (part.ndim - 1)]
        kinds = "b" + "n" * (part.ndim - 1)
        grid = (core.ranks(), *[1] * (part.ndim - 1))
        owned = Distribution(part.shape, kinds, grid_shape=grid, bounds=bounds)
        values = part.redistribute(owned).local
        yield values if core.rank() == 0 else None


def everywhere(array: Any) -> Iterator[Any]:
    """An array in chunks that every rank has: for files that each of them has opened itself."""
    row = array.reshape(-1)
    step = max(1, _ROUND // row.itemsize)
    for start in range(0, row.size, step):
        yield core.unwrap(row[start : start + step])


class Guard:
    """What the first rank does while all go the same way: an error waits until they have.

    It begins when every rank is here: one that is late may still read what stands in the file.
    """

    def __init__(self, everywhere: bool = False) -> None:
        together("writing a file")
        core.gather("writing a file, which one rank alone does in dappled.local()", b"")
        self._acts = everywhere or core.rank() == 0
        self._error: Exception | None = None

    def do(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Calls a function on the first rank, unless something has failed."""
        if not self._acts or self._error is not None:
            return None
        try:
            return function(*args, **kwargs)
        except Exception as error:
            self._error = error

    def end(self) -> None:
        """Waits for all ranks; raises on all what one has met."""
        agreed(self._raise)

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error


@contextlib.contextmanager
def replaced(path: Any) -> Iterator[str]:
    """A name under which a rank writes a file that others write as well: it is there as a whole."""
    path = os.path.realpath(os.fsdecode(path))
    if os.path.exists(path) and not os.path.isfile(path):
        yield path
        return
    folder, name = os.path.split(path)
    handle, temporary = tempfile.mkstemp(f".{name}", ".dappled.", folder)
    os.close(handle)
    try:
        yield temporary
        os.chmod(temporary, _mode(path))
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _mode(path: str) -> int:
    """The rights of a file, or those that a new one gets."""
    if os.path.exists(path):
        return os.stat(path).st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
