"""save, load, fromfile, tofile: distributed arrays in parallel.

All ranks name the same file. Replicated arrays are written by each rank, because disks may be
local; a barrier before and after keeps a late rank from overwriting later data.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from typing import Any

import numpy
from numpy.lib import format as npy

from dappled._compat.numpy_private import MAX_NPY_HEADER_SIZE, read_npy_header, write_npy_header
from dappled._dispatch.fallback import gathered
from dappled._dispatch.implements import implements
from dappled._ndarray.core import is_communicable
from dappled._ndarray.memory_order import flags_of
from dappled._ranks.comm import is_local
from dappled._ranks.map_blocks import is_distributed
from dappled._routines.io.parallel import (
    CollectiveGuard,
    atomic_replace,
    check_path,
    chunks_on_all_ranks,
    chunks_on_root,
    is_path,
    is_single_rank,
    read_parallel,
    write_parallel,
)


def write_on_each_rank(
    function: Callable[..., Any], file: Any, suffix: str, *args: Any, **kwargs: Any
) -> Any:
    """Calls a function that writes a replicated array, on each rank."""
    if not is_path(file):
        return gathered(function)(file, *args, **kwargs)

    def put() -> None:
        with atomic_replace(with_suffix(file, suffix)) as temporary:
            gathered(function)(temporary, *args, **kwargs)

    if is_local():
        return put()
    guard = CollectiveGuard(everywhere=True)
    guard.do(put)
    return guard.end()


def with_suffix(file: Any, suffix: str) -> str:
    name = os.fsdecode(file)
    return name if name.endswith(suffix) else name + suffix


def npy_header(array: Any) -> tuple[bytes, Any]:
    """The header of an `.npy` file, and the array whose elements in C order follow it."""
    columns = flags_of(array).fnc
    described = {"descr": npy.dtype_to_descr(array.dtype), "fortran_order": columns}
    head = io.BytesIO()
    write_npy_header(head, {**described, "shape": array.shape})
    return head.getvalue(), array.T if columns else array


@implements(numpy.save, names_file=True)
def save(file: Any, arr: Any, allow_pickle: Any = True) -> Any:
    if is_single_rank():
        return NotImplemented
    check_path("save", file)
    if not is_distributed(arr):
        return write_on_each_rank(numpy.save, file, ".npy", arr, allow_pickle)
    head, rows = npy_header(arr)
    if is_path(file):
        return write_parallel(with_suffix(file, ".npy"), head, rows)
    if not hasattr(file, "write"):
        os.fspath(file)  # raises NumPy's error
    file.write(head)
    for values in chunks_on_all_ranks(rows):
        file.write(values.tobytes())
    return None


@implements(numpy.load, names_file=True)
def load(
    file: Any,
    mmap_mode: Any = None,
    allow_pickle: Any = False,
    fix_imports: Any = True,
    encoding: Any = "ASCII",
    *,
    max_header_size: Any = MAX_NPY_HEADER_SIZE,
) -> Any:
    check_path("load", file)
    if is_single_rank() or mmap_mode or not is_path(file) or not _is_npy(file):
        return NotImplemented
    with open(file, "rb") as opened:
        return load_distributed(file, 0, opened, 2**64 if allow_pickle else max_header_size)


def load_distributed(path: Any, start: int, file: Any, limit: int) -> Any:
    """An array of which each rank reads its piece; `file` is open at the start of the header."""
    version = npy.read_magic(file)
    shape, columns, dtype = read_npy_header(file, version, limit)
    if not is_communicable(dtype):
        return NotImplemented
    result = read_parallel(path, start + file.tell(), shape[::-1] if columns else shape, dtype)
    if result is None:
        return NotImplemented
    return result.T._owner() if columns else result


def _is_npy(file: Any) -> bool:
    with open(file, "rb") as opened:
        return opened.read(len(npy.MAGIC_PREFIX)) == npy.MAGIC_PREFIX


@implements(numpy.fromfile, names_file=True)
def fromfile(
    file: Any, dtype: Any = None, count: Any = -1, sep: Any = "", offset: Any = 0, **kwargs: Any
) -> Any:
    kind = numpy.dtype(dtype)
    check_path("fromfile", file)
    if is_single_rank() or kwargs or sep or not is_path(file) or not is_communicable(kind):
        return NotImplemented
    if not os.path.isfile(file) or not isinstance(offset, int) or offset < 0:
        return NotImplemented
    there = max(0, os.path.getsize(file) - offset) // kind.itemsize
    length = there if count == -1 else min(int(count), there)
    result = read_parallel(file, offset, (length,), kind) if length > 0 else None
    return NotImplemented if result is None else result


@implements(numpy.ndarray.tofile, "dappled.ndarray", names_file=True)
def tofile(self: Any, fid: Any, /, sep: Any = "", format: Any = "%s") -> Any:
    if is_single_rank():
        return NotImplemented
    check_path("ndarray.tofile", fid)
    if not is_distributed(self):
        return write_on_each_rank(_to_file, fid, "", self, sep, format)
    if is_path(fid) and not sep:
        return write_parallel(fid, b"", self)
    if is_path(fid):
        return _write_text(fid, self, sep, format)
    for position, values in enumerate(chunks_on_all_ranks(self)):
        _write_values(fid, sep if position else "", values, sep, format)
    return None


def _to_file(file: Any, array: Any, sep: str, format: str) -> None:
    array.tofile(file, sep, format)


def _write_values(file: Any, before: str, values: Any, sep: str, format: str) -> None:
    if before:
        file.write(before.encode())
        file.flush()
    values.tofile(file, sep, format)


def _write_text(path: Any, array: Any, sep: str, format: str) -> None:
    guard = CollectiveGuard()
    file = guard.do(open, path, "wb")
    for position, values in enumerate(chunks_on_root(array)):
        guard.do(_write_values, file, sep if position else "", values, sep, format)
    if file:
        guard.do(file.close)
    guard.end()
