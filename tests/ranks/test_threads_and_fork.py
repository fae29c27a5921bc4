"""Arrays in several Python threads, after a fork, and while the interpreter exits."""

import importlib.util
import os
import subprocess
import sys
import threading
import time

import dappled as np
import numpy
import pytest

from tests.support.mpi import MPIEXEC

# `make sanitize` sets 20.
SECONDS = float(os.environ.get("DAPPLED_TEST_SECONDS", "1"))
LIMIT = 60  # seconds after which a program counts as hanging


def run(program, *arguments, launcher=(), **variables):
    """Runs a program in a process of its own, within the limit."""
    command = ["timeout", "-k", "5", str(LIMIT), *launcher, sys.executable, "-c", program]
    env = {**os.environ, **variables}
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, env=env)
    assert done.returncode not in (124, 137), f"hangs\n{done.stdout}{done.stderr}"
    return done


WRITES = [
    lambda a, ones: a.fill(2.0),
    lambda a, ones: a.__setitem__(..., 1.0),
    lambda a, ones: a.__iadd__(1.0),
    lambda a, ones: a.__isub__(ones),
    lambda a, ones: np.add(ones, ones, out=a),
    lambda a, ones: a.__setitem__(slice(None), ones),
    lambda a, ones: np.multiply(ones, 2.0, out=a),
    lambda a, ones: a.__setitem__(3, 1.0),
    lambda a, ones: a.__setitem__(slice(None, None, -1), ones),
]
READS = [
    lambda a: a[3],
    lambda a: a[:10] + 0.0,
    lambda a: a + 0.0,
    lambda a: a.copy(),
    lambda a: a[::-1] * 1.0,
    lambda a: a.max(),
    lambda a: a.mean().clip(1.0, 2.0).round(),
    lambda a: a[:20].tolist(),
    lambda a: a.astype("f4"),
    lambda a: (a * 2.0 + 2.0) / 2.0 - 1.0,
    lambda a: np.take(a, [0, 5, 7]),
    lambda a: a[a > 0.5],
    lambda a: a[a.argmax()],
    lambda a: np.sort(a[:50]),
]


@pytest.mark.parametrize("foreign", [False, True], ids=["ours", "numpy"])
@pytest.mark.parametrize("size", [64, 5000, 2_000_000])
def test_one_thread_reads_what_another_writes(size, foreign):
    """Every element that is read is from before or after a write, as with NumPy; nothing fails."""
    theirs = numpy.ones(size)
    a = np.asarray(theirs) if foreign else np.ones(size)
    # Of NumPy's memory both threads have arrays of their own.
    seen = np.asarray(theirs) if foreign else a
    ones, wrong, end = np.ones(size), [], time.monotonic() + SECONDS

    def repeat(act):
        try:
            while time.monotonic() < end and not wrong:
                act()
        except BaseException as error:
            wrong.append(error)

    def read():
        for number, look in enumerate(READS):
            found = numpy.asarray(look(seen))
            if not numpy.isin(found, [1.0, 2.0]).all():
                wrong.append((number, found))

    def write():
        for change in WRITES:
            change(a, ones)

    threads = [threading.Thread(target=repeat, args=(act,)) for act in (read, write)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# Computations of a forked process: small and large arrays, on one thread and on several.
COMPUTED = """
def computed(np):
    small, large = np.arange(100.0), np.arange(400_000.0) % 1000
    rows = large.reshape(400, 1000)
    return [float(value) for value in (
        (small * 2 + 1).sum(), small[7], (small + small)[5], small.argmax(), np.sqrt(small)[81],
        (large * 2 + 1).sum(), large[large > 500].sum(), np.sort(large)[1234], large.argmax(),
        np.cumsum(large)[-1], rows.sum(0)[3], rows.T.copy()[3, 5], np.unique(large).size,
        np.median(large), abs(np.fft.fft(large)[0]), (rows @ rows.T)[2, 3],
        np.argsort(large, kind="stable")[5], np.bincount(large.astype(int))[3],
        np.random.default_rng(1).random(100_000).sum(), large[np.arange(0, 400_000, 7)].sum(),
    )]
"""

FORK = (
    COMPUTED
    + """
import multiprocessing, numpy, sys, threading
import dappled as np

before, threads, depth = sys.argv[1] == "used", int(sys.argv[2]), int(sys.argv[3])
expected = computed(numpy)
context = multiprocessing.get_context("fork")

def child(queue, depth):
    found = [computed(np), computed(np)]
    if depth:  # a child of the child: its parent's threads are gone, too
        inner = context.Queue()
        process = context.Process(target=child, args=(inner, depth - 1))
        process.start()
        found += inner.get()
        process.join()
    queue.put(found)

def forever():
    a = np.ones(200_000)
    while True:
        (a * 2.0 + 1.0).sum()
        a += 1.0
        (a[:100] + 1.0)[3]

if before:
    assert numpy.allclose(computed(np), expected)
for _ in range(threads):
    threading.Thread(target=forever, daemon=True).start()
for turn in range(1 + 5 * threads):
    queue = context.Queue()
    process = context.Process(target=child, args=(queue, depth))
    process.start()
    for found in queue.get():
        assert numpy.allclose(found, expected), (found, expected)
    process.join()
    assert process.exitcode == 0
if before:
    assert numpy.allclose(computed(np), expected)
print("fine", flush=True)
import os; os._exit(0)
"""
)


@pytest.mark.parametrize(
    "arguments",
    [("unused", "0", "0"), ("used", "0", "1"), ("used", "2", "0")],
    ids=["before the first array", "twice", "while threads compute"],
)
def test_a_forked_process_computes(arguments):
    done = run(FORK, *arguments, DAPPLED_THREADS="3")
    assert done.stdout == "fine\n", done.stderr


EXIT = """
import sys, threading, time
import dappled as np

def large():
    a = np.ones(2_000_000)
    while True:
        (a * 2.0 + 1.0).sum()

def small():
    a = np.ones(100)
    while True:
        (a * 2.0 + 1.0)[3]

def calls_python():
    a = np.ones(2000)
    while True:
        np.convolve(a, a[:20]); np.unique(a); np.median(a); np.add.reduceat(a, [0, 5])

for _ in range(2):
    threading.Thread(target=globals()[sys.argv[1]], daemon=True).start()
time.sleep(0.1)
"""


@pytest.mark.parametrize("turn", range(3))
@pytest.mark.parametrize("what", ["large", "small", "calls_python"])
def test_daemon_threads_may_compute_at_exit(what, turn):
    done = run(EXIT, what)
    assert (done.returncode, done.stderr) == (0, "")


LEVEL = """
import sys, threading
import mpi4py
mpi4py.rc.thread_level = sys.argv[1]
from mpi4py import MPI
import dappled as np

def total():
    try:
        said = np.arange(1000.0).sum()
    except RuntimeError as error:
        said = str(error).splitlines()[0]
    sys.stdout.write(f"{said}\\n")  # in one write: ranks share a stdout
    sys.stdout.flush()

if sys.argv[2] == "second":
    np.comm.size  # the session begins in the main thread, which communicates nothing
    thread = threading.Thread(target=total)
    thread.start()
    thread.join()
else:
    total()
"""


@pytest.mark.skipif(not importlib.util.find_spec("mpi4py"), reason="mpi4py is not installed")
@pytest.mark.parametrize("level", ["single", "funneled", "serialized", "multiple"])
def test_mpi_is_called_by_threads_that_its_level_allows(level):
    """At levels below MPI_THREAD_SERIALIZED only the thread that began MPI may call it."""
    job = [str(MPIEXEC), "-n", "2"]
    settings = {"DAPPLED_REPLICATE_BELOW": "0", "DAPPLED_THREADS": "1"}
    first = run(LEVEL, level, "first", launcher=job, **settings)
    assert first.stdout.split() == ["499500.0"] * 2, first.stderr
    second = run(LEVEL, level, "second", launcher=job, **settings)
    if level in ("serialized", "multiple"):
        assert second.stdout.split() == ["499500.0"] * 2, second.stderr
    else:
        said = f"MPI was initialised with MPI_THREAD_{level.upper()}"
        assert second.stdout.count(said) == 2, second.stdout + second.stderr
        assert second.stdout.count("MPI_THREAD_SERIALIZED") == 2
