"""Command: runs random calls on all ranks and prints differences.

    mpiexec -n 3 python -m tests.fuzz.run_calls FIRST LAST [WORD]

draws calls by their numbers, those of templates that have the word. Or one of them is said:

    mpiexec -n 3 python -m tests.fuzz.run_calls 'a = lay(some("d", (4, 6)), "bc"); +a.sum(axis=0)'
"""

import sys

import dappled

from tests.fuzz.calls import table
from tests.support.rank_arrays import allgather


def main(first, last=None, word=""):
    dappled.config.fallback = "quiet"
    numbers = range(int(first), int(last)) if last else [first]
    different = 0
    for number in numbers:
        call = table.drawn(number, word) if last else table.said(first)
        if dappled.comm.rank == 0:
            print(call, file=sys.stderr, flush=True)
        text = table.difference(call, allgather)
        different += bool(text)
        if text and dappled.comm.rank == 0:
            print(f"{text}\n", flush=True)
    if dappled.comm.rank == 0:
        print(f"{len(numbers)} calls, {different} differences")
    sys.exit(bool(different))


if __name__ == "__main__":
    main(*sys.argv[1:])
