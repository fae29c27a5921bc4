"""The command `dappled doctor`: what would be used, and whether it works."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

from dappled import _core
from dappled.launch import mpiexec

_DESCRIPTION = """\
Say which MPI would be used and why, and try two ranks. The exit status is 0 if all is well."""
_LIMIT = 60  # seconds for the two ranks

# Run by two ranks: what they found, and whether a sum over both of them is right.
_PROBE = """
import json, sys
from dappled import _core
library = _core.mpi_library(sys.prefix)
import dappled
total = dappled.arange(1000_000).sum()
facts = library | {"ranks": dappled.comm.size, "threads": _core.cpu()[1], "total": int(total)}
print(json.dumps(facts, default=str))
"""
_TOTAL = 499999500000


def add_parser(commands: Any) -> None:
    """Adds `doctor` to the subcommands."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "doctor", help="say what is used, and whether it works", description=_DESCRIPTION
    )
    parser.set_defaults(run=run, parser=parser)


def run(_: argparse.Namespace) -> int:
    """Prints what it finds, and returns 0 if all is well."""
    print(f"Dappled     {version('dappled')}, Python {sys.version.split()[0]}, NumPy {_numpy()}")
    variant, threads = _core.cpu()
    print(f"one rank    {threads} thread(s), loops for {variant} instructions, no MPI")
    launcher = mpiexec.find(os.environ)
    if launcher is None:
        print(f"mpiexec     none\n\n{mpiexec.ADVICE}")
        print(*_set(), sep="\n", end="\n" * bool(_set()))
        return 1
    print(f"mpiexec     {launcher.program}: {launcher.why}", flush=True)
    begun = time.monotonic()
    lines, well = _two_ranks()
    print(*lines, sep="\n")
    if well:
        print(f"\nall is well; two ranks took {time.monotonic() - begun:.1f} s to start and end")
    return int(not well)


def _numpy() -> str:
    return version("numpy")


def _two_ranks() -> tuple[list[str], bool]:
    """What two ranks found, and whether all is well."""
    command = [sys.executable, "-m", "dappled", "run", "-n", "2", "-c", _PROBE]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_LIMIT, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        return [*_library(), f"two ranks   did not end within {_LIMIT} s", *_hints()], False
    if done.returncode != 0:
        said = (done.stdout + done.stderr).strip()
        return [*_library(), f"two ranks   failed:\n\n{said}", *_hints()], False
    facts = json.loads(done.stdout)
    return _described(facts), facts["total"] == _TOTAL and facts["ranks"] == 2


def _described(facts: dict[str, Any]) -> list[str]:
    library = f"{facts['file']}: {facts['why']}"
    right = "right" if facts["total"] == _TOTAL else f"WRONG: {facts['total']} is not {_TOTAL}"
    return [
        f"MPI         {facts['version']}, {facts['abi']}",
        f"            {library}",
        f"two ranks   {facts['ranks']} x {facts['threads']} thread(s); a sum over both is {right}",
    ]


def _library() -> list[str]:
    """What this process itself would load, where ranks could not say."""
    try:
        facts = _core.mpi_library(sys.prefix)
    except RuntimeError as error:
        return [f"MPI         none: {str(error).removeprefix('launched by MPI, but ')}"]
    return [f"MPI         {facts['version']}, {facts['abi']}, {facts['file']}: {facts['why']}"]


def _hints() -> Iterator[str]:
    """What to look at, where something is there and does not work."""
    yield "\nmpiexec and the MPI library must be of one MPI. To choose both:"
    yield "  DAPPLED_MPIEXEC=/path/bin/mpiexec DAPPLED_MPI_LIBRARY=/path/lib/libmpi.so.12"
    yield from _set()


def _set() -> list[str]:
    """What was set by somebody, and may be the reason."""
    names = ("DAPPLED_MPIEXEC", "DAPPLED_MPI_LIBRARY", "DAPPLED_FABRIC")
    return [f"  {name} is set: {os.environ[name]}" for name in names if name in os.environ]
