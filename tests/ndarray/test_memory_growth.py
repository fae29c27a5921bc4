"""Long loops free and reuse memory, as `memory_stats` shows."""

import gc
import re
from pathlib import Path

import dappled
import numpy
import pytest


def resident():
    """Bytes that this process has in memory."""
    return 1024 * int(re.search(r"VmRSS:\s*(\d+)", Path("/proc/self/status").read_text())[1])


def chain(np, size):
    v = np.linspace(0, 1, size)

    def step(k):
        nonlocal v
        v = v * 0.5 + k % 7

    return step


def grid(np, size):
    u = np.zeros((size, size))

    def step(k):
        u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4

    return step


def held(np, size):
    """Views, copies and results that are held for a while, and never looked at."""
    kept = [np.ones(size) for _ in range(5)]

    def step(k):
        kept[k % 5] = (kept[(k + 1) % 5] * 0.5)[::2].repeat(2)[:size] + kept[k % 5].copy()

    return step


def looked_at(np, size):
    a = np.linspace(0, 1, size)

    def step(k):
        a[k % size] = a.sum() / size + float(a[-1]) + a[a > 0.5].max() + a.argmax()
        a[:] = a / a.max() + k * 1e-9

    return step


LOOPS = {"chain": chain, "grid": grid, "held": held, "looked at": looked_at}


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("size", [60, 20_000])
def test_a_long_loop_leaves_nothing(name, size):
    step = LOOPS[name](dappled, 150 if name == "grid" and size > 60 else size)
    few, many = 1500, 4000  # by then all that is kept for reuse is there
    for k in range(few):
        step(k)
    gc.collect()
    before, stats = resident(), dappled.memory_stats()
    for k in range(many):
        step(k)
    gc.collect()
    after = dappled.memory_stats()
    # A node with nothing in it would take more than this.
    assert resident() - before < many * 250
    # The number of pending arrays varies.
    assert after["live"] < stats["live"] + 400 * 8 * size


def test_a_long_sum_holds_few_arrays():
    size = 100_000
    total = dappled.zeros(size)
    before = dappled.memory_stats()["live"]
    for k in range(200):
        more = dappled.ones(size) * k
        more._compute()
        total = total + more
        assert dappled.memory_stats()["live"] - before < 20 * 8 * size
    assert float(total[0]) == sum(range(200))


def bisected(np, size, looks):
    """Each half is made of both before it, so that the ways through what is pending double."""
    low, high = np.zeros(size), np.arange(size) % 7 + 1.0
    for _ in range(80):
        middle = (low + high) / 2
        left = low * middle <= 2
        high, low = np.where(left, middle, high), np.where(left, low, middle)
        if looks:
            (high - low > 1e-9).any()
    return low


@pytest.mark.parametrize("looks", [False, True])
def test_shared_operands_are_read_once(looks):
    expected = bisected(numpy, 20_000, looks)
    numpy.testing.assert_array_equal(numpy.asarray(bisected(dappled, 20_000, looks)), expected)


class Grid:
    """GAiN's, of the unit square."""

    def __init__(self, np, n):
        self.np = np
        self.dx = self.dy = 1.0 / (n - 1)
        self.u = np.zeros((n, n))
        self.old_u = self.u.copy()

    def set_boundary(self, f):
        np, n = self.np, self.u.shape[0]
        x, y = (
            np.arange(0, 1 + self.dx / 2, self.dx)[:n],
            np.arange(0, 1 + self.dy / 2, self.dy)[:n],
        )
        self.u[0, :], self.u[-1, :] = f(0, y), f(1, y)
        self.u[:, 0], self.u[:, -1] = f(x, 0), f(x, 1)

    def error(self):
        v = (self.u - self.old_u).flat
        return self.np.sqrt(self.np.dot(v, v))


def step(g):
    dx2, dy2 = g.dx**2, g.dy**2
    dnr_inv = 0.5 / (dx2 + dy2)
    u = g.u
    g.old_u = u.copy()
    u[1:-1, 1:-1] = (
        (u[0:-2, 1:-1] + u[2:, 1:-1]) * dy2 + (u[1:-1, 0:-2] + u[1:-1, 2:]) * dx2
    ) * dnr_inv
    return g.error()


def test_arrays_that_the_papers_laplace_makes():
    """912 in 100 iterations without a cache, 11 with the deepest, says its Table 1."""
    errors = {}
    for np in (numpy, dappled):
        grid = Grid(np, 400)
        grid.set_boundary(lambda x, y: x * x - y)
        before = dappled.memory_stats()
        errors[np] = [float(step(grid)) for _ in range(100)]
        after = dappled.memory_stats()
    assert numpy.allclose(errors[numpy], errors[dappled], rtol=1e-12)
    assert after["made"] - before["made"] <= 4
    assert after["live"] - before["live"] <= 2 * 400 * 400 * 8


def test_memory_stats_counters():
    shape, bytes_ = (1000, 500), 1000 * 500 * 8
    before = dappled.memory_stats()
    a = dappled.ones(shape) * 3.0
    a._compute()
    b = a + 1
    b._compute()
    now = dappled.memory_stats()
    assert now["live"] - before["live"] == 2 * bytes_
    assert now["peak"] >= now["live"]
    del a
    then = dappled.memory_stats()
    assert (now["live"] - then["live"], then["kept"] - now["kept"]) == (bytes_, bytes_)
    c = b * 2
    c._compute()
    last = dappled.memory_stats()
    assert last["reused"] == then["reused"] + 1 and last["made"] == then["made"]
    assert (last["live"], last["kept"]) == (now["live"], now["kept"])
