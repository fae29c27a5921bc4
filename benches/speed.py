"""The same source with NumPy and with Dappled, in one run; beside them what is asked for.

python benches/speed.py [WORDS]: those workloads whose name has one of the words.
"""

import functools
import os
import subprocess
import sys
from pathlib import Path

from timing import REPEATS, seconds, shown
from workloads import WORKLOADS, Workload

IMPORT = (
    "import numpy, time; t = time.perf_counter(); import dappled; print(time.perf_counter() - t)"
)


def fresh(*arguments: str) -> float:
    """What a new process prints: the least of several, modules being compiled already."""
    command = [sys.executable, *arguments]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    run = functools.partial(subprocess.run, command, check=True, capture_output=True, env=env)
    return min(float(run().stdout) for _ in range(REPEATS))


def first_call(module: str, workload: Workload) -> float:
    """Seconds of the first call in a new process, compiling included."""
    return fresh(str(Path(__file__).with_name("first_call.py")), module, workload.name)


def peak_memory(module: str, workload: Workload) -> float:
    """Bytes that a new process needed at most."""
    return fresh(str(Path(__file__).with_name("first_call.py")), module, workload.name, "memory")


def row(name: str, theirs: float, ours: float, goal: float) -> None:
    """One line of the table."""
    ratio = theirs / ours
    verdict = "" if ratio >= goal else "  short"
    print(f"{name:50} {shown(theirs):>9} {shown(ours):>9} {ratio:8.2f} {goal:8.2f}{verdict}")


def main() -> None:
    """Prints the tables."""
    words = sys.argv[1:] or [""]
    wanted = [each for each in WORKLOADS if any(word in each.name for word in words)]
    print(f"{'':50} {'NumPy':>9} {'Dappled':>9} {'ratio':>8} {'asked':>8}")
    for workload in wanted:
        row(workload.name, *seconds(workload), workload.goal)
    print("\nA first call, in a new process, about 1e6 elements")
    for workload in wanted:
        if workload.small:
            theirs, ours = (first_call(module, workload) for module in ("numpy", "dappled"))
            row(workload.name.split(", ")[0], theirs, ours, 1)
    for workload in wanted:
        if workload.name.startswith("forces"):
            theirs, ours = (peak_memory(module, workload) for module in ("numpy", "dappled"))
            print(f"\n{workload.name}: peak memory {ours / theirs:.3f} of NumPy's; asked: 0.1")
    print(f"\nimport dappled, beyond NumPy's own: {shown(fresh('-c', IMPORT))}")


if __name__ == "__main__":
    main()
