"""In a new process: the seconds of a workload's first call, or the memory that it takes.

python benches/first_call.py MODULE NAME [memory]
"""

import importlib
import re
import sys
import time
from pathlib import Path

from timing import computed, operands
from workloads import WORKLOADS


def peak() -> int:
    """The most bytes that this process has had (what getrusage says, its parent may have had)."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(r"VmHWM:\s*(\d+)", status)[1])


def main() -> None:
    """Prints a number."""
    module, name, *memory = sys.argv[1:]
    np = importlib.import_module(module)
    workload = next(each for each in WORKLOADS if each.name == name)
    given = operands(np, workload.shapes if memory else workload.small, workload.dtype)
    before, start = peak(), time.perf_counter()
    computed(workload.work(np, *given))
    print(peak() - before if memory else time.perf_counter() - start)


if __name__ == "__main__":
    main()
