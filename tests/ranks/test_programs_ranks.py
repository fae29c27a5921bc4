"""Programs of NumPy on any number of ranks: values, writes, errors, warnings and views are NumPy's.

DAPPLED_TEST_TIMES=8 runs more cases of each program; `make test-ranks` runs all on each number.
"""

import dappled
import numpy
import pytest

from tests.ranks.opaque_program_tables import opaque_tables
from tests.ranks.program_tables import tables
from tests.support.compare import run
from tests.support.rank_arrays import allgather

pytestmark = pytest.mark.usefixtures("quiet_fallback")
FIELDS = ("value", "written", "raised", "shared")
# NumPy writes element by element into memory that a distributed array does not have, and its
# casting errors have different texts for arrays of different sizes.
EXCLUDED = {"nditer", "items nditer", "two items logical_xor"}
PROGRAMS = [table for table in (*tables(), *opaque_tables()) if table[0] not in EXCLUDED]
programs = pytest.mark.parametrize(
    ("program", "cases"), [table[1:] for table in PROGRAMS], ids=[table[0] for table in PROGRAMS]
)


@pytest.mark.ranks(1, 2, 3, 4, 7, sample={3: 2, 4: 4, 7: 8})
@programs
def test_programs(program, cases):
    assert differences(program, cases) == []


@pytest.mark.ranks(2, replicated_below=1_000_000, sample={2: 2})
@programs
def test_replicated_programs(program, cases):
    assert differences(program, cases) == []


def differences(program, cases):
    """Differences from NumPy, equal on all ranks."""
    theirs = [run(numpy, program, make) for _, make in cases]
    every = allgather([run(dappled, program, make) for _, make in cases])
    found = []
    for (case, _), expected, outcomes in zip(cases, theirs, zip(*every, strict=True), strict=True):
        found += [f"{case} {text}" for text in case_differences(expected, outcomes)]
    return found


def case_differences(expected, outcomes):
    for field in FIELDS:
        wanted = getattr(expected, field)
        for rank, outcome in enumerate(outcomes):
            if (found := getattr(outcome, field)) != wanted:
                yield f"{field} on rank {rank}:\n  NumPy   {wanted}\n  Dappled {found}"
                break
    # A warning comes from the rank whose elements caused it.
    warned = {warning for outcome in outcomes for warning in outcome.warned}
    if warned != set(expected.warned):
        yield f"warned:\n  NumPy   {expected.warned}\n  Dappled {warned}"
