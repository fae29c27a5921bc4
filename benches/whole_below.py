"""From which size on is an array better in pieces? It starts two ranks itself:

    python benches/whole_below.py

Each size is timed twice, whole on every rank and in pieces: a sum of shifted views, written back,
which exchanges a border. Where pieces become faster is what DAPPLED_WHOLE_BELOW should be.
"""

import os
import statistics
import subprocess
import sys
import time

SIZES = [2**power for power in range(12, 22)]
TIMES = 200


def timed(size):
    import dappled as np

    u = np.ones(size // 8)
    times = []
    for _ in range(TIMES):
        start = time.perf_counter()
        u[1:] += u[:-1]
        u[0] = 1
        times.append(time.perf_counter() - start)
    return statistics.quantiles(times, n=10)[0] * 1e6  # what others on the machine do not disturb


def main():
    import dappled as np

    found = [timed(size) for size in SIZES]
    if np.comm.rank == 0:
        print(*(f"{time:.1f}" for time in found))


def compared():
    """Both tables, side by side."""
    mpiexec = os.path.join(os.path.dirname(sys.executable), "mpiexec")
    rows = {}
    for name, below in (("whole", 1 << 40), ("pieces", 0)):
        env = {**os.environ, "DAPPLED_WHOLE_BELOW": str(below), "DAPPLED_THREADS": "1"}
        command = [mpiexec, "-n", "2", sys.executable, __file__, "timed"]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
        rows[name] = done.stdout.split()
    print("bytes     whole µs  pieces µs")
    for size, whole, pieces in zip(SIZES, rows["whole"], rows["pieces"], strict=True):
        print(f"{size:8}  {whole:>8}  {pieces:>9}")


if __name__ == "__main__":
    main() if sys.argv[1:] == ["timed"] else compared()
