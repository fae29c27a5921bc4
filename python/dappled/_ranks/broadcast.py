"""Broadcasts of picklable values from one rank to all others."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy

from dappled._ndarray.core import core
from dappled._ranks.consensus import pickle_error


def broadcast_from(rank: int, make: Callable[[], Any], what: str = "linear algebra") -> Any:
    """Calls a function on one rank and broadcasts its result, or its error, to all.

    The memory of arrays in the result is sent without copies. Collective.
    """
    sent, memory = b"", list[pickle.PickleBuffer]()
    if core.rank() == rank:
        try:
            kept = pickle.dumps(make(), protocol=5, buffer_callback=memory.append)
            sent = pickle.dumps((kept, len(memory), None))
        except Exception as error:
            memory.clear()
            sent = pickle.dumps((b"", 0, pickle_error(error, [])))
    kept, count, wrong = pickle.loads(core.gather(what, sent)[rank])
    if wrong is not None:
        raise pickle.loads(wrong)[0]
    if core.rank() == rank:
        own = [numpy.frombuffer(one.raw(), "u1") for one in memory]
        for one in [core.start_from(rank, what, part) for part in own]:
            one.wait()
        # Reconstructed as on the other ranks, without a copy
        return pickle.loads(kept, buffers=memory)
    received = [core.start_from(rank, what, numpy.empty(0, "u1")) for _ in range(count)]
    return pickle.loads(kept, buffers=[one.wait() for one in received])
