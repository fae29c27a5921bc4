"""savez and members of `.npz` archives: rank 0 writes chunks, all ranks read their pieces."""

from __future__ import annotations

import zipfile
from typing import Any

import numpy
from numpy.lib import format as npy

from dappled._dispatch.implements import implements
from dappled._ranks.map_blocks import is_distributed
from dappled._routines.io.npy import load_distributed, npy_header, with_suffix, write_on_each_rank
from dappled._routines.io.parallel import (
    CollectiveGuard,
    check_path,
    chunks_on_root,
    is_path,
    is_single_rank,
)

_NAME_LENGTH_OFFSET = 26  # offset of the name's length in a local file header


def read_member(archive: Any, key: Any) -> Any:
    """An array of an uncompressed archive in a named file; NotImplemented for others."""
    path: Any = getattr(archive.fid, "name", None)
    names = {name.removesuffix(".npy"): name for name in archive.zip.namelist()}
    name = names.get(key.removesuffix(".npy")) if isinstance(key, str) else None
    if is_single_rank() or not is_path(path) or name is None or not name.endswith(".npy"):
        return NotImplemented
    info = archive.zip.getinfo(name)
    if info.compress_type != zipfile.ZIP_STORED:
        return NotImplemented
    with open(path, "rb") as file, archive.zip.open(name) as opened:
        file.seek(info.header_offset + _NAME_LENGTH_OFFSET)
        lengths = int.from_bytes(file.read(2), "little") + int.from_bytes(file.read(2), "little")
        start = info.header_offset + _NAME_LENGTH_OFFSET + 4 + lengths
        return load_distributed(path, start, opened, archive.max_header_size)


def _savez(
    compression: int, file: Any, args: tuple[Any, ...], kwds: dict[str, Any], allow_pickle: Any
) -> Any:
    arrays = _named_arrays(args, kwds) or {}
    if is_single_rank() or not is_path(file):
        return NotImplemented
    check_path(_WRITERS[compression].__name__, file)
    if not any(map(is_distributed, arrays.values())):
        return write_on_each_rank(
            _WRITERS[compression], file, ".npz", *args, allow_pickle=allow_pickle, **kwds
        )
    guard = CollectiveGuard()
    kind = {"mode": "w", "compression": compression, "allowZip64": True}
    archive = guard.do(zipfile.ZipFile, with_suffix(file, ".npz"), **kind)
    for key, value in arrays.items():
        _write_member(guard, archive, f"{key}.npy", value, allow_pickle)
    if archive:
        guard.do(archive.close)
    guard.end()
    return None


_WRITERS = {zipfile.ZIP_STORED: numpy.savez, zipfile.ZIP_DEFLATED: numpy.savez_compressed}


def _write_member(
    guard: CollectiveGuard, archive: Any, name: str, value: Any, allow_pickle: Any
) -> None:
    member = guard.do(lambda: archive.open(name, "w", force_zip64=True))
    if is_distributed(value):
        head, rows = npy_header(value)
        guard.do(lambda: member.write(head))
        for values in chunks_on_root(rows):
            guard.do(lambda values=values: member.write(values.tobytes()))
    else:
        whole = numpy.asanyarray(value)
        guard.do(lambda: npy.write_array(member, whole, allow_pickle=allow_pickle))
    if member:
        guard.do(member.close)


def _named_arrays(args: tuple[Any, ...], kwds: dict[str, Any]) -> dict[str, Any] | None:
    """Arrays by name; None for a duplicate name, for which NumPy raises."""
    numbered = {f"arr_{position}": value for position, value in enumerate(args)}
    return None if numbered.keys() & kwds.keys() else {**kwds, **numbered}


@implements(numpy.savez, names_file=True)
def savez(file: Any, *args: Any, allow_pickle: Any = True, **kwds: Any) -> Any:
    return _savez(zipfile.ZIP_STORED, file, args, kwds, allow_pickle)


@implements(numpy.savez_compressed, names_file=True)
def savez_compressed(file: Any, *args: Any, allow_pickle: Any = True, **kwds: Any) -> Any:
    return _savez(zipfile.ZIP_DEFLATED, file, args, kwds, allow_pickle)
