"""Programs with mpi4py and Dappled on four ranks.

mpiexec -n 4 python mpi4py_cases.py CASE
"""

import sys
from importlib import import_module


def imported(*names):
    """Modules, in an order that matters."""
    return [import_module(name) for name in names]


def mpi4py_first():
    MPI, np = imported("mpi4py.MPI", "dappled")

    together(MPI, np)


def mpi4py_last():
    (np,) = imported("dappled")
    np.comm.barrier()
    (MPI,) = imported("mpi4py.MPI")

    together(MPI, np)


def together(MPI, np):
    """Messages of both, in turn, do not meet; what is ours goes into mpi4py's without a copy."""
    world = MPI.COMM_WORLD
    assert (world.rank, world.size) == (np.comm.rank, np.comm.size)
    a = np.arange(40.0)
    for turn in range(3):
        after, before = (world.rank + 1) % world.size, (world.rank - 1) % world.size
        assert world.sendrecv(turn, after, source=before) == turn
        a[1:-1] = (a[:-2] + a[2:]) / 2
    total = MPI.COMM_WORLD.allreduce(float(a.local.sum()))
    assert total == a.sum() == 780
    world.Bcast(a.local if world.rank == 0 else a.local.copy(), 0)


def whole_world():
    MPI, np = imported("mpi4py.MPI", "dappled")

    np.init(comm=MPI.COMM_WORLD)
    together(MPI, np)


def groups():
    """Two groups of ranks, each with arrays of its own and a program of its own."""
    MPI, np = imported("mpi4py.MPI", "dappled")

    world = MPI.COMM_WORLD
    group = world.Split(world.rank % 2, -world.rank)
    np.init(comm=group)
    assert (np.comm.rank, np.comm.size) == (group.rank, 2)
    a = np.arange(10.0) * (1 + world.rank % 2)
    for _ in range(3 * (1 + world.rank % 2)):
        a[1:-1] = (a[:-2] + a[2:]) / 2
    assert a[::-1].sum() == 45 * (1 + world.rank % 2)
    assert world.allgather(np.comm.size) == [2] * 4


def too_late():
    MPI, np = imported("mpi4py.MPI", "dappled")

    a = np.arange(10.0)
    try:
        np.init(comm=MPI.COMM_WORLD.Dup())
        raise AssertionError
    except RuntimeError as error:
        assert "must be called before the first array" in str(error)
    np.init()
    assert a.sum() == 45


def no_communicator():
    (np,) = imported("dappled")
    try:
        np.init(comm="world")
        raise AssertionError
    except TypeError as error:
        assert "expected an mpi4py communicator" in str(error)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
