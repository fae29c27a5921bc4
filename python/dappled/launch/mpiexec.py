"""Which mpiexec starts the ranks, and what Open MPI's has to be told.

The ranks load the MPI library beside the launcher that started them, so that to choose one is to
choose both.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_NAMES = ("mpiexec", "mpirun")

ADVICE = """\
no mpiexec was found: several ranks need MPI.
  pip install dappled[mpi]     brings MPICH into this Python environment
  or load your cluster's MPI   (module load ...), so that mpiexec is on PATH
  or name one                  DAPPLED_MPIEXEC=/path/to/mpiexec"""

# Open MPI refuses more ranks than cores, refuses root, and binds a rank with all of its threads to
# one core. Other launchers do not read these. The names are those of Open MPI 4 and of 5.
_OPEN_MPI = {
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
}
_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@dataclass(frozen=True)
class Launcher:
    """A program that starts ranks."""

    program: str
    why: str


def find(variables: Mapping[str, str], prefix: str = sys.prefix) -> Launcher | None:
    """The one to use: the first that is there."""
    if asked := variables.get("DAPPLED_MPIEXEC"):
        return _named(asked, variables, "DAPPLED_MPIEXEC names it")
    if library := variables.get("DAPPLED_MPI_LIBRARY"):
        beside = Path(library).resolve().parent.parent / "bin"
        if found := _in(beside, "it is next to DAPPLED_MPI_LIBRARY"):
            return found
    return _in(Path(prefix) / "bin", "it lies in Python's prefix") or _on_path(variables)


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """The variables for the launcher: what is set stays."""
    root = _ROOT if os.geteuid() == 0 else {}
    return {**_OPEN_MPI, **root, **variables}


def _named(program: str, variables: Mapping[str, str], why: str) -> Launcher | None:
    found = shutil.which(program, path=variables.get("PATH"))
    return Launcher(found, why) if found else None


def _in(folder: Path, why: str) -> Launcher | None:
    programs = (folder / name for name in _NAMES)
    found = next((program for program in programs if os.access(program, os.X_OK)), None)
    return Launcher(str(found), why) if found else None


def _on_path(variables: Mapping[str, str]) -> Launcher | None:
    found = (_named(name, variables, "it is on PATH") for name in _NAMES)
    return next(filter(None, found), None)
