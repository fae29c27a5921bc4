"""Workloads in one process on two threads, beside two ranks of one thread each, and NumPy."""

import json
import struct
import subprocess
import sys
import time

LAUNCHES = {"1 process x 2 threads": (1, 2), "2 ranks x 1 thread": (2, 1)}
REPEATS = 4


# Of so many parts a turn is small operations, which ranks do without each other.
APART = 1000


def best(prepare, np):
    """The best of several turns, in seconds for each of its parts."""
    turn, parts = prepare(np)
    waits = parts < APART and hasattr(np, "comm")
    together = np.comm.barrier if waits else lambda: None
    found = []
    for _ in range(5):
        together()
        start = time.perf_counter()
        turn()
        together()
        found.append((time.perf_counter() - start) / parts)
    return min(found)


def least(own):
    """The least of all ranks."""
    from dappled import _core

    return min(struct.unpack("d", one)[0] for one in _core.gather("times", struct.pack("d", own)))


def on_ranks(workloads):
    """All workloads on the ranks that run this: their times, printed."""
    import dappled as np

    times = {name: least(best(prepare, np)) for name, (prepare, *_) in workloads.items()}
    print(json.dumps(times))


def by_numpy(workloads):
    """All workloads with NumPy: their times, printed."""
    import numpy as np

    print(json.dumps({name: best(prepare, np) for name, (prepare, *_) in workloads.items()}))


def launched(file, ranks, threads):
    """The times that a program prints on so many ranks and threads; on none, with NumPy."""
    command = [sys.executable, file, "--by-numpy"]
    if ranks:
        command = [sys.executable, "-m", "dappled", "run", "-n", str(ranks)]
        command += ["--threads", str(threads), file, "--on-ranks"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
    return json.loads(done.stdout.splitlines()[-1])


def beside(file, workloads, repeats=REPEATS):
    """Prints the table; or in what it launched, the times.

    A workload may say at last what is asked of one process as times NumPy's speed. Two ranks are
    to reach 0.8 of it.
    """
    if "--on-ranks" in sys.argv:
        return on_ranks(workloads)
    if "--by-numpy" in sys.argv:
        return by_numpy(workloads)
    goals = {name: each[3] for name, each in workloads.items() if len(each) > 3}
    launches = {**LAUNCHES, **({"NumPy": (0, 0)} if goals else {})}
    runs = [[launched(file, *launch) for launch in launches.values()] for _ in range(repeats)]
    more = f"{'2 ranks, times NumPy':>22}{'asked':>8}" if goals else ""
    print(f"{'':<36}" + "".join(f"{name:>24}" for name in launches) + f"{'speed kept':>14}{more}")
    for name, (_, factor, unit, *_) in workloads.items():
        times = [min(turn[place][name] for turn in runs) for place in range(len(launches))]
        shown = "".join(f"{value * factor:>21.2f} {unit}" for value in times)
        more = f"{times[-1] / times[1]:>22.2f}{0.8 * goals[name]:>8.2f}" if goals else ""
        print(f"{name:<36}{shown}{times[0] / times[1]:>14.2f}{more}")
    return None
