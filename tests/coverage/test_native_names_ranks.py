"""Runs on every rank: each name that is native, called with arrays in pieces, brings none together.

With names as arguments, these; with --all, also what is gathered, to find what no longer is.
"""

import sys

import dappled as np
import numpy
from dappled.coverage.names import table

from tests.coverage.native_samples import ELSEWHERE, samples
from tests.support.distributed import differences, laid_out

VALUES = numpy.arange(60.0 * 42).reshape(60, 42) % 17 - 5
LAYOUTS = ["bb", "cn"]


def wrong(name):
    """What is wrong with a name that is native."""
    programs = samples(name)
    if not programs:
        return [f"{name}: no sample in native_samples.py"]
    found = []
    for program in programs:
        for layout in LAYOUTS:
            a = laid_out(VALUES, layout)
            found += tried(f"{name} {layout}", program, a)
    return found


def tried(name, program, a):
    with numpy.errstate(all="ignore"):
        try:
            return differences(name, program, [a], VALUES.nbytes // 8)
        except Exception as error:
            return [f"{name}: {type(error).__name__}: {error}"]


def main(arguments):
    ways = table()
    names = [name for name in arguments if name in ways]
    others = " ".join(ELSEWHERE.values()).split()
    native = [name for name in ways if ways[name] == "native" and name not in others]
    names = names or native
    found = [text for name in names for text in wrong(name)]
    if "--all" in arguments:
        rest = [name for name in ways if ways[name] == "gathered" and samples(name)]
        found += [f"{name} is not gathered" for name in rest if not wrong(name)]
    if np.comm.rank == 0:
        print(*found, f"{len(names)} names, {len(found)} differences", sep="\n")
    sys.exit(bool(found))


if __name__ == "__main__":
    main(sys.argv[1:])
