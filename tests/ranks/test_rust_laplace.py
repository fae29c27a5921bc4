"""The Rust example `laplace`, alone and over MPI, computes NumPy's bits."""

import json
import os
import struct
import subprocess
from functools import reduce
from operator import add
from pathlib import Path

import numpy as np
import pytest

from tests.support.mpi import MPIEXEC

ROOT = Path(__file__).parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
EXAMPLES = TARGET / "dappled" / "examples"
TIMES = 50
LIMIT = 60
# Alone, and under mpiexec on several ranks.
LAUNCHERS = [(), *((str(MPIEXEC), "-n", str(ranks)) for ranks in (1, 2, 3, 4, 7))]


def laplace(rows, columns):
    """The example of the design page."""
    u = np.zeros((rows, columns))
    u[0] = 1
    for _ in range(TIMES):
        u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
    return u


def printed(launcher, example, *arguments):
    command = [*launcher, str(EXAMPLES / example), *map(str, arguments), str(TIMES)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.parametrize("launcher", LAUNCHERS, ids=" ".join)
def test_plans_and_kernels(launcher):
    """The program prints the bits of the sum of the sums of the rows, in order."""
    total = reduce(add, (reduce(add, row) for row in laplace(37, 23).tolist()))
    assert printed(launcher, "laplace", 37, 23).split()[-1] == struct.pack(">d", total).hex()


@pytest.mark.parametrize("launcher", LAUNCHERS, ids=" ".join)
def test_lazy_arrays(launcher):
    shown = printed(launcher, "array_laplace", 29).split("= ")[1]
    assert json.loads(shown) == laplace(29, 29)[1, 1:4].tolist()
