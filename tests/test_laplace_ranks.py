"""The thin line under the array: laplace in Rust, alone and over MPI, has NumPy's bits."""

import os
import struct
import subprocess
import sys
from functools import reduce
from operator import add
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
LAPLACE = TARGET / "dappled" / "examples" / "laplace"
MPIEXEC = Path(sys.prefix) / "bin" / "mpiexec"
ROWS, COLUMNS, TIMES = 37, 23, 50
LIMIT = 60


def numpy_bits():
    """The sum of the sums of the rows, in order, as the program prints it."""
    u = np.zeros((ROWS, COLUMNS))
    u[0] = 1
    for _ in range(TIMES):
        u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
    total = reduce(add, (reduce(add, row) for row in u.tolist()))
    return struct.pack(">d", total).hex()


def printed_bits(*launcher):
    command = [*launcher, str(LAPLACE), str(ROWS), str(COLUMNS), str(TIMES)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    assert run.returncode == 0, run.stderr
    return run.stdout.split()[-1]


def test_alone():
    assert printed_bits() == numpy_bits()


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 7])
def test_over_mpi(ranks):
    assert printed_bits(str(MPIEXEC), "-n", str(ranks)) == numpy_bits()
