"""Measures the first call of a workload in a new process: seconds, or peak memory.

python benches/first_call.py MODULE NAME [memory]
"""

import importlib
import re
import sys
import time
from pathlib import Path

from timing import compute_pending, operands
from workloads import WORKLOADS


def peak_bytes() -> int:
    """Peak resident bytes of this process (getrusage would include its parent's)."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(r"VmHWM:\s*(\d+)", status)[1])


def main() -> None:
    """Prints seconds, or bytes with `memory`."""
    module, name, *memory = sys.argv[1:]
    np = importlib.import_module(module)
    workload = next(workload for workload in WORKLOADS if workload.name == name)
    arguments = operands(np, workload.shapes if memory else workload.small, workload.dtype)
    before, start = peak_bytes(), time.perf_counter()
    compute_pending(workload.work(np, *arguments))
    print(peak_bytes() - before if memory else time.perf_counter() - start)


if __name__ == "__main__":
    main()
