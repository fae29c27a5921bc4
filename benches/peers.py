"""The workloads beside C and the peers that are installed, each written in its own best way.

python benches/peers.py [WORDS]: times NumPy's speed; those workloads whose name has a word.
"""

import importlib
import sys
import timeit
from collections.abc import Callable
from typing import Any

import compiled_c
import dappled
import numpy
from timing import best, operands, timer
from workloads import WORKLOADS, Workload

PEERS = ("peer_numba", "peer_numexpr", "peer_jax", "peer_dask")


def modules() -> dict[str, Any]:
    """The peers that can be imported, by name."""
    found = {}
    for name in PEERS:
        try:
            found[name.removeprefix("peer_")] = importlib.import_module(name)
        except ImportError as error:
            print(f"({name.removeprefix('peer_')} is not here: {error})")
    return found


def entrants(workload: Workload, loops: Any, peers: dict[str, Any]) -> dict[str, Callable[[], Any]]:
    """Who runs this workload, and how."""
    arrays = operands(numpy, workload.shapes, workload.dtype)
    runs = {"C": compiled_c.in_c(loops, workload, arrays) if loops else None}
    for name, peer in peers.items():
        runs[name] = peer.runner(workload, arrays)
    return {name: run for name, run in runs.items() if run}


def ratios(workload: Workload, loops: Any, peers: dict[str, Any]) -> dict[str, float]:
    """How many times NumPy's speed each has; a first call, compiling, is not counted."""
    runs = entrants(workload, loops, peers)
    for run in runs.values():
        run()
    timers = [timer(workload, numpy), timer(workload, dappled), *map(timeit.Timer, runs.values())]
    base, *others = best(timers)
    return {name: base / time for name, time in zip(("Dappled", *runs), others, strict=True)}


def main() -> None:
    """Prints the table."""
    words = sys.argv[1:] or [""]
    loops, peers = compiled_c.library(), modules()
    columns = ("Dappled", "C", *peers)
    print(f"{'times as fast as NumPy':50}", *(f"{name:>9}" for name in columns))
    for workload in WORKLOADS:
        if any(word in workload.name for word in words):
            found = ratios(workload, loops, peers)
            cells = (f"{found[name]:9.2f}" if name in found else " " * 9 for name in columns)
            print(f"{workload.name:50}", *cells, flush=True)


if __name__ == "__main__":
    main()
