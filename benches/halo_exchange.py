"""Compares halo exchange with bare MPI messages: `python benches/halo_exchange.py`.

Two ranks exchange one row each way: with mpi4py between NumPy buffers, and with `update_padding` of
a distributed array. Needs mpi4py, and mpiexec in the directory of the Python executable.
"""

import subprocess
import sys
import time
from pathlib import Path

COLUMNS = [10, 1_000, 4_000, 10_000, 100_000, 1_000_000]
ROUNDS, MAX_REPEATS = 7, 200


def microseconds(exchange, world, repeats):
    """Returns the best time of one exchange over several rounds, averaged over ranks."""
    best = float("inf")
    for _ in range(ROUNDS):
        world.Barrier()
        start = time.perf_counter()
        for _ in range(repeats):
            exchange()
        best = min(best, (time.perf_counter() - start) / repeats)
    return world.allreduce(best) / world.size * 1e6


def mpi_exchange(world, MPI, columns):
    import numpy

    sent, received, peer = numpy.ones(columns), numpy.empty(columns), 1 - world.rank

    def exchange():
        MPI.Request.Waitall([world.Irecv(received, peer), world.Isend(sent, peer)])

    return exchange


def dappled_exchange(np, columns):
    rows = np.protocol.Distribution((4, columns), "bn", nprocs=np.comm.size, padding=[1, None])
    return np.ones((4, columns)).redistribute(rows).update_padding


def on_ranks():
    import dappled as np
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    for columns in COLUMNS:
        repeats = max(5, min(MAX_REPEATS, 20_000_000 // columns))
        exchanges = mpi_exchange(world, MPI, columns), dappled_exchange(np, columns)
        row = [microseconds(exchange, world, repeats) for exchange in exchanges]
        if world.rank == 0:
            print(f"{columns * 8:>10} {row[0]:>12.1f} {row[1]:>12.1f} {row[1] / row[0]:>8.2f}")


def main():
    if "--on-ranks" in sys.argv:
        return on_ranks()
    mpiexec = Path(sys.executable).parent / "mpiexec"
    print(f"{'bytes':>10} {'MPI µs':>12} {'Dappled µs':>12} {'ratio':>8}", flush=True)
    return subprocess.run(
        [mpiexec, "-n", "2", sys.executable, __file__, "--on-ranks"], check=True, timeout=300
    )


if __name__ == "__main__":
    main()
