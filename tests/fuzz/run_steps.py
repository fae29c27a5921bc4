"""Command: runs random programs of steps on all ranks and prints differences.

mpiexec -n 3 python -m tests.fuzz.run_steps FIRST LAST [FAMILY]
"""

import sys

import dappled

from tests.fuzz.steps import program
from tests.support.rank_arrays import allgather

LENGTH = 20


def main(first, last, family=None):
    dappled.config.fallback = "quiet"
    different = 0
    for seed in range(int(first), int(last)):
        if dappled.comm.rank == 0:
            print("seed", seed, file=sys.stderr, flush=True)
        text = program.difference(seed, LENGTH, family, allgather)
        different += bool(text)
        if text and dappled.comm.rank == 0:
            print(text, flush=True)
    if dappled.comm.rank == 0:
        print(f"{int(last) - int(first)} programs, {different} differences")
    sys.exit(bool(different))


if __name__ == "__main__":
    main(*sys.argv[1:])
