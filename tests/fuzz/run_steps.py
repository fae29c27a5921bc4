"""Command: runs random programs of steps on all ranks and prints differences.

mpiexec -n 3 python -m tests.fuzz.run_steps FIRST LAST [FAMILY]
"""

import pickle
import sys

import dappled
from dappled import _core

from tests.fuzz.steps import program

LENGTH = 20


def agreed(value):
    """What all ranks have: they go on when all of them know it."""
    return [pickle.loads(sent) for sent in _core.gather("a test", pickle.dumps(value))]


def main(first, last, family=None):
    dappled.config.fallback = "quiet"
    different = 0
    for seed in range(int(first), int(last)):
        if dappled.comm.rank == 0:
            print("seed", seed, file=sys.stderr, flush=True)
        text = program.difference(seed, LENGTH, family, agreed)
        different += bool(text)
        if text and dappled.comm.rank == 0:
            print(text, flush=True)
    if dappled.comm.rank == 0:
        print(f"{int(last) - int(first)} programs, {different} differences")
    sys.exit(bool(different))


if __name__ == "__main__":
    main(*sys.argv[1:])
