"""No hang: when one rank fails or diverges, all ranks end with the reason."""

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.mpi import MPIEXEC

SCRIPT = Path(__file__).parent / "no_hang_cases.py"
RANKS = 3
# A job that takes longer hangs. The requirement is 5 s on an idle machine.
LIMIT = 60


def job(*command, ranks=RANKS, **variables):
    """Runs Python on several ranks with a time limit."""
    launcher = ["timeout", "-k", "5", str(LIMIT), str(MPIEXEC), "-n", str(ranks)]
    env = {**os.environ, "DAPPLED_REPLICATE_BELOW": "0", "DAPPLED_THREADS": "1", **variables}
    command = [*launcher, sys.executable, *map(str, command)]
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    assert done.returncode not in (124, 137), f"{command} hangs\n{done.stdout}{done.stderr}"
    return done


# One rank's action, and messages that appear once. For a killed process mpiexec reports.
ENDINGS = {
    "raises": ["ValueError: only here", "rank 1 of 3"],
    "raises_while_others_are_elsewhere": ["ValueError: only here", "rank 1 of 3"],
    "exits": ["rank 1 left with exit status 3"],
    "leaves": ["rank 1 left"],
    "catches": ["ranks diverged:"],
    "exits_while_others_are_elsewhere": ["rank 1 left with exit status 3"],
    "ends_itself": ["rank 1 of 3 ends itself with status 3"],
    "is_killed": [],
    "crashes": ["Segmentation fault"],
    "has_no_memory_for_numpy": ["MemoryError: Unable to allocate", "rank 1 of 3"],
    "has_no_memory_for_us": ["MemoryError: Unable to allocate", "of it on rank 1 of 3"],
}


@pytest.mark.parametrize("case", ENDINGS)
def test_all_ranks_end_when_one_does(case, tmp_path):
    done = job(SCRIPT, case, DAPPLED_TEST_SAID=str(tmp_path))
    assert done.returncode != 0
    for said in ENDINGS[case]:
        assert done.stderr.count(said) == 1, done.stderr


# The difference between ranks, and the source lines that the error shows.
DIVERGENCES = {
    "branches": ["a.sum()", "return a[::-1] + 1"],
    "other_shapes": ["return np.arange(float(count)) + 1"],
    "other_order": ["return [a.sum(), a.max()] if RANK else"],
    "one_more_iteration": ["a[1:-1] = a[:-2] + a[2:]"],
    "another_number": ["b = a * (1 + RANK)"],
    "another_small_array": ["b = a + numpy.array([float(RANK)])"],
    "another_array": ["b = array(1000) + numpy.full(1000, float(RANK))"],
    "gathers_something_else": ['_core.gather(f"something'],
    "no_message_at_all": ["b = a * 2 if RANK else a * 3"],
}

# On how many ranks an exception is raised where others are told at their end.
FOUND_LATE = {"one_more_iteration": 1, "no_message_at_all": 0}


@pytest.mark.parametrize("case", DIVERGENCES)
def test_diverging_ranks_raise(case, tmp_path):
    check = str(int(case == "another_array"))  # the others are found without it
    done = job(SCRIPT, case, DAPPLED_TEST_SAID=str(tmp_path), DAPPLED_CHECK=check)
    assert done.returncode != 0
    texts = [file.read_text() for file in tmp_path.iterdir()]
    assert len(texts) == FOUND_LATE.get(case, RANKS), done.stderr
    for text in texts or [done.stderr]:
        assert "ranks diverged" in text
        lines = [line for line in text.splitlines() if f"{SCRIPT.name}:" in line]
        assert lines and all(asked(line) in DIVERGENCES[case] for line in lines), text


def asked(text):
    """The entry of the table for the line that a text names."""
    number = int(re.search(rf"{SCRIPT.name}:(\d+)", text)[1])
    line = SCRIPT.read_text().splitlines()[number - 1].strip()
    known = [entry for entries in DIVERGENCES.values() for entry in entries]
    return next((entry for entry in known if line.startswith(entry)), line)


def test_legal_differences_do_not_hang():
    from tests.ranks import no_hang_cases

    done = job(SCRIPT, "fine", DAPPLED_STALL="0.3")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split() == [case.__name__ for case in no_hang_cases.FINE]
    line = inspect.getsourcelines(no_hang_cases.stalls)[1] + 3
    awaited = [text for text in done.stderr.splitlines() if f"{SCRIPT.name}:{line}" in text]
    assert awaited and "has waited" in awaited[0] and " for rank " in awaited[0], done.stderr


def test_a_library_that_does_not_fit_is_named():
    program = "import dappled; dappled.comm.size"
    none = job("-c", program, DAPPLED_MPI_LIBRARY="/nowhere/libmpi.so.12")
    assert none.returncode != 0 and "/nowhere/libmpi.so.12" in none.stderr
    env = {**os.environ, "OMPI_COMM_WORLD_SIZE": "4"}
    wrong = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=env, timeout=LIMIT
    )
    assert "OMPI_COMM_WORLD_SIZE=4" in wrong.stderr and "sees 1 rank" in wrong.stderr
