"""A fixed number of random programs; `make fuzz` runs new ones."""

import subprocess
import sys

import numpy
import pytest

from tests.fuzz.programs import generate
from tests.fuzz.reference import Oracle, difference, for_dappled, for_oracle
from tests.fuzz.run import ROOT, shrunk

RUN = ["-m", "tests.fuzz.run"]

# The number of ranks, the settings, and the number of programs.
RUNS = [
    (1, "plain", 300),
    (1, "deferred,compiled,interpreted,together", 100),
    (2, "plain", 60),
    (2, "deferred", 40),
    (3, "plain", 60),
    (3, "replicated", 40),
]


@pytest.mark.parametrize(("ranks", "settings", "count"), RUNS)
def test_random_programs(ranks, settings, count):
    for place, setting in enumerate(settings.split(",")):
        first = 1_000 * ranks + 100 * place
        seeds = ["--seeds", f"{first}:{first + count}"]
        options = ["--ranks", str(ranks), "--settings", setting, "--failures", "1"]
        command = ["timeout", "-k", "5", "150", sys.executable, *RUN, *seeds, *options]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_oracle_reads_before_it_writes():
    oracle = Oracle()
    oracle.run("a = np.arange(8)")
    oracle.run("a[::2] = «a[:4]»")
    assert oracle.names["a"].tolist() == [0, 1, 1, 3, 2, 5, 3, 7]
    assert for_dappled("a[::2] = «a[:4]»") == "a[::2] = a[:4]"
    assert for_oracle("a[::2] = «a[:4]»") == "a[::2] = _c(a[:4])"


def test_programs_are_the_same_for_the_same_seed():
    assert [generate(seed)[0] for seed in range(20)] == [generate(seed)[0] for seed in range(20)]


def test_differences_are_found():
    one, other = Oracle(), Oracle()
    for oracle in (one, other):
        oracle.run("a = np.arange(5.0)")
    assert difference(one, other) is None
    other.run("a[2] = numpy.nextafter(2, 3)")
    assert "1 of 5" in difference(one, other)
    one.run("a[2] = a[2] * -0.0")
    other.run("a[2] = 0")
    assert difference(one, other) is not None


def test_a_failure_is_shrunk():
    statements = ["a = 1", "b = 2", "c = a", "d = c"]

    def rerun(statements, seed):
        return "wrong" if {"a = 1", "c = a"} <= set(statements) else None

    assert shrunk(statements, 0, "wrong", rerun) == (["a = 1", "c = a"], "wrong")


def test_sizes_are_around_every_threshold():
    sizes = [numpy.size(value) for seed in range(300) for value in _arrays(seed)]
    for threshold in (2000, 16_384, 131_072):
        near = [size - threshold for size in sizes if abs(size - threshold) < 2]
        assert {-1, 0, 1} <= set(near), threshold


def _arrays(seed):
    return [one for one in generate(seed)[1].arrays().values() if hasattr(one, "shape")]
