"""Archives of arrays (`.npz`): written by the first rank, chunk by chunk; read in pieces."""

from __future__ import annotations

import zipfile
from typing import Any

import numpy
from numpy.lib import format as npy

from dappled._files import each, header, opened_in_pieces, suffixed
from dappled._native import native
from dappled._parts import Guard, check_path, chunks, is_alone, is_path
from dappled._piecewise import in_pieces

_LENGTHS = 26  # bytes of an entry of an archive before it says how long its name is


def member(archive: Any, key: Any) -> Any:
    """An array of an archive in a named file that is not compressed; else NotImplemented."""
    path: Any = getattr(archive.fid, "name", None)
    names = {name.removesuffix(".npy"): name for name in archive.zip.namelist()}
    name = names.get(key.removesuffix(".npy")) if isinstance(key, str) else None
    if is_alone() or not is_path(path) or name is None or not name.endswith(".npy"):
        return NotImplemented
    info = archive.zip.getinfo(name)
    if info.compress_type != zipfile.ZIP_STORED:
        return NotImplemented
    with open(path, "rb") as file, archive.zip.open(name) as opened:
        file.seek(info.header_offset + _LENGTHS)
        lengths = int.from_bytes(file.read(2), "little") + int.from_bytes(file.read(2), "little")
        start = info.header_offset + _LENGTHS + 4 + lengths
        return opened_in_pieces(path, start, opened, archive.max_header_size)


def _savez(
    compression: int, file: Any, args: tuple[Any, ...], kwds: dict[str, Any], allow_pickle: Any
) -> Any:
    arrays = _named(args, kwds) or {}
    if is_alone() or not is_path(file):
        return NotImplemented
    check_path(_WRITERS[compression].__name__, file)
    if not any(map(in_pieces, arrays.values())):
        return each(_WRITERS[compression], file, ".npz", *args, allow_pickle=allow_pickle, **kwds)
    guard = Guard()
    kind = {"mode": "w", "compression": compression, "allowZip64": True}
    archive = guard.do(zipfile.ZipFile, suffixed(file, ".npz"), **kind)
    for key, value in arrays.items():
        _add(guard, archive, f"{key}.npy", value, allow_pickle)
    if archive:
        guard.do(archive.close)
    guard.end()
    return None


_WRITERS = {zipfile.ZIP_STORED: numpy.savez, zipfile.ZIP_DEFLATED: numpy.savez_compressed}


def _add(guard: Guard, archive: Any, name: str, value: Any, allow_pickle: Any) -> None:
    member = guard.do(lambda: archive.open(name, "w", force_zip64=True))
    if in_pieces(value):
        head, rows = header(value)
        guard.do(lambda: member.write(head))
        for values in chunks(rows):
            guard.do(lambda values=values: member.write(values.tobytes()))
    else:
        whole = numpy.asanyarray(value)
        guard.do(lambda: npy.write_array(member, whole, allow_pickle=allow_pickle))
    if member:
        guard.do(member.close)


def _named(args: tuple[Any, ...], kwds: dict[str, Any]) -> dict[str, Any] | None:
    """Arrays by name; None where a name is there twice, for which NumPy has words."""
    numbered = {f"arr_{place}": value for place, value in enumerate(args)}
    return None if numbered.keys() & kwds.keys() else {**kwds, **numbered}


@native(numpy.savez, names_file=True)
def savez(file: Any, *args: Any, allow_pickle: Any = True, **kwds: Any) -> Any:
    return _savez(zipfile.ZIP_STORED, file, args, kwds, allow_pickle)


@native(numpy.savez_compressed, names_file=True)
def savez_compressed(file: Any, *args: Any, allow_pickle: Any = True, **kwds: Any) -> Any:
    return _savez(zipfile.ZIP_DEFLATED, file, args, kwds, allow_pickle)
