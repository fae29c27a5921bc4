"""The marker `ranks`: a failure on one rank fails the test and no other test."""

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import dappled as np, pytest

@pytest.mark.ranks(1, 2)
def test_right():
    assert np.arange(10).sum() == 45

@pytest.mark.ranks(1, 2)
def test_wrong_on_one_rank():
    assert np.comm.rank == 0

@pytest.mark.ranks(2)
def test_diverging():
    if np.comm.rank == 1:
        raise KeyError("only here")
    np.arange(10).sum()

@pytest.mark.ranks(2)
def test_after_it(ranks):
    assert np.comm.size == ranks
"""
EXPECTED = """
test_right[ranks1] PASSED
test_right[ranks2] PASSED
test_wrong_on_one_rank[ranks1] PASSED
test_wrong_on_one_rank[ranks2] FAILED
test_diverging[ranks2] FAILED
test_after_it[ranks2] PASSED
"""


def test_each_test_has_an_outcome(tmp_path):
    (tmp_path / "test_it.py").write_text(PROGRAM)
    folder = str(Path(__file__).parents[2])
    (tmp_path / "conftest.py").write_text(
        f"import sys\nsys.path.insert(0, {folder!r})\nfrom tests.support.ranks_plugin import *\n"
    )
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "test_it.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    lines = [
        line.split("::")[1].split(" [")[0]
        for line in done.stdout.splitlines()
        if "::" in line and "%" in line
    ]
    assert sorted(" ".join(line.split()[:2]) for line in lines) == sorted(
        EXPECTED.split("\n")[1:-1]
    )
    assert "rank 1 failed alone" in done.stdout and "only here" in done.stdout
