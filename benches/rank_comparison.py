"""Compares one process with two threads, two ranks with one thread each, and NumPy."""

import json
import struct
import subprocess
import sys
import time

LAUNCHES = {"1 process x 2 threads": (1, 2), "2 ranks x 1 thread": (2, 1)}
REPEATS = 4


# Rounds with at least this many parts are small replicated operations, which need no barrier.
MIN_INDEPENDENT_PARTS = 1000


def best(prepare, np):
    """Returns the best of several rounds, in seconds for each part."""
    run_round, parts = prepare(np)
    is_collective = parts < MIN_INDEPENDENT_PARTS and hasattr(np, "comm")
    barrier = np.comm.barrier if is_collective else lambda: None
    times = []
    for _ in range(5):
        barrier()
        start = time.perf_counter()
        run_round()
        barrier()
        times.append((time.perf_counter() - start) / parts)
    return min(times)


def min_over_ranks(seconds):
    """Returns the minimum over all ranks. Collective."""
    from dappled import _core

    packed = struct.pack("d", seconds)
    return min(struct.unpack("d", one)[0] for one in _core.gather("times", packed))


def on_ranks(workloads):
    """Prints the times of all workloads on the ranks of this job. Collective."""
    import dappled as np

    times = {name: min_over_ranks(best(prepare, np)) for name, (prepare, *_) in workloads.items()}
    print(json.dumps(times))


def with_numpy(workloads):
    """Prints the times of all workloads with NumPy."""
    import numpy as np

    print(json.dumps({name: best(prepare, np) for name, (prepare, *_) in workloads.items()}))


def launch(file, ranks, threads):
    """Returns the times that a program prints; with 0 ranks, it runs with NumPy."""
    command = [sys.executable, file, "--with-numpy"]
    if ranks:
        command = [sys.executable, "-m", "dappled", "run", "-n", str(ranks)]
        command += ["--threads", str(threads), file, "--on-ranks"]
    completed = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
    return json.loads(completed.stdout.splitlines()[-1])


def compare(file, workloads, repeats=REPEATS):
    """Prints the table; in a launched process, prints the times.

    The last entry of a workload may be a goal: the speedup over NumPy of one process. Two ranks
    should reach 0.8 of it.
    """
    if "--on-ranks" in sys.argv:
        return on_ranks(workloads)
    if "--with-numpy" in sys.argv:
        return with_numpy(workloads)
    goals = {name: each[3] for name, each in workloads.items() if len(each) > 3}
    launches = {**LAUNCHES, **({"NumPy": (0, 0)} if goals else {})}
    runs = [[launch(file, *arguments) for arguments in launches.values()] for _ in range(repeats)]
    more = f"{'speedup, 2 ranks':>22}{'goal':>8}" if goals else ""
    print(f"{'':<36}" + "".join(f"{name:>24}" for name in launches) + f"{'2 ranks/1':>14}{more}")
    for name, (_, factor, unit, *_) in workloads.items():
        times = [min(run[column][name] for run in runs) for column in range(len(launches))]
        cells = "".join(f"{value * factor:>21.2f} {unit}" for value in times)
        more = f"{times[-1] / times[1]:>22.2f}{0.8 * goals[name]:>8.2f}" if goals else ""
        print(f"{name:<36}{cells}{times[0] / times[1]:>14.2f}{more}")
    return None
