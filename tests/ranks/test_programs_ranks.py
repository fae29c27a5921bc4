"""Runs on every rank: the same programs with NumPy and with Dappled, and what was different.

    mpiexec -n 3 python on_ranks.py PART/PARTS [NAME …]

takes every so many-th program of the tables and of the drawn ones; 0/1 are all of them.
DAPPLED_TEST_TIMES (in `ranks_tables`) asks for more cases of each.
"""

import itertools
import pickle
import sys

import dappled
import numpy
from dappled import _core

from tests.ranks.opaque_program_tables import items_tables
from tests.ranks.program_tables import TIMES, tables
from tests.support.compare import run

FIELDS = ("value", "written", "raised", "shared")
# NumPy writes element by element into memory that an array in pieces does not have; and of an error
# of casting has different texts for arrays of different sizes.
UNLIKE = {"nditer", "items nditer", "two items logical_xor"}
PROGRAMS, LENGTH = 42, 20


def main(part, parts, names):
    dappled.config.fallback = "quiet"
    number, different = 0, []
    every = itertools.chain(tables(), items_tables())
    for name, program, cases in itertools.islice(every, part, None, parts):
        if name not in UNLIKE and name in (names or [name]):
            number += len(cases)
            different += compared(name, program, cases)
    for seed in range(part, 0 if names else PROGRAMS * TIMES, parts):
        number += 1
        different += filter(None, [program.difference(seed, LENGTH, None, agreed)])
    if dappled.comm.rank == 0:
        print(*different[:20], f"{number} cases, {len(different)} differences", sep="\n")
    sys.exit(bool(different))


def agreed(value):
    """What all ranks have: they go on when all of them know it."""
    return [pickle.loads(sent) for sent in _core.gather("a test", pickle.dumps(value))]


def compared(name, program, cases):
    """What is different, the same on all ranks."""
    theirs = [run(numpy, program, make) for _, make in cases]
    every = agreed([run(dappled, program, make) for _, make in cases])
    found = []
    for (case, _), expected, outcomes in zip(cases, theirs, zip(*every, strict=True), strict=True):
        found += [f"{name} {case} {text}" for text in differences(expected, outcomes)]
    return found


def differences(expected, outcomes):
    for field in FIELDS:
        wanted = getattr(expected, field)
        for rank, outcome in enumerate(outcomes):
            if (found := getattr(outcome, field)) != wanted:
                yield f"{field} on rank {rank}:\n  NumPy   {wanted}\n  Dappled {found}"
                break
    # A warning comes from the rank that has seen it.
    warned = {warning for outcome in outcomes for warning in outcome.warned}
    if warned != set(expected.warned):
        yield f"warned:\n  NumPy   {expected.warned}\n  Dappled {warned}"


if __name__ == "__main__":
    main(*map(int, sys.argv[1].split("/")), sys.argv[2:])
