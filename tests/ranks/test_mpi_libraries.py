"""A selection of tests with other MPI libraries, and with MPICH that sees two nodes."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.mpi import OPEN_MPI, need
from tests.support.ranks_plugin import RANKS as RANKS_VARIABLE
from tests.support.ranks_plugin import REPORTS, SAMPLE

HERE = Path(__file__).parent
VENV = Path(sys.prefix)
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
# Files of tests on ranks, and one in how many of their tests is run.
FILES = {
    "features": (
        [
            "dispatch/test_piecewise_ranks.py",
            "dispatch/test_warnings_ranks.py",
            "ndarray/test_axis_order_ranks.py",
            "ndarray/test_memory_order_ranks.py",
            "ndarray/test_opaque_dtypes_ranks.py",
            "ranks/test_comm_ranks.py",
            "ranks/test_distributions_ranks.py",
            "routines/test_out_of_range_ranks.py",
        ],
        1,
    ),
    "programs": (["ranks/test_programs_ranks.py", "fuzz/test_random_steps.py"], 12),
}


def on_ranks(library, *command, **more):
    folder, variables = LIBRARIES[library]
    need(folder / "bin" / "mpiexec")
    launcher = ["timeout", "-k", "5", str(LIMIT), str(folder / "bin" / "mpiexec")]
    env = {
        **os.environ,
        "DAPPLED_REPLICATE_BELOW": "0",
        "DAPPLED_THREADS": "1",
        **variables,
        **more,
    }
    full = [*launcher, "-n", str(RANKS), sys.executable, *command]
    return subprocess.run(full, capture_output=True, text=True, env=env)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("files", FILES)
def test_tests_pass_with_every_library(library, files, tmp_path):
    paths, sample = FILES[files]
    variables = {REPORTS: str(tmp_path), RANKS_VARIABLE: str(RANKS), SAMPLE: str(sample)}
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=short"]
    tests = [str(HERE.parent / path) for path in paths]
    done = on_ranks(library, "-m", "pytest", *options, *tests, **variables)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_program_runs_with_every_library(library):
    done = on_ranks(library, str(HERE / "no_hang_cases.py"), "fine")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("case", ["raises", "exits", "is_killed", "branches"])
def test_nothing_hangs_with_any_library(library, case, tmp_path, monkeypatch):
    monkeypatch.setenv("DAPPLED_TEST_SAID", str(tmp_path))
    started = time.monotonic()
    done = on_ranks(library, str(HERE / "no_hang_cases.py"), case)
    # A launcher may give 137 for a rank that was killed, as `timeout` does for one that had to be.
    hangs = done.returncode == 124 or time.monotonic() - started > LIMIT
    assert done.returncode and not hangs, done.stdout[-3000:] + done.stderr[-3000:]


@pytest.mark.parametrize("library", ["standard ABI", "Open MPI"])
def test_the_intended_library_is_loaded(library):
    """`comm.name` names the library, and /proc/self/maps the loaded file."""
    program = "import dappled; print(dappled.comm.name, open('/proc/self/maps').read())"
    done = on_ranks(library, "-c", program)
    assert done.returncode == 0, done.stderr
    assert ("Open MPI v" if library == "Open MPI" else "libmpi_abi.so.1") in done.stdout
