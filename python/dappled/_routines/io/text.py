"""loadtxt and savetxt: rank 0 writes chunks, each rank reads its lines."""

from __future__ import annotations

import os
import pickle
import warnings
from typing import Any

import numpy

from dappled._dispatch.implements import implements
from dappled._ndarray.core import core
from dappled._ranks.comm import check_collective
from dappled._ranks.map_blocks import is_distributed
from dappled._routines._distributed.row_blocks import to_default_layout
from dappled._routines.io.npy import write_on_each_rank
from dappled._routines.io.parallel import (
    CollectiveGuard,
    check_path,
    chunks_on_root,
    is_path,
    is_single_rank,
)
from dappled.protocol import Distribution

_COMPRESSED = (".gz", ".bz2", ".xz")


@implements(numpy.savetxt, names_file=True)
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
    if is_single_rank() or not is_path(fname):
        return NotImplemented
    check_path("savetxt", fname)
    if not is_distributed(X):
        ends = {"header": header, "footer": footer, "encoding": encoding}
        return write_on_each_rank(numpy.savetxt, fname, "", X, **lines, **ends)
    if not 1 <= X.ndim <= 2 or os.fsdecode(fname).endswith(_COMPRESSED):
        return NotImplemented
    guard = CollectiveGuard()
    file = guard.do(open, fname, "wt", encoding=encoding)
    nothing = numpy.empty((0, *X.shape[1:]), X.dtype)
    guard.do(numpy.savetxt, file, nothing, header=header, **lines)
    for rows in chunks_on_root(X, rows=True):
        guard.do(numpy.savetxt, file, rows, **lines)
    guard.do(numpy.savetxt, file, nothing, footer=footer, **lines)
    if file:
        guard.do(file.close)
    guard.end()
    return None


@implements(numpy.loadtxt, names_file=True)
def loadtxt(fname: Any, dtype: Any = float, *args: Any, **kwargs: Any) -> Any:
    """A named file with per-line options, of which each rank reads its lines."""
    plain = not args and kwargs.keys() <= {
        "comments",
        "delimiter",
        "usecols",
        "encoding",
        "skiprows",
    }
    check_path("loadtxt", fname)
    if is_single_rank() or not plain or not is_path(fname) or not os.path.isfile(fname):
        return NotImplemented
    kind = numpy.dtype(dtype)
    if kind.kind not in "biufc" or os.fsdecode(fname).endswith(_COMPRESSED):
        return NotImplemented
    size = os.path.getsize(fname)
    if core.blocks((size // 8,), kind.itemsize) is None:
        return NotImplemented
    return _concatenate_rows(_read_local_rows(fname, size, kind, **kwargs), kind)


def _read_local_rows(fname: Any, size: int, dtype: Any, skiprows: int = 0, **kwargs: Any) -> Any:
    """The rows in this rank's share of a file; None if NumPy must raise."""
    with open(fname, "rb") as file:
        for _ in range(skiprows):
            file.readline()
        first = file.tell()
        start, stop = (first + (size - first) * at // core.ranks() for at in _share_bounds())
        lines = _lines_starting_in(file, first, start, stop).decode(
            kwargs.get("encoding") or "utf-8", "replace"
        )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*input contained no data")
        try:
            return numpy.loadtxt(lines.splitlines(), dtype, ndmin=2, **kwargs)
        except Exception:
            return None


def _share_bounds() -> tuple[int, int]:
    return core.rank(), core.rank() + 1


def _lines_starting_in(file: Any, first: int, start: int, stop: int) -> bytes:
    """The lines that start in a byte range of a file."""
    ends = []
    for position in (start, stop):
        file.seek(max(first, position - 1))
        if position > first:
            file.readline()
        ends.append(file.tell())
    file.seek(ends[0])
    return bytes(file.read(max(0, ends[1] - ends[0])))


def _concatenate_rows(rows: Any, dtype: Any) -> Any:
    """The rows of all ranks as one array; NotImplemented where they do not match. Collective."""
    check_collective("dappled.loadtxt")
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
    distribution = Distribution((ends[-1], width), "bn", grid_shape=(ranks, 1), bounds=[ends, None])
    result = core.from_piece(distribution, numpy.ascontiguousarray(rows), True)
    result = result.reshape(
        tuple(length for length in result.shape if length != 1)
    )  # as NumPy squeezes
    return to_default_layout(result)
