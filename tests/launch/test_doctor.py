"""`dappled doctor`: its findings and its advice."""

import sys
from pathlib import Path

import pytest

from tests.support.command import dappled
from tests.support.mpi import MPIEXEC

LIBRARY = Path(sys.prefix) / "lib" / "libmpi.so.12"


def test_all_is_well():
    done = dappled("doctor")
    assert done.returncode == 0, done.stdout
    expected = [
        str(MPIEXEC),
        str(LIBRARY),
        "it lies in Python's prefix",
        "it is in the launcher's installation",
    ]
    expected += ["MPICH's ABI", "a sum over both is right", "all is well"]
    assert [text for text in expected if text not in done.stdout] == []


# What is set, and what is then said.
MISSING = {
    "no mpiexec": (
        {"DAPPLED_MPIEXEC": "/nowhere"},
        ["mpiexec     none", "pip install dappled[mpi]", "DAPPLED_MPIEXEC is set: /nowhere"],
    ),
    "no library": (
        {"DAPPLED_MPI_LIBRARY": "/nowhere"},
        [
            "none: no MPI library could be loaded; tried /nowhere",
            "must be of one MPI",
            "DAPPLED_MPI_LIBRARY is set: /nowhere",
        ],
    ),
    "no ranks": (
        {"DAPPLED_FABRIC": "pigeons"},
        ["DAPPLED_FABRIC=pigeons: expected 'solo' or 'mpi'"],
    ),
}


@pytest.mark.parametrize("name", MISSING)
def test_advice_where_something_is_missing(name):
    variables, said = MISSING[name]
    done = dappled("doctor", **variables)
    assert done.returncode == 1
    assert [text for text in said if text not in done.stdout] == [], done.stdout
