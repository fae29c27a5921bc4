"""Ctrl-C ends long computations and waits, and leaves arrays unchanged."""

import os
import signal
import subprocess
import sys
import threading
import time

import dappled as np
import numpy
import pytest

from tests.support.mpi import MPIEXEC

# Seconds until the signal comes; seconds within which it has to be seen, on a busy machine.
BEFORE, SOON = 0.3, 2.0


def interrupted(act):
    """Seconds from a SIGINT to the KeyboardInterrupt that some work ends with."""
    sent = []

    def send():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(BEFORE, send)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            act()
            timer.join()
            pytest.fail("the work was done before it was interrupted")
        return time.perf_counter() - sent[0]
    finally:
        timer.join()


def long_chain(a):
    """Some seconds of work, in one loop."""
    b = a
    for _ in range(100):
        b = np.sin(b) + np.cos(b)
    return b


def test_a_long_computation_ends_and_can_be_done_again():
    a = np.linspace(0, 1, 1 << 24)
    b = long_chain(a)
    assert interrupted(lambda: b.sum().item()) < SOON
    # Deferred, and computed on demand.
    expected = numpy.linspace(0, 1, 1 << 24)[:5]
    for _ in range(100):
        expected = numpy.sin(expected) + numpy.cos(expected)
    numpy.testing.assert_allclose(b[:5].numpy(), expected)
    numpy.testing.assert_array_equal(a[-2:].numpy(), numpy.linspace(0, 1, 1 << 24)[-2:])


def test_a_sort_ends():
    a = np.random.default_rng(5).random(1 << 24)
    before = a[:5].numpy().copy()

    def sorts():
        for _ in range(9):
            np.sort(a)

    assert interrupted(sorts) < SOON
    assert (a[:5].numpy() == before).all()


def test_the_handler_decides():
    """Work continues after a handler that returns, and ends with the handler's exception."""
    seen = []
    old = signal.signal(signal.SIGUSR1, lambda *_: seen.append(time.perf_counter()))
    try:
        a = np.linspace(0, 1, 1 << 20)
        expected = long_chain(a).sum().item()
        timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGUSR1))
        timer.start()
        b = long_chain(a)
        assert b.sum().item() == expected
        timer.join()
        assert seen
        signal.signal(signal.SIGUSR1, lambda *_: 1 / 0)
        timer = threading.Timer(BEFORE, os.kill, (os.getpid(), signal.SIGUSR1))
        timer.start()
        with pytest.raises(ZeroDivisionError):
            long_chain(np.linspace(0, 1, 1 << 24)).sum().item()
        timer.join()
        assert (np.arange(5) + 1).sum() == 15
    finally:
        signal.signal(signal.SIGUSR1, old)


WAITS = """
import os, signal, threading, time
import dappled as np
a = np.arange(1e6)
a.sum().item()
if np.comm.rank == 1:
    time.sleep(30)
started = time.perf_counter()
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    a.sum().item()
except KeyboardInterrupt:
    assert a.local[:1] is not None
    print("interrupted after", time.perf_counter() - started, flush=True)
os._exit(3)
"""


def test_a_rank_that_waits_for_another_ends():
    command = ["timeout", "60", str(MPIEXEC), "-n", "2", sys.executable, "-c", WAITS]
    done = subprocess.run(command, capture_output=True, text=True)
    after = float(done.stdout.split("interrupted after")[1].split()[0])
    assert after < 0.5 + SOON, done.stdout + done.stderr
