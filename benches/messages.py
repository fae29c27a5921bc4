"""What the exchange of a halo costs beside the bare messages of MPI: `python benches/messages.py`.

Two ranks swap a row each way, by mpi4py from and into NumPy's memory, and by `update_padding` of an
array in pieces. Needs mpi4py and an mpiexec beside Python.
"""

import subprocess
import sys
import time
from pathlib import Path

ROWS = [10, 1_000, 4_000, 10_000, 100_000, 1_000_000]
TURNS, TIMES = 7, 200


def per_turn(act, world, times):
    """The least time of several turns, in microseconds."""
    best = float("inf")
    for _ in range(TURNS):
        world.Barrier()
        started = time.perf_counter()
        for _ in range(times):
            act()
        best = min(best, (time.perf_counter() - started) / times)
    return world.allreduce(best) / world.size * 1e6


def bare(world, MPI, columns):
    import numpy

    own, theirs, other = numpy.ones(columns), numpy.empty(columns), 1 - world.rank

    def swap():
        MPI.Request.Waitall([world.Irecv(theirs, other), world.Isend(own, other)])

    return swap


def ours(np, columns):
    rows = np.protocol.Distribution((4, columns), "bn", nprocs=np.comm.size, padding=[1, None])
    return np.ones((4, columns)).redistribute(rows).update_padding


def on_ranks():
    import dappled as np
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    for columns in ROWS:
        times = max(5, min(TIMES, 20_000_000 // columns))
        acts = bare(world, MPI, columns), ours(np, columns)
        row = [per_turn(act, world, times) for act in acts]
        if world.rank == 0:
            print(f"{columns * 8:>10} {row[0]:>12.1f} {row[1]:>12.1f} {row[1] / row[0]:>8.2f}")


def main():
    if "--on-ranks" in sys.argv:
        return on_ranks()
    mpiexec = Path(sys.executable).parent / "mpiexec"
    print(f"{'bytes':>10} {'bare µs':>12} {'ours µs':>12} {'ratio':>8}", flush=True)
    return subprocess.run(
        [mpiexec, "-n", "2", sys.executable, __file__, "--on-ranks"], check=True, timeout=300
    )


if __name__ == "__main__":
    main()
