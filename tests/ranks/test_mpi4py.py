"""mpi4py in the same program: imported before or after, and its communicators."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.mpi import MPIEXEC

SCRIPT = Path(__file__).parent / "mpi4py_cases.py"
CASES = ["mpi4py_first", "mpi4py_last", "whole_world", "groups", "too_late", "no_communicator"]
pytestmark = [
    pytest.mark.skipif(not importlib.util.find_spec("mpi4py"), reason="mpi4py is not installed"),
]


@pytest.mark.parametrize("case", CASES)
def test_mpi4py_in_one_program(case):
    command = ["timeout", "-k", "5", "60", str(MPIEXEC), "-n", "4", sys.executable, str(SCRIPT)]
    env = {**os.environ, "DAPPLED_REPLICATE_BELOW": "0", "DAPPLED_THREADS": "1"}
    done = subprocess.run([*command, case], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
