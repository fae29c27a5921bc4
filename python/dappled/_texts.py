"""Tables as texts: written by the first rank, in chunks; read by all, each a part of the lines."""

from __future__ import annotations

import os
import pickle
import warnings
from typing import Any

import numpy

from dappled._array import core
from dappled._comm import together
from dappled._files import each
from dappled._native import native
from dappled._parts import Guard, check_path, chunks, is_alone, is_path
from dappled._piecewise import in_pieces
from dappled.protocol import Distribution

_COMPRESSED = (".gz", ".bz2", ".xz")


@native(numpy.savetxt, names_file=True)
def savetxt(
    fname: Any,
    X: Any,
    fmt: Any = "%.18e",
    delimiter: Any = " ",
    newline: Any = "\n",
    header: Any = "",
    footer: Any = "",
    comments: Any = "# ",
    encoding: Any = None,
) -> Any:
    lines = {"fmt": fmt, "delimiter": delimiter, "newline": newline, "comments": comments}
    if is_alone() or not is_path(fname):
        return NotImplemented
    check_path("savetxt", fname)
    if not in_pieces(X):
        ends = {"header": header, "footer": footer, "encoding": encoding}
        return each(numpy.savetxt, fname, "", X, **lines, **ends)
    if not 1 <= X.ndim <= 2 or os.fsdecode(fname).endswith(_COMPRESSED):
        return NotImplemented
    guard = Guard()
    file = guard.do(open, fname, "wt", encoding=encoding)
    nothing = numpy.empty((0, *X.shape[1:]), X.dtype)
    guard.do(numpy.savetxt, file, nothing, header=header, **lines)
    for rows in chunks(X, rows=True):
        guard.do(numpy.savetxt, file, rows, **lines)
    guard.do(numpy.savetxt, file, nothing, footer=footer, **lines)
    if file:
        guard.do(file.close)
    guard.end()
    return None


@native(numpy.loadtxt, names_file=True)
def loadtxt(fname: Any, dtype: Any = float, *args: Any, **kwargs: Any) -> Any:
    """A named file with no options but how a line is read: which ranks may do for their lines."""
    plain = not args and kwargs.keys() <= {
        "comments",
        "delimiter",
        "usecols",
        "encoding",
        "skiprows",
    }
    check_path("loadtxt", fname)
    if is_alone() or not plain or not is_path(fname) or not os.path.isfile(fname):
        return NotImplemented
    kind = numpy.dtype(dtype)
    if kind.kind not in "biufc" or os.fsdecode(fname).endswith(_COMPRESSED):
        return NotImplemented
    size = os.path.getsize(fname)
    if core.blocks((size // 8,), kind.itemsize) is None:
        return NotImplemented
    return _joined(_own_rows(fname, size, kind, **kwargs), kind)


def _own_rows(fname: Any, size: int, dtype: Any, skiprows: int = 0, **kwargs: Any) -> Any:
    """The rows that this rank's share of a file has; None if NumPy is to say what is wrong."""
    with open(fname, "rb") as file:
        for _ in range(skiprows):
            file.readline()
        first = file.tell()
        start, stop = (first + (size - first) * at // core.ranks() for at in _share())
        lines = _lines(file, first, start, stop).decode(
            kwargs.get("encoding") or "utf-8", "replace"
        )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*input contained no data")
        try:
            return numpy.loadtxt(lines.splitlines(), dtype, ndmin=2, **kwargs)
        except Exception:
            return None


def _share() -> tuple[int, int]:
    return core.rank(), core.rank() + 1


def _lines(file: Any, first: int, start: int, stop: int) -> bytes:
    """The lines that begin in a part of a file."""
    ends = []
    for place in (start, stop):
        file.seek(max(first, place - 1))
        if place > first:
            file.readline()
        ends.append(file.tell())
    file.seek(ends[0])
    return bytes(file.read(max(0, ends[1] - ends[0])))


def _joined(rows: Any, dtype: Any) -> Any:
    """The rows of all ranks as one array; NotImplemented where they do not fit."""
    together("dappled.loadtxt")
    shapes = [
        pickle.loads(sent)
        for sent in core.gather(
            "dappled.loadtxt", pickle.dumps(None if rows is None else rows.shape)
        )
    ]
    if None in shapes:
        return NotImplemented
    widths = {width for length, width in shapes if length}
    if len(widths) != 1:
        return NotImplemented
    width = widths.pop()
    ends = numpy.cumsum([0] + [length for length, _ in shapes]).tolist()
    rows = rows if len(rows) else numpy.empty((0, width), dtype)
    ranks = core.ranks()
    laid = Distribution((ends[-1], width), "bn", grid_shape=(ranks, 1), bounds=[ends, None])
    made = core.from_piece(laid, numpy.ascontiguousarray(rows), True)
    made = made.reshape(tuple(length for length in made.shape if length != 1))  # as NumPy squeezes
    blocks = core.blocks(made.shape, made.itemsize)
    return made.redistribute("n" * made.ndim if blocks is None else blocks)
