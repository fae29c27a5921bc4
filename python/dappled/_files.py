"""Files: on several ranks, arrays in pieces are read and written in pieces.

Named files of raw elements and `.npy` are read and written by all ranks at once: all name the same
file. What is whole on every rank each rank writes for itself, as disks may be its own; but when all
are there, and none goes on before all have: one that is late would write what it has over what came
later.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from typing import Any

import numpy
from numpy.lib import format as npy

from dappled._array import is_moved
from dappled._comm import is_local
from dappled._fallback import gathered
from dappled._native import native
from dappled._order import flags_of
from dappled._parts import (
    Guard,
    check_path,
    chunks,
    everywhere,
    is_alone,
    is_path,
    read,
    replaced,
    write,
)
from dappled._piecewise import in_pieces

# What stands behind NumPy's functions and no module of it offers.
_BEHIND: dict[str, Any] = npy.write_array.__globals__


def each(function: Callable[..., Any], file: Any, suffix: str, *args: Any, **kwargs: Any) -> Any:
    """A function that writes a file of what every rank has, on each of them."""
    if not is_path(file):
        return gathered(function)(file, *args, **kwargs)

    def put() -> None:
        with replaced(suffixed(file, suffix)) as temporary:
            gathered(function)(temporary, *args, **kwargs)

    if is_local():
        return put()
    guard = Guard(everywhere=True)
    guard.do(put)
    return guard.end()


def suffixed(file: Any, suffix: str) -> str:
    name = os.fsdecode(file)
    return name if name.endswith(suffix) else name + suffix


def header(array: Any) -> tuple[bytes, Any]:
    """The head of an `.npy` file, and the array whose elements in C order follow it."""
    columns = flags_of(array).fnc
    described = {"descr": npy.dtype_to_descr(array.dtype), "fortran_order": columns}
    head = io.BytesIO()
    _BEHIND["_write_array_header"](head, {**described, "shape": array.shape}, None)
    return head.getvalue(), array.T if columns else array


@native(numpy.save, names_file=True)
def save(file: Any, arr: Any, allow_pickle: Any = True) -> Any:
    if is_alone():
        return NotImplemented
    check_path("save", file)
    if not in_pieces(arr):
        return each(numpy.save, file, ".npy", arr, allow_pickle)
    head, rows = header(arr)
    if is_path(file):
        return write(suffixed(file, ".npy"), head, rows)
    if not hasattr(file, "write"):
        os.fspath(file)  # which says what is wrong, as it does to NumPy
    file.write(head)
    for values in everywhere(rows):
        file.write(values.tobytes())
    return None


@native(numpy.load, names_file=True)
def load(
    file: Any,
    mmap_mode: Any = None,
    allow_pickle: Any = False,
    fix_imports: Any = True,
    encoding: Any = "ASCII",
    *,
    max_header_size: Any = npy.read_array.__globals__["_MAX_HEADER_SIZE"],
) -> Any:
    check_path("load", file)
    if is_alone() or mmap_mode or not is_path(file) or not _is_npy(file):
        return NotImplemented
    with open(file, "rb") as opened:
        return opened_in_pieces(file, 0, opened, 2**64 if allow_pickle else max_header_size)


def opened_in_pieces(path: Any, start: int, file: Any, limit: int) -> Any:
    """An array of which each rank reads its piece; `file` is opened where that of a name starts."""
    version = npy.read_magic(file)
    shape, columns, dtype = _BEHIND["_read_array_header"](file, version, limit)
    if not is_moved(dtype):
        return NotImplemented
    found = read(path, start + file.tell(), shape[::-1] if columns else shape, dtype)
    if found is None:
        return NotImplemented
    return found.T._owner() if columns else found


def _is_npy(file: Any) -> bool:
    with open(file, "rb") as opened:
        return opened.read(len(npy.MAGIC_PREFIX)) == npy.MAGIC_PREFIX


@native(numpy.fromfile, names_file=True)
def fromfile(
    file: Any, dtype: Any = None, count: Any = -1, sep: Any = "", offset: Any = 0, **kwargs: Any
) -> Any:
    kind = numpy.dtype(dtype)
    check_path("fromfile", file)
    if is_alone() or kwargs or sep or not is_path(file) or not is_moved(kind):
        return NotImplemented
    if not os.path.isfile(file) or not isinstance(offset, int) or offset < 0:
        return NotImplemented
    there = max(0, os.path.getsize(file) - offset) // kind.itemsize
    length = there if count == -1 else min(int(count), there)
    found = read(file, offset, (length,), kind) if length > 0 else None
    return NotImplemented if found is None else found


@native(numpy.ndarray.tofile, "dappled.ndarray", names_file=True)
def tofile(self: Any, fid: Any, /, sep: Any = "", format: Any = "%s") -> Any:
    if is_alone():
        return NotImplemented
    check_path("ndarray.tofile", fid)
    if not in_pieces(self):
        return each(_to_file, fid, "", self, sep, format)
    if is_path(fid) and not sep:
        return write(fid, b"", self)
    if is_path(fid):
        return _as_text(fid, self, sep, format)
    for place, values in enumerate(everywhere(self)):
        _put(fid, sep if place else "", values, sep, format)
    return None


def _to_file(file: Any, array: Any, sep: str, format: str) -> None:
    array.tofile(file, sep, format)


def _put(file: Any, before: str, values: Any, sep: str, format: str) -> None:
    if before:
        file.write(before.encode())
        file.flush()
    values.tofile(file, sep, format)


def _as_text(path: Any, array: Any, sep: str, format: str) -> None:
    guard = Guard()
    file = guard.do(open, path, "wb")
    for place, values in enumerate(chunks(array)):
        guard.do(_put, file, sep if place else "", values, sep, format)
    if file:
        guard.do(file.close)
    guard.end()
