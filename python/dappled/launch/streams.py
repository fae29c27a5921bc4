"""What the ranks print, and how much of it is shown.

Unless all of it is wanted, rank 0's is shown as it comes. Of the others' stderr the end is kept: it
may say why the job failed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import BinaryIO

# A warning as Python shows it: its place and its text, and mostly the line of the program.
_WARNING = re.compile(rb"^.+:\d+: \w+Warning: .*\n(?:  .*\n)?", re.MULTILINE)
_KEPT = 1 << 16  # bytes of a rank's stderr


class Shown:
    """The end of it kept; shown as it comes, unless it is `held` back."""

    def __init__(self, where: BinaryIO, held: bool = False) -> None:
        self._where = where
        self._held = held
        self.kept = b""

    def take(self, data: bytes) -> None:
        """More of it."""
        self.kept = (self.kept + data)[-_KEPT:]
        if not self._held:
            self._where.write(data)
            self._where.flush()

    def release(self) -> None:
        """Shows what was held back, and what comes from now on."""
        if self._held:
            self._held = False
            self._where.write(self.kept)
            self._where.flush()

    def end(self) -> None:
        """There is no more."""


class Labelled:
    """Shown line by line, each with its rank in front."""

    def __init__(self, where: BinaryIO, rank: int) -> None:
        self._where = where
        self._label = f"[{rank}] ".encode()
        self._rest = b""
        self.kept = b""

    def take(self, data: bytes) -> None:
        """More of it."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if lines:
            self._where.write(b"".join(self._label + line + b"\n" for line in lines))
            self._where.flush()

    def end(self) -> None:
        """There is no more: a last line may not have been ended."""
        if self._rest:
            self.take(b"\n")


Stream = Shown | Labelled


def beyond(said: bytes, rank: int, known: bytes) -> str:
    """What one rank said that rank 0 did not: ranks that run the same program say much alike."""
    lines, others = _lines(said), _lines(known)
    alike = 0
    for line, other in zip(lines, others, strict=False):
        if line != other or line.startswith("Traceback"):
            break
        alike += 1
    rest = "".join(lines[alike:])
    same = rest.replace(f"rank {rank}", "rank 0") in "".join(others)
    return "" if same else rest


def warned(others: Iterable[bytes], known: bytes) -> bytes:
    """What other ranks were warned of and rank 0 was not, once: each sees its own elements."""
    said = {warning for other in others for warning in _WARNING.findall(other)}
    return b"".join(sorted(said - {*_WARNING.findall(known)}))


def _lines(data: bytes) -> list[str]:
    """All lines but that by which MPICH says of an abort that it is one."""
    lines = data.decode(errors="replace").splitlines(keepends=True)
    return [line for line in lines if not line.startswith("Abort(")]
