"""One process on two threads beside two ranks of one thread: `python benches/ranks.py`.

Large arrays lie in pieces on the ranks and are to cost no more; small ones are whole on each, and
an operation is to cost what it costs one process. The best of several runs, taken in turn.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

LAUNCHES = {"1 process x 2 threads": (1, 2), "2 ranks x 1 thread": (2, 1)}
REPEATS = 4


def laplace(np):
    u = np.zeros((4000, 4000))
    u[0] = 1

    def turn():
        for _ in range(10):
            u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
        u._compute()

    return turn, 10


def chain(np):
    a, b, c = (np.linspace(-0.5, 0.5, 50_000_000) + k for k in range(3))

    def turn():
        (a * b + c * 2.0 - np.sqrt(np.abs(a)))._compute()

    return turn, 1


# Many: at their end is a barrier, which takes milliseconds if a rank has gone to sleep.
SMALL = 100_000


def small(work):
    def prepared(np):
        a, b = np.arange(100.0), np.ones(100)

        def turn():
            for _ in range(SMALL):
                work(np, a, b)

        return turn, SMALL

    return prepared


WORKLOADS = {
    "laplace 4000 x 4000, an iteration": (laplace, 1e3, "ms"),
    "a*b + c*2.0 - sqrt(abs(a)), 5e7": (chain, 1e3, "ms"),
    "a + b, 100 elements": (small(lambda np, a, b: a + b), 1e6, "us"),
    "a.sum(), 100 elements": (small(lambda np, a, b: a.sum()), 1e6, "us"),
    "a[1] = 2.0, 100 elements": (small(lambda np, a, b: a.__setitem__(1, 2.0)), 1e6, "us"),
    "np.where(a > 3, a, b), 100": (small(lambda np, a, b: np.where(a > 3, a, b)), 1e6, "us"),
}


def best(prepare, np):
    turn, parts = prepare(np)
    found = []
    for _ in range(5):
        np.comm.barrier()
        start = time.perf_counter()
        turn()
        np.comm.barrier()
        found.append((time.perf_counter() - start) / parts)
    return min(found)


def on_ranks():
    import dappled as np

    times = {name: best(prepare, np) for name, (prepare, *_) in WORKLOADS.items()}
    print(json.dumps(times))


def launched(ranks, threads):
    command = [sys.executable, "-m", "dappled", "run", "-n", str(ranks), "--threads", str(threads)]
    command += [str(Path(__file__)), "--on-ranks"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
    return json.loads(done.stdout.splitlines()[-1])


def main():
    runs = [[launched(*launch) for launch in LAUNCHES.values()] for _ in range(REPEATS)]
    print(f"{'':<36}" + "".join(f"{name:>24}" for name in LAUNCHES) + f"{'speed kept':>14}")
    for name, (_, factor, unit) in WORKLOADS.items():
        one, two = (min(turn[place][name] for turn in runs) for place in range(2))
        shown = "".join(f"{value * factor:>21.2f} {unit}" for value in (one, two))
        print(f"{name:<36}{shown}{one / two:>14.2f}")


if __name__ == "__main__":
    on_ranks() if "--on-ranks" in sys.argv else main()
