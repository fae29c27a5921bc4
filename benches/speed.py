"""Runs the same source with NumPy and with Dappled; prints speedups and goals.

python benches/speed.py [WORDS]: only workloads whose name contains one of the words.
"""

import functools
import os
import subprocess
import sys
from pathlib import Path

from timing import REPEATS, format_time, seconds
from workloads import WORKLOADS, Workload

IMPORT = (
    "import numpy, time; t = time.perf_counter(); import dappled; print(time.perf_counter() - t)"
)


def in_new_process(*arguments: str) -> float:
    """Returns the least number that new processes print, with cached bytecode."""
    command = [sys.executable, *arguments]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    run = functools.partial(subprocess.run, command, check=True, capture_output=True, env=env)
    return min(float(run().stdout) for _ in range(REPEATS))


def first_call(module: str, workload: Workload) -> float:
    """Seconds of the first call in a new process, JIT compilation included."""
    return in_new_process(str(Path(__file__).with_name("first_call.py")), module, workload.name)


def peak_memory(module: str, workload: Workload) -> float:
    """Peak memory of a new process, in bytes."""
    return in_new_process(
        str(Path(__file__).with_name("first_call.py")), module, workload.name, "memory"
    )


def row(name: str, numpy_time: float, dappled_time: float, goal: float) -> None:
    """Prints one line of the table."""
    speedup = numpy_time / dappled_time
    times = f"{format_time(numpy_time):>9} {format_time(dappled_time):>9}"
    verdict = "" if speedup >= goal else "  below goal"
    print(f"{name:50} {times} {speedup:8.2f} {goal:8.2f}{verdict}")


def main() -> None:
    """Prints the tables."""
    words = sys.argv[1:] or [""]
    selected = [each for each in WORKLOADS if any(word in each.name for word in words)]
    print(f"{'':50} {'NumPy':>9} {'Dappled':>9} {'speedup':>8} {'goal':>8}")
    for workload in selected:
        row(workload.name, *seconds(workload), workload.goal)
    print("\nFirst call in a new process, about 1e6 elements")
    for workload in selected:
        if workload.small:
            times = [first_call(module, workload) for module in ("numpy", "dappled")]
            row(workload.name.split(", ")[0], *times, 1)
    for workload in selected:
        if workload.name.startswith("forces"):
            numpy_peak, dappled_peak = (
                peak_memory(each, workload) for each in ("numpy", "dappled")
            )
            ratio = dappled_peak / numpy_peak
            print(f"\n{workload.name}: peak memory {ratio:.3f} of NumPy's; goal 0.1")
    seconds_of_import = in_new_process("-c", IMPORT)
    print(f"\nimport dappled, in addition to NumPy: {format_time(seconds_of_import)}")


if __name__ == "__main__":
    main()
