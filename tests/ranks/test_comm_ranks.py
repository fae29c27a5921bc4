"""`comm`, `sync`, `explain` and `local` on several ranks, and the messages they send."""

import os
import re

import dappled as np
import numpy
import pytest

from tests.support.rank_arrays import VALUES, allgather, array

pytestmark = [pytest.mark.ranks(1, 3, 4), pytest.mark.usefixtures("quiet_fallback")]


def test_sync_computes_what_is_pending():
    a = array() * 2
    b, c = a + 1, (a - 1)[1:]
    if np.comm.rank == 0:
        del a
    np.sync()
    assert "pending" not in np.explain(b) + np.explain(c)
    d = b * b
    np.sync(d)
    assert "pending" not in np.explain(d) and d[0, 0] == (2 * VALUES[0, 0] + 1) ** 2


def test_comm():
    assert allgather(np.comm.rank) == [*range(np.comm.size)]
    np.comm.barrier()
    np.sync()
    assert repr(np.comm) == f"Comm(rank={np.comm.rank}, size={np.comm.size})"
    assert allgather(np.comm.name) == [np.comm.name] * np.comm.size
    nodes = int(os.environ.get("MPIR_CVAR_NUM_CLIQUES", "1"))
    assert max(allgather(np.comm.node_rank)) == -(-np.comm.size // nodes) - 1


def in_rows(shape):
    """Zeros, of which each rank has some rows."""
    distribution = np.protocol.Distribution(shape, "bn", nprocs=np.comm.size)
    return np.zeros(shape).redistribute(distribution)


def test_laplace_sends_one_row_to_each_neighbour():
    times, columns = 5, 300
    u = in_rows((16 * np.comm.size, columns))
    u[0] = 1
    before = np.comm.stats()
    for _ in range(times):
        u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
    sent = np.comm.stats() - before
    neighbours = (np.comm.rank > 0) + (np.comm.rank < np.comm.size - 1)
    assert sent.messages == times * neighbours
    assert sent.bytes == times * neighbours * (columns - 2) * u.itemsize


def test_explain_shows_the_messages():
    u = in_rows((1000 * np.comm.size, 300))
    u[0] = 1  # zeros everywhere would not have to be sent
    v = u[:-2] * 2 + u[2:]
    said = [int(found) for found in re.findall(r"^send (\d+)", np.explain(v), re.M)]
    before = np.comm.stats()
    assert v.local.dtype == v.dtype  # which needs the values
    sent = np.comm.stats() - before
    assert (sent.messages, sent.bytes) == (len(said), sum(said) * v.itemsize)
    assert np.comm.size == 1 or sum(allgather(sent.messages)) > 0


def test_local_repr_on_one_rank():
    a = array() * 2
    view, text = a[1:], ""
    if np.comm.rank == np.comm.size - 1:
        with np.local():
            text = repr(a) + str(view)
        try:
            raise ValueError
        except ValueError:
            text += str(a)
    if text and np.comm.size > 1:
        assert text.count("Distribution((3, 4)") == 3 and f"rank {np.comm.rank} has" in text
    assert repr(a) == repr(VALUES * 2)


def test_collectives_raise_inside_local():
    a, refused = array(), []
    calls = [
        lambda: np.median(a),
        lambda: numpy.asarray(a),
        lambda: np.divmod(a, 2),
        lambda: np.random.default_rng(),
        np.comm.barrier,
        np.sync,
    ]
    with np.local():
        for call in calls if np.comm.rank == 0 and np.comm.size > 1 else ():
            try:
                call()
            except RuntimeError as error:
                refused.append("cannot run inside dappled.local()" in str(error))
    assert np.comm.rank or np.comm.size == 1 or refused == [True] * len(calls)
    assert a.sum() == VALUES.sum()
