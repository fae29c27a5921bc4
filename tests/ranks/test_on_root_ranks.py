"""`on_root`, and files that all ranks must name alike."""

import os
import tempfile
from pathlib import Path

import dappled
import numpy
import pytest


def failing():
    raise FileNotFoundError(2, "No such file", "there")


class Odd(Exception):
    """An error that pickle can't restore."""

    def __init__(self, one, two):
        super().__init__(one)


def odd():
    raise Odd(1, 2)


@pytest.mark.ranks(1, 2, 3)
def test_the_first_rank_does_it_and_all_get_the_result():
    calls = []
    found = dappled.comm.first(lambda a, b=0: calls.append(1) or (a, b, dappled.comm.rank), 3, b=4)
    assert found == (3, 4, 0)
    assert len(calls) == (dappled.comm.rank == 0)
    values = dappled.comm.first(lambda: numpy.arange(100_000.0))
    assert type(values) is numpy.ndarray and values.sum() == 4999950000.0
    assert dappled.comm.first(lambda: None) is None
    # And it can go on.
    assert dappled.ones(100_000).sum() == 100_000


@pytest.mark.ranks(1, 2, 3)
def test_the_first_ranks_error_is_raised_on_all():
    with pytest.raises(FileNotFoundError, match="there"):
        dappled.comm.first(failing)
    with pytest.raises((Odd, RuntimeError), match="1"):
        dappled.comm.first(odd)
    assert dappled.comm.first(int, "7") == 7


@pytest.mark.ranks(2, 3)
def test_collectives_raise_on_root():
    a = dappled.ones(100_000)
    with pytest.raises(RuntimeError, match="local"):
        dappled.comm.first(lambda: numpy.asarray(a))
    with pytest.raises(TypeError, match="pickle"):
        dappled.comm.first(lambda: (one for one in "generators"))
    assert a.sum() == 100_000


@pytest.mark.ranks(1, 2)
def test_recipes():
    """As in docs/interop.md."""
    folder = dappled.comm.first(tempfile.mkdtemp)
    a = dappled.arange(10.0)
    values = a.numpy()

    def write():
        with open(os.path.join(folder, "log"), "a") as log:
            print(values.sum(), file=log)
        numpy.save(os.path.join(folder, "a.npy"), values)

    dappled.comm.first(write)
    assert dappled.comm.first(Path(folder, "log").read_text) == "45.0\n"
    assert dappled.load(os.path.join(folder, "a.npy")).sum() == 45


WRITING = {
    "save": lambda a, name: dappled.save(name, a),
    "savez": lambda a, name: dappled.savez(name, a),
    "savez_compressed": lambda a, name: dappled.savez_compressed(name, a=a),
    "savetxt": lambda a, name: dappled.savetxt(name, a),
    "tofile": lambda a, name: a.tofile(name),
}
READING = {
    "load": lambda a, name: dappled.load(name),
    "loadtxt": lambda a, name: dappled.loadtxt(name),
    "fromfile": lambda a, name: dappled.fromfile(name),
}


@pytest.mark.parametrize("size", [5, 50_000])
@pytest.mark.parametrize("name", [*WRITING, *READING])
@pytest.mark.ranks(2, 3)
def test_all_ranks_name_the_same_file(name, size):
    a = dappled.arange(float(size)) if name != "savetxt" else dappled.arange(float(size))[:500]
    folder = dappled.comm.first(tempfile.mkdtemp)
    rank = dappled.comm.rank
    own = os.path.join(folder, f"out{min(rank, 1)}")
    act = (WRITING | READING)[name]
    with pytest.raises(ValueError, match="ranks name different files") as raised:
        act(a, own)
    text = str(raised.value)
    assert "out0' on rank 0" in text and "out1' on rank" in text and "local()" in text
    assert dappled.comm.first(os.listdir, folder) == []
    # The same name, and a name of its own where a rank is alone.
    if name in WRITING:
        act(a, os.path.join(folder, "all"))
        assert len(dappled.comm.first(os.listdir, folder)) == 1
        with dappled.local():
            act(numpy.ones(3), os.path.join(folder, f"own{rank}"))
        dappled.comm.barrier()
        assert len(dappled.comm.first(os.listdir, folder)) == 1 + dappled.comm.size
