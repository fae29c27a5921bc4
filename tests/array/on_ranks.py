"""Runs on every rank: the same programs with NumPy and with Dappled, and what was different.

    mpiexec -n 3 python on_ranks.py [share of the cases, from 0 to 1] [names …]
"""

import pickle
import sys

import dappled
import numpy
from compare import run
from dappled import _core
from ranks_tables import tables

FIELDS = ("value", "written", "raised", "shared")
# What NumPy does in memory that is not there: see docs.
UNLIKE = {"nditer", "dot out", "copyto"}


def main():
    share = float(sys.argv[1]) if len(sys.argv) > 1 else 1
    dappled.config.fallback = "quiet"
    number, different = 0, []
    for name, program, cases in tables(share):
        if name not in UNLIKE and name in (sys.argv[2:] or [name]):
            number += len(cases)
            different += compared(name, program, cases)
    if dappled.comm.rank == 0:
        print(*different[:30], f"{number} cases, {len(different)} differences", sep="\n")
    sys.exit(bool(different))


def compared(name, program, cases):
    """What is different, the same on all ranks: they agree before they go on."""
    theirs = [run(numpy, program, make) for _, make in cases]
    ours = [run(dappled, program, make) for _, make in cases]
    every = [pickle.loads(sent) for sent in _core.gather(name, pickle.dumps(ours))]
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
    main()
