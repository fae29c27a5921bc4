"""Programs in which one rank fails or diverges, one function each.

    mpiexec -n 3 python no_hang_cases.py CASE

What is raised is written to the folder DAPPLED_TEST_SAID, a file for each rank.
"""

import contextlib
import gc
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import dappled as np
import numpy

RANK, LAST = np.comm.rank, np.comm.size - 1


def array(count=12):
    return np.arange(float(count)) + 1


# One rank ends; the others report it.
def raises(a):
    if RANK == 1:
        raise ValueError("only here")
    print(a.sum())


def raises_while_others_are_elsewhere(a):
    if RANK == 1:
        raise ValueError("only here")
    time.sleep(60)


def exits(a):
    if RANK == 1:
        sys.exit(3)
    print(a.sum())


def leaves(a):
    if RANK == 1:
        sys.exit()
    print(a.sum())


def catches(a):
    with contextlib.suppress(RuntimeError):
        print(a if RANK else 0)


def exits_while_others_are_elsewhere(a):
    if RANK == 1:
        sys.exit(3)
    time.sleep(60)


def ends_itself(a):
    if RANK == 1:
        os._exit(3)
    print(a.sum())


def is_killed(a):
    if RANK == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    print(a.sum())


def crashes(a):
    if RANK == 1:
        os.kill(os.getpid(), signal.SIGSEGV)
    print(a.sum())


def limit_memory():
    """Not much more than there is already."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + (64 << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def has_no_memory_for_numpy(a):
    if RANK == 1:
        limit_memory()
        numpy.ones(1 << 28, "u1")
    print(a.sum())


def has_no_memory_for_us(a):
    if RANK == 1:
        limit_memory()
    b = np.ones(1 << 25) * 2
    print(b.local[:3])


# The ranks do different things.
def branches(a):
    if RANK == 0:
        a.sum()
    return a[::-1] + 1, a.max()


def other_shapes(a):
    b = array(12 + RANK)
    return b[::-1].sum()


def other_order(a):
    return [a.sum(), a.max()] if RANK else [a.max(), a.sum()]


def one_more_iteration(a):
    for _ in range(2 + (RANK == LAST)):
        a[1:-1] = a[:-2] + a[2:]


def another_number(a):
    b = a * (1 + RANK)
    return b.sum()


def another_small_array(a):
    b = a + numpy.array([float(RANK)])
    return b[::-1].sum()


def another_array(a):
    b = array(1000) + numpy.full(1000, float(RANK))
    return b[::-1].sum()


def gathers_something_else(a):
    from dappled import _core

    _core.gather(f"something of rank {RANK}", b"")


def no_message_at_all(a):
    b = a * 2 if RANK else a * 3
    b.local[:1]


# Nothing goes wrong.
def looks_at_its_part(a):
    b = a[::-1] * 2
    if RANK == 1:
        with np.local():
            text = repr(a) + str(b)
        try:
            raise ValueError
        except ValueError:
            text += repr(a)
        assert "rank 1 has" in text
    assert b.tolist() == [2.0 * (12 - at) for at in range(12)]


def collects_garbage_at_other_times(a):
    gc.disable()
    for step in range(30):
        cycle = [a + step, a[::-1] * step]
        cycle.append(cycle)
        if step % (RANK + 2) == 0:
            gc.collect()
        a[1:] = a[:-1] + cycle[0][1:]
        kept = [a[1:], cycle[0]] if step % 3 == RANK else []  # which the others do not hold
        a[0] = len(kept) * 0 + step
        del cycle
    gc.enable()
    assert numpy.isfinite(a.sum())


def is_small(a):
    for count in range(np.comm.size):
        b = array(count)
        b[:] = b[::-1] * 2
        assert b.tolist() == [2.0 * (count - at) for at in range(count)]
        assert b.sum() == count * (count + 1)


def uses_a_thread(a):
    said = []

    def use():
        try:
            a.sum()
        except RuntimeError as error:
            said.append(str(error))

    a.sum()
    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert 'which only thread "MainThread" may do' in said[0]


def forks(a):
    whole = np.ones(3)
    child = os.fork() if RANK == 1 else None
    if child == 0:
        try:
            a.sum()
        except RuntimeError as error:
            alone = numpy.ones(300_000)
            fine = "forked from a rank" in str(error) and whole.sum() == 3
            os._exit(0 if fine and alone.sum() == 300_000 else 1)
        os._exit(2)
    if child:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert a.sum() == 78


def forks_and_exits(a):
    child = os.fork() if RANK == 1 else None
    if child == 0:
        sys.exit(0)  # which does what is to be done at the end, and says nothing to other ranks
    if child:
        os.waitpid(child, 0)
    assert a.sum() == 78


def starts_another_program(a):
    if RANK == 1 and "PMI_FD" in os.environ:  # else only the environment tells ranks from others
        program = "import dappled as np; assert (np.ones(9) + 1).sum() == 18 and np.comm.size == 1"
        subprocess.run([sys.executable, "-c", program], check=True)
    assert a.sum() == 78


def stalls(a):
    if RANK == 1:
        time.sleep(1)
    a.sum()


def leaves_things_behind(a):
    global KEPT
    KEPT = [a, a + 1, a.local, numpy.asarray(np.ones(3)), memoryview(np.ones(5).local)]
    KEPT.append(KEPT)


FINE = [
    looks_at_its_part,
    collects_garbage_at_other_times,
    is_small,
    uses_a_thread,
    forks,
    forks_and_exits,
    starts_another_program,
    stalls,
    leaves_things_behind,
]


def fine():
    for case in FINE:
        case(array())
        np.sync()
        if RANK == 0:
            print(case.__name__)


def main(name):
    if name == "fine":
        fine()
        return
    try:
        globals()[name](array())
    except RuntimeError as error:
        Path(os.environ["DAPPLED_TEST_SAID"], str(RANK)).write_text(str(error))
        raise


if __name__ == "__main__":
    main(sys.argv[1])
