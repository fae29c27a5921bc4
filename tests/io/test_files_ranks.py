"""Files as NumPy reads and writes them, of distributed arrays, with nothing gathered."""

import io
import itertools
import time
from functools import partial
from pathlib import Path

import dappled as np
import numpy
import pytest

from tests.support.compare import outcome_of
from tests.support.distributed import laid_out

FOLDER = Path()  # set for each test
DATES = numpy.arange("2000-01-01", "2002-09-27", dtype="M8[D]").reshape(40, 25)
RECORDS = numpy.zeros((40, 25), [("x", "f8"), ("n", "i2")])
RECORDS["x"] = numpy.arange(1000.0).reshape(40, 25)
VALUES = {
    "floats": numpy.arange(1000.0).reshape(40, 25) / 7,
    "columns": numpy.asfortranarray(numpy.arange(1000).reshape(40, 25)),
    "swapped": numpy.arange(1000).astype(">i4").reshape(40, 25),
    "complex": (numpy.arange(1000) * (1 + 2j)).reshape(40, 25),
    "few rows": numpy.arange(1000.0).reshape(2, 500),
    "row": numpy.arange(1001, dtype="u1"),
    "deep": numpy.arange(960.0).reshape(4, 5, 6, 8),
    "dates": DATES,
    "records": RECORDS,
    "texts": numpy.arange(1000).astype("U5").reshape(40, 25),
}
LAYOUTS = ["b", "c"]


def pieces(values, kind):
    """The values distributed, in their memory order."""
    if values.flags.f_contiguous and not values.flags.c_contiguous:
        return laid_out(values.T.copy(), kind + "n" * (values.ndim - 1)).T._owner()
    return laid_out(values, kind + "n" * (values.ndim - 1))


def gathered(act):
    before = np.memory_stats()["gathered"]
    np.config.fallback = "error"
    try:
        found = act()
    finally:
        np.config.fallback = "quiet"
    return found, np.memory_stats()["gathered"] - before


def same(name, act, ours, theirs, expected=None):
    """Differences of files after a call that gathers nothing."""
    found, brought = gathered(act)
    if brought:
        yield f"{name}: {brought} bytes gathered"
    if ours and Path(ours).read_bytes() != theirs:
        yield f"{name}: other bytes in the file"
    if expected is not None:
        yield from equal(name, found, expected)


def equal(name, found, expected):
    if not isinstance(found, np.ndarray) or found.flags.fnc != expected.flags.fnc:
        yield f"{name}: {type(found)} {found.flags}"
    if found.dtype != expected.dtype or not numpy.array_equal(numpy.asarray(found), expected):
        yield f"{name}: {found} is not {expected}"


def saved(values):
    file = io.BytesIO()
    numpy.save(file, values)
    return file.getvalue()


def binary():
    path, raw = FOLDER / "a.npy", FOLDER / "raw"
    for name, values in VALUES.items():
        for kind in LAYOUTS:
            a = pieces(values, kind)
            save, read = partial(np.save, FOLDER / "a", a), partial(np.load, path)
            yield from same(f"save {name}", save, path, saved(values))
            yield from same(f"load {name}", read, None, None, values)
            save, read = partial(a.tofile, raw), partial(np.fromfile, raw, values.dtype)
            yield from same(f"tofile {name}", save, raw, values.tobytes())
            yield from same(f"fromfile {name}", read, None, None, values.reshape(-1))
    row = VALUES["row"]
    a = laid_out(row, "b")[3:-5]
    save = partial(np.save, FOLDER / "p.npy", a)
    yield from same("part", save, FOLDER / "p.npy", saved(row[3:-5]))
    read = partial(np.fromfile, FOLDER / "p.npy", "u1", 900, offset=128 + 7)
    yield from same("offset", read, None, None, row[3:-5][7:907])


def objects():
    """Files that every rank has opened for itself."""
    a, values = pieces(VALUES["floats"], "b"), VALUES["floats"]
    file = io.BytesIO()
    np.save(file, a)
    if file.getvalue() != saved(values):
        yield "save: other bytes in memory"
    file.seek(0)
    yield from equal("load", np.load(file), values)
    with open(FOLDER / f"own{np.comm.rank}", "wb") as opened:
        a.tofile(opened)
    if (FOLDER / f"own{np.comm.rank}").read_bytes() != values.tobytes():
        yield "tofile: other bytes"


def archives():
    a, b = pieces(VALUES["floats"], "c"), pieces(VALUES["columns"], "b")
    for save in (np.savez, np.savez_compressed):
        path = FOLDER / "z.npz"
        _, brought = gathered(partial(save, path, a, some=b, few=[1, 2]))
        with numpy.load(path) as found:
            good = numpy.array_equal(found["arr_0"], VALUES["floats"])
            good &= numpy.array_equal(found["some"], VALUES["columns"]) and brought == 0
            good &= found["few"].tolist() == [1, 2] and set(found.files) == {"arr_0", "some", "few"}
        if not good:
            yield f"{save.__name__}: {brought}"
        np.comm.barrier()
        with np.load(path) as found:
            yield from equal("npz", found["arr_0"], VALUES["floats"])
            if save is np.savez:
                for key, name in (("arr_0", "floats"), ("some.npy", "columns")):
                    yield from same(key, partial(found.__getitem__, key), None, None, VALUES[name])
            if outcome_of(found.__getitem__, "none")[0] is not KeyError:
                yield "npz: no error"
        np.comm.barrier()


def small_archives():
    """Replicated arrays: every rank reads the archive while others write it."""
    for save in [np.savez, np.savez_compressed] * 5:
        save(FOLDER / "small", numpy.arange(5), some=[7])
        yield from equal("small npz", np.load(FOLDER / "small.npz")["arr_0"], numpy.arange(5))
        np.comm.barrier()


def texts():
    path, options = FOLDER / "t.txt", {"header": "some\nlines", "footer": "end", "delimiter": ";"}
    for name in ("floats", "complex", "row"):
        values, file = VALUES[name], io.StringIO()
        numpy.savetxt(file, values, **options)
        save = partial(np.savetxt, path, pieces(values, "b"), **options)
        yield from same(f"savetxt {name}", save, path, file.getvalue().encode())
        np.comm.barrier()  # the next one is written over what others may not have read yet
        if name != "complex":
            read = partial(np.loadtxt, path, delimiter=";")
            yield from same(f"loadtxt {name}", read, None, None, numpy.loadtxt(path, delimiter=";"))
    save = partial(pieces(VALUES["floats"], "b").tofile, FOLDER / "s.txt", ", ", "%.3f")
    VALUES["floats"].tofile(theirs := FOLDER / f"s{np.comm.rank}.txt", ", ", "%.3f")
    yield from same("tofile text", save, FOLDER / "s.txt", theirs.read_bytes())


AGAIN = {
    "npy": (np.save, np.load),
    "npz": (np.savez, lambda path: np.load(path)["arr_0"]),
    "txt": (np.savetxt, np.loadtxt),
    "raw": (lambda path, a: a.tofile(path), np.fromfile),
}
READERS = {"ours": lambda read, path: read(path), "bytes": lambda read, path: path.read_bytes()}


def again():
    """A late rank neither restores older values nor reads newer ones."""
    for kind, (write, read) in AGAIN.items():
        for length, reader in itertools.product((3, 1000), READERS):
            path = FOLDER / f"again.{kind}"
            values = [
                laid_out(numpy.full(length, 1.0 * k), "n" if length == 3 else "b") for k in (0, 1)
            ]
            write(path, values[0])
            expected = READERS[reader](read, path)
            for step in range(1, 9):
                time.sleep(0.003 * (step % np.comm.size == np.comm.rank))
                write(path, values[step % 2])
                same = numpy.array_equal(expected, READERS[reader](read, path))
                if same != (step % 2 == 0):
                    yield f"{kind} of {length} read as {reader}: not those of step {step}"


def small():
    """Replicated arrays: each rank writes the file, and all read it."""
    with np.local():  # nobody waits for those who do not write
        np.save(FOLDER / f"alone{np.comm.rank}", [np.comm.rank]) if np.comm.rank else None
    np.comm.barrier()
    if [int(numpy.load(FOLDER / f"alone{rank}.npy")[0]) for rank in range(1, np.comm.size)] != [
        *range(1, np.comm.size)
    ]:
        yield "written alone"
    np.savetxt(FOLDER / "small.txt", numpy.ones(2))
    np.comm.barrier()
    if (FOLDER / "small.txt").read_text().count("\n") != 2 or list(FOLDER.glob(".dappled*")):
        yield "small text"
    np.comm.barrier()


def errors():
    """Errors are NumPy's, on all ranks."""
    a = pieces(VALUES["floats"], "b")
    np.save(FOLDER / "a.npy", a)
    (FOLDER / "short.npy").write_bytes(saved(VALUES["floats"])[:-80])
    (FOLDER / "other.npy").write_bytes(b"\x93NUMPY\x01\x00\x10\x00nothing at all  ")
    np.comm.barrier()
    calls = {
        "no folder": lambda xp, a: xp.save(FOLDER / "none" / "x.npy", a),
        "no file": lambda xp, a: xp.load(FOLDER / "none.npy"),
        "short": lambda xp, a: xp.load(FOLDER / "short.npy"),
        "other": lambda xp, a: xp.load(FOLDER / "other.npy"),
        "no folder for texts": lambda xp, a: xp.savetxt(FOLDER / "none" / "x", a),
        "no folder for archives": lambda xp, a: xp.savez(FOLDER / "none" / "x", a),
        "fmt": lambda xp, a: xp.savetxt(FOLDER / "wrong.txt", a, fmt=3),
        "fmt few": lambda xp, a: xp.savetxt(FOLDER / "wrong.txt", a, fmt="%d %d"),
        "3 axes": lambda xp, a: xp.savetxt(FOLDER / "wrong.txt", a.reshape(4, 10, 25)),
        "no such text": lambda xp, a: xp.loadtxt(FOLDER / "none.txt"),
        "twice": lambda xp, a: xp.savez(FOLDER / "wrong", a, arr_0=a),
        "tofile": lambda xp, a: a.tofile(FOLDER / "none" / "x"),
        "fromfile": lambda xp, a: xp.fromfile(FOLDER / "none"),
        "mode": lambda xp, a: xp.load(FOLDER / "a.npy", mmap_mode="nonsense"),
    }
    for name, call in calls.items():
        found, expected = outcome_of(call, np, a), outcome_of(call, numpy, VALUES["floats"])
        if found != expected:
            yield f"{name}: {found} is not {expected}"


def mapped():
    np.save(FOLDER / "m.npy", pieces(VALUES["floats"], "b"))
    found = np.load(FOLDER / "m.npy", mmap_mode="r")
    if type(found) is not numpy.memmap or not numpy.array_equal(found, VALUES["floats"]):
        yield f"memmap: {type(found)}"


def new_maps():
    """Each rank writes its part of a new memory map; a late rank clears nothing."""
    size, rank = np.comm.size, np.comm.rank
    makers = {
        "memmap": lambda file: np.memmap(file, "f8", "w+", shape=(size,)),
        "write": lambda file: np.memmap(file, dtype="f8", mode="write", offset=8, shape=(size,)),
        "open_memmap": lambda file: np.lib.format.open_memmap(file, "w+", "f8", (size,)),
    }
    for name, make in makers.items():
        numpy.full(size + 1, 7.0).tofile(FOLDER / f"old{rank}") if name == "memmap" else None
        for path in (FOLDER / name, FOLDER / f"old{rank}"):
            time.sleep(0.1 * rank)
            found = make(path)
            shared = path.name == name
            kept = type(found) is numpy.memmap and isinstance(found, np.memmap) and not found.any()
            found[rank] = rank + 1
            found.flush()
            np.comm.barrier()
            expected = numpy.arange(size) + 1.0 if shared else numpy.eye(size)[rank] * (rank + 1)
            if not (kept or shared) or not numpy.array_equal(found, expected):
                yield f"{name}: {found}"


CHECKS = [binary, objects, archives, small_archives, again, texts, small, mapped, new_maps, errors]


@pytest.mark.ranks(1, 3)
@pytest.mark.usefixtures("quiet_fallback")
@pytest.mark.parametrize("check", CHECKS)
def test_files(check, shared_path, monkeypatch):
    monkeypatch.setitem(globals(), "FOLDER", shared_path)
    assert [*check()] == []
