"""NumPy's meaning on any number of ranks: every rank runs the same programs, within a time limit.

Arrays are in pieces however small they are, or else whole on every rank. `make test` runs a part
of the programs on many ranks, `make test-ranks` all of them; DAPPLED_TEST_TIMES=8 is for a night.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.mpi import MPIEXEC

PROGRAM = Path(__file__).parent / "on_ranks.py"
LIMIT = 900
IN_PIECES, WHOLE = "0", "1000000"
# Ranks, from how many bytes on arrays are in pieces, and which part of the programs.
RUNS = [
    (1, IN_PIECES, "0/1"),
    (2, IN_PIECES, "0/1"),
    (2, WHOLE, "0/2"),
    (3, IN_PIECES, "0/2"),
    (4, IN_PIECES, "1/4"),
    (7, IN_PIECES, "3/8"),
]
# Ranks, and the bytes that may be used beside the arrays.
STAYING = [(1, "1000"), (3, "4000"), (7, "")]
if os.environ.get("DAPPLED_TEST_ALL"):
    RUNS = [(ranks, IN_PIECES, "0/1") for ranks in (1, 2, 3, 4, 7)] + [(2, WHOLE, "0/1")]
    STAYING += [(2, ""), (4, "")]
# Ranks, and how many drawn calls; DAPPLED_TEST_CALLS=20 draws so many times as many.
CALLS = {2: 800, 3: 600, 4: 300, 7: 100}
CALLS_TIMES = int(os.environ.get("DAPPLED_TEST_CALLS", "1"))


def on_ranks(ranks, *command, whole_below=IN_PIECES, **more):
    """Runs Python on so many ranks; what hangs is ended."""
    full = [
        "timeout",
        "-k",
        "5",
        str(LIMIT),
        str(MPIEXEC),
        "-n",
        str(ranks),
        sys.executable,
        *command,
    ]
    env = {**os.environ, "DAPPLED_WHOLE_BELOW": whole_below, "DAPPLED_THREADS": "1", **more}
    return subprocess.run(full, capture_output=True, text=True, env=env)


@pytest.mark.parametrize(("ranks", "whole_below", "part"), RUNS)
def test_programs_do_what_numpy_does(ranks, whole_below, part):
    done = on_ranks(ranks, str(PROGRAM), part, whole_below=whole_below)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    assert " 0 differences" in done.stdout


@pytest.mark.parametrize("ranks", CALLS)
def test_drawn_calls(ranks):
    """Each number of ranks has calls of its own."""
    numbers = [ranks * 1_000_000, ranks * 1_000_000 + CALLS[ranks] * CALLS_TIMES]
    done = on_ranks(ranks, str(PROGRAM.parent / "calls_on_ranks.py"), *map(str, numbers))
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]


@pytest.mark.parametrize("ranks", [1, 3, 4])
def test_what_is_new_on_several_ranks(ranks):
    done = on_ranks(ranks, str(PROGRAM.parent / "features_on_ranks.py"))
    assert done.returncode == 0, done.stdout + done.stderr[-5000:]


@pytest.mark.parametrize(("ranks", "budget"), STAYING)
def test_nothing_is_brought_together(ranks, budget):
    done = on_ranks(ranks, str(PROGRAM.parent / "pieces_stay.py"), DAPPLED_BUDGET=budget)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    assert done.stdout.endswith("\n0 differences\n") or done.stdout == "0 differences\n"


TABLES = ["native_stays", "array_api", "random_on_ranks", "foreign", "members", "signals_on_ranks"]


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("program", TABLES)
def test_tables(program, ranks):
    """Native names bring nothing together; the array API standard; NumPy's random numbers."""
    done = on_ranks(ranks, str(PROGRAM.parent / f"{program}.py"))
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    assert "0 differences" in done.stdout


@pytest.mark.parametrize("program", ["testing", "along"])
def test_what_is_said_of_pieces(program):
    file = PROGRAM.parent / f"{program}_on_ranks.py"
    done = on_ranks(3, str(file), whole_below="2000")
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]


@pytest.mark.parametrize("ranks", [1, 3])
def test_files(ranks, tmp_path):
    done = on_ranks(ranks, str(PROGRAM.parent / "files_on_ranks.py"), str(tmp_path))
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
