"""Workloads in one process on two threads, beside two ranks of one thread each."""

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
    together = np.comm.barrier if parts < APART else lambda: None
    found = []
    for _ in range(5):
        together()
        start = time.perf_counter()
        turn()
        together()
        found.append((time.perf_counter() - start) / parts)
    return least(min(found))


def least(own):
    """The least of all ranks."""
    from dappled import _core

    return min(struct.unpack("d", one)[0] for one in _core.gather("times", struct.pack("d", own)))


def on_ranks(workloads):
    """All workloads on the ranks that run this: their times, printed."""
    import dappled as np

    times = {name: best(prepare, np) for name, (prepare, *_) in workloads.items()}
    print(json.dumps(times))


def launched(file, ranks, threads):
    """The times that a program prints on so many ranks and threads."""
    command = [sys.executable, "-m", "dappled", "run", "-n", str(ranks), "--threads", str(threads)]
    command += [file, "--on-ranks"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
    return json.loads(done.stdout.splitlines()[-1])


def beside(file, workloads, repeats=REPEATS):
    """Prints the table; or on ranks that it launched, the times."""
    if "--on-ranks" in sys.argv:
        return on_ranks(workloads)
    runs = [[launched(file, *launch) for launch in LAUNCHES.values()] for _ in range(repeats)]
    print(f"{'':<36}" + "".join(f"{name:>24}" for name in LAUNCHES) + f"{'speed kept':>14}")
    for name, (_, factor, unit) in workloads.items():
        one, two = (min(turn[place][name] for turn in runs) for place in range(2))
        shown = "".join(f"{value * factor:>21.2f} {unit}" for value in (one, two))
        print(f"{name:<36}{shown}{one / two:>14.2f}")
    return None
