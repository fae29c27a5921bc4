"""Threads beside the main one read local or replicated arrays and never communicate."""

import asyncio
import multiprocessing
import multiprocessing.queues
import operator
import pickle
import queue
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dappled as np
import numpy
import pytest

LENGTH = 24
VALUES = numpy.arange(LENGTH) * 0.5 - 3
SEVERAL = pytest.mark.ranks(1, 3)
NAME = "a worker"


def replicated():
    return np.array(VALUES, dist="n")


def distributed():
    return np.array(VALUES, dist="b")


def in_thread(act, *arguments):
    """The result or error of a function in another thread."""
    outcome = []

    def run():
        try:
            outcome.append(act(*arguments))
        except Exception as error:
            outcome.append(error)

    thread = threading.Thread(target=run, name=NAME)
    thread.start()
    thread.join()
    return outcome[0]


def check_refused(error):
    """The error names both threads and says what to do."""
    assert isinstance(error, RuntimeError), error
    text = str(error)
    for word in ("communicates", f'"{NAME}"', '"MainThread"', "`a.numpy()`", "`a.local`"):
        assert word in text, text


def check_in_step():
    """All ranks go on together, and with right values."""
    assert (distributed() + 1).sum() == (VALUES + 1).sum()
    np.comm.barrier()


READING = {
    "numpy.asarray": numpy.asarray,
    "numpy.array": numpy.array,
    "element": lambda a: a[3],
    "slice": lambda a: a[2:9:2],
    "mask": lambda a: a[a > 0],
    "places": lambda a: a[[1, 5, 2]],
    "copy": lambda a: a.copy(),
    "arithmetic": lambda a: a * 2 + 1,
    "in place": lambda a: operator.iadd(a.copy(), 1),
    "written": lambda a: operator.setitem(a, slice(3), 7.0),
    "sqrt": lambda a: numpy.sqrt(a + 3),
    "sum": lambda a: a.sum(),
    "mean": lambda a: numpy.mean(a),
    "cumsum": lambda a: a.cumsum(),
    "max": lambda a: a.max(),
    "sort": lambda a: numpy.sort(a),
    "argsort": lambda a: numpy.argsort(a),
    "median": lambda a: numpy.median(a),
    "unique": lambda a: numpy.unique(a),
    "dot": lambda a: a @ a,
    "norm": lambda a: numpy.linalg.norm(a),
    "fft": lambda a: numpy.fft.fft(a),
    "where": lambda a: numpy.where(a > 0, a, -1),
    "concatenate": lambda a: numpy.concatenate([a, a]),
    "reshape": lambda a: a.reshape(4, 6).T.ravel(),
    "astype": lambda a: a.astype("f4"),
    "histogram": lambda a: numpy.histogram(a, 4)[0],
    "repr": repr,
    "list": lambda a: a.tolist(),
    "loop": lambda a: [float(one) for one in a],
    "pickle": lambda a: pickle.loads(pickle.dumps(a)),
    "bytes": lambda a: a.tobytes(),
    "memoryview": lambda a: memoryview(a).tolist(),
    "errstate": lambda a: _raised(lambda: a / 0 * 0),
    "comparison": lambda a: bool((a == a).all()),
}


def _raised(act):
    with numpy.errstate(all="raise"):
        try:
            return act()
        except FloatingPointError as error:
            return str(error)


@SEVERAL
@pytest.mark.parametrize("name", READING)
def test_a_replicated_array_is_read_in_any_thread(name, ranks):
    expected = READING[name](VALUES.copy())
    distributed().sum()
    found = in_thread(READING[name], replicated())
    if isinstance(found, Exception):
        raise found
    numpy.testing.assert_array_equal(found, expected)
    check_in_step()


MAKING = {
    "zeros": lambda np: np.zeros(LENGTH) + 1,
    "arange": lambda np: np.arange(LENGTH).sum(),
    "array": lambda np: np.array(VALUES.tolist())[::-1],
    "asarray": lambda np: np.asarray(VALUES) + 1,
    "linspace": lambda np: np.linspace(0, 1, LENGTH),
    "ones": lambda np: np.ones((4, 6)).sum(axis=0),
    "eye": lambda np: np.eye(5) @ np.ones(5),
    "random": lambda np: np.random.default_rng(5).random(LENGTH),
}


@SEVERAL
@pytest.mark.parametrize("name", MAKING)
def test_arrays_of_another_thread_are_replicated(name, ranks):
    distributed().sum()
    np.random.default_rng  # noqa: B018  loading the module is collective
    found = in_thread(MAKING[name], np)
    if isinstance(found, Exception):
        raise found
    numpy.testing.assert_array_equal(found, MAKING[name](numpy))
    check_in_step()


@SEVERAL
def test_the_local_piece_is_read_in_any_thread(ranks):
    a = distributed()
    own = a.local.copy()
    numpy.testing.assert_array_equal(in_thread(lambda: numpy.array(a.local)), own)
    assert in_thread(lambda: (a.shape, a.dtype, a.ndim, len(a))) == ((LENGTH,), "f8", 1, LENGTH)
    check_in_step()


COMMUNICATING = {
    "numpy.asarray": numpy.asarray,
    "element": lambda a: a[3],
    "mask": lambda a: a[a > 0],
    "places": lambda a: a[[1, 5, 2]],
    "arithmetic": lambda a: a + 1,
    "element-wise function": numpy.sin,
    "sum": lambda a: a.sum(),
    "cumsum": lambda a: a.cumsum(),
    "sort": numpy.sort,
    "median": numpy.median,
    "loop": list,
    "written": lambda a: operator.setitem(a, 3, 7.0),
    "written, all": lambda a: operator.setitem(a, ..., 7.0),
    "in place": lambda a: operator.iadd(a, 1),
    "pickle": pickle.dumps,
    "repr": repr,
    "SciPy's way": lambda a: numpy.linalg.det(a.reshape(4, 6)[:, :4]),
}


@SEVERAL
@pytest.mark.parametrize("name", COMMUNICATING)
def test_collectives_raise_in_another_thread(name, ranks):
    a = distributed()
    a.sum()
    found = in_thread(COMMUNICATING[name], a)
    if ranks > 1:
        check_refused(found)
        numpy.testing.assert_array_equal(numpy.asarray(a), VALUES)
    else:
        assert not isinstance(found, Exception)
    check_in_step()


@SEVERAL
def test_barrier_and_sync_are_errors_in_another_thread(ranks):
    for act in (np.comm.barrier, np.sync):
        distributed().sum()
        found = in_thread(act)
        if ranks > 1:
            check_refused(found)
        else:
            assert found is None
    check_in_step()


@SEVERAL
def test_one_rank_alone_tries_in_a_thread(ranks):
    """Nothing of it is left that the other ranks do not have."""
    a = distributed()
    a.sum()
    if np.comm.rank == ranks - 1:
        for act in COMMUNICATING.values():
            in_thread(act, a)
    if ranks > 1:
        numpy.testing.assert_array_equal(numpy.asarray(a), VALUES)
    b = distributed() * 2
    np.sync()
    assert b.sum() == (VALUES * 2).sum()
    check_in_step()


FIRST = """
import threading
import dappled as np, numpy
a = np.zeros(200_000) + 1
said = []
def read():
    try:
        numpy.asarray(a)
    except RuntimeError as error:
        said.append("MainThread" in str(error))
thread = threading.Thread(target=read)
thread.start()
thread.join()
assert said == [True] and a.sum() == 200_000
"""


def test_the_thread_that_makes_a_distributed_array_is_the_first():
    """Not the one that is the first to need its values."""
    mpiexec = Path(sys.prefix) / "bin" / "mpiexec"
    command = ["timeout", "60", mpiexec, "-n", "2", sys.executable, "-c", FIRST]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@SEVERAL
def test_local_holds_in_one_thread(ranks):
    entered, done = threading.Event(), threading.Event()
    a = distributed()
    found = []

    def stay():
        with np.local():
            entered.set()
            done.wait(20)
            found.append(repr(a))

    thread = threading.Thread(target=stay)
    thread.start()
    entered.wait(20)
    total = a.sum()
    done.set()
    thread.join()
    assert total == VALUES.sum()
    assert ("rank" in found[0]) == (ranks > 1)


@SEVERAL
def test_an_error_in_a_thread_does_not_end_the_job(ranks, monkeypatch):
    seen = []
    monkeypatch.setattr(threading, "excepthook", seen.append)
    a = distributed()
    a.sum()
    thread = threading.Thread(target=lambda: a.sum(), name=NAME)
    thread.start()
    thread.join()
    assert len(seen) == (ranks > 1)
    check_in_step()


@SEVERAL
def test_threads_read_while_the_first_communicates(ranks):
    a, r = distributed(), replicated()

    def read(part):
        return [float((r[part : part + 6] * 2).sum()) for _ in range(40)]

    with ThreadPoolExecutor(3) as pool:
        found = [pool.submit(read, part) for part in (0, 6, 12)]
        sums = [float((a + turn).sum()) for turn in range(40)]
        found = [one.result() for one in found]
    assert found == [[float((VALUES[part : part + 6] * 2).sum())] * 40 for part in (0, 6, 12)]
    assert sums == [float((VALUES + turn).sum()) for turn in range(40)]
    check_in_step()


@SEVERAL
def test_asyncio(ranks):
    async def main():
        return await asyncio.to_thread(numpy.asarray, replicated())

    numpy.testing.assert_array_equal(asyncio.run(main()), VALUES)
    check_in_step()


class Told(multiprocessing.queues.Queue):
    """A queue that keeps what its feeder thread could not pickle."""

    failed = None

    def _on_queue_feeder_error(self, error, item):
        self.failed.put(error)


@SEVERAL
def test_the_feeder_thread_of_multiprocessing(ranks):
    box = Told(ctx=multiprocessing.get_context("spawn"))
    box.failed = queue.Queue()
    box.put(replicated())
    numpy.testing.assert_array_equal(box.get(timeout=20), VALUES)
    box.put(distributed())
    if ranks > 1:
        error = box.failed.get(timeout=20)
        assert '"QueueFeederThread"' in str(error) and '"MainThread"' in str(error)
    else:
        numpy.testing.assert_array_equal(box.get(timeout=20), VALUES)
    box.close()
    box.join_thread()
    check_in_step()


@SEVERAL
def test_joblib(ranks):
    joblib = pytest.importorskip("joblib")

    def sums(array):
        call = joblib.delayed(lambda part: float(array[part : part + 6].sum()))
        return joblib.Parallel(2, prefer="threads")(call(part) for part in range(0, LENGTH, 6))

    expected = [VALUES[part : part + 6].sum() for part in range(0, LENGTH, 6)]
    assert sums(replicated()) == expected
    if ranks > 1:
        with pytest.raises(RuntimeError, match="MainThread"):
            sums(distributed())
    else:
        assert sums(distributed()) == expected
    check_in_step()


@SEVERAL
def test_dask(ranks):
    dask_array = pytest.importorskip("dask.array")

    def total(array):
        return (dask_array.from_array(array, 6) + 1).sum().compute(scheduler="threads")

    assert total(replicated()) == (VALUES + 1).sum()
    if ranks > 1:
        with pytest.raises(RuntimeError, match="MainThread"):
            total(distributed())
    else:
        assert total(distributed()) == (VALUES + 1).sum()
    check_in_step()


@SEVERAL
def test_zarr(ranks):
    zarr = pytest.importorskip("zarr")
    numpy.testing.assert_array_equal(zarr.array(replicated(), chunks=5)[...], VALUES)
    if ranks > 1:
        with pytest.raises(RuntimeError, match="MainThread"):
            zarr.array(distributed(), chunks=5)
    else:
        numpy.testing.assert_array_equal(zarr.array(distributed(), chunks=5)[...], VALUES)
    check_in_step()
