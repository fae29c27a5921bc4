"""Finds the size from which distributed arrays are faster than replicated ones.

    python benches/replication_threshold.py

The program starts two ranks. It times an in-place sum of shifted views, which needs a halo
exchange, for replicated and for distributed arrays. DAPPLED_REPLICATE_BELOW should be the size at
which distributed arrays become faster.
"""

import os
import statistics
import subprocess
import sys
import time

SIZES = [2**power for power in range(12, 22)]
REPEATS = 200


def microseconds(size):
    """Returns the 10th percentile of the times, which other programs disturb least."""
    import dappled as np

    u = np.ones(size // 8)
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        u[1:] += u[:-1]
        u[0] = 1
        times.append(time.perf_counter() - start)
    return statistics.quantiles(times, n=10)[0] * 1e6


def print_times():
    """Prints the time of each size on rank 0. Collective."""
    import dappled as np

    times = [microseconds(size) for size in SIZES]
    if np.comm.rank == 0:
        print(*(f"{time:.1f}" for time in times))


def main():
    """Starts both runs, and prints their times side by side."""
    mpiexec = os.path.join(os.path.dirname(sys.executable), "mpiexec")
    rows = {}
    for name, below in (("replicated", 1 << 40), ("distributed", 0)):
        env = {**os.environ, "DAPPLED_REPLICATE_BELOW": str(below), "DAPPLED_THREADS": "1"}
        command = [mpiexec, "-n", "2", sys.executable, __file__, "times"]
        completed = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
        rows[name] = completed.stdout.split()
    print("   bytes  replicated µs  distributed µs")
    for size, *times in zip(SIZES, rows["replicated"], rows["distributed"], strict=True):
        print(f"{size:8}  {times[0]:>13}  {times[1]:>14}")


if __name__ == "__main__":
    print_times() if sys.argv[1:] == ["times"] else main()
