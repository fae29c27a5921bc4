"""Speedup over NumPy of Dappled, C and other libraries, each in its own best form.

python benches/peers.py [WORDS]: only workloads whose name contains one of the words.
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


def peer_modules() -> dict[str, Any]:
    """The peers that can be imported, by name."""
    modules = {}
    for name in PEERS:
        try:
            modules[name.removeprefix("peer_")] = importlib.import_module(name)
        except ImportError as error:
            print(f"({name.removeprefix('peer_')} is not installed: {error})")
    return modules


def runners(workload: Workload, loops: Any, peers: dict[str, Any]) -> dict[str, Callable[[], Any]]:
    """The functions that run this workload, by name of the peer."""
    arrays = operands(numpy, workload.shapes, workload.dtype)
    runs = {"C": compiled_c.in_c(loops, workload, arrays) if loops else None}
    for name, peer in peers.items():
        runs[name] = peer.runner(workload, arrays)
    return {name: run for name, run in runs.items() if run}


def speedups(workload: Workload, loops: Any, peers: dict[str, Any]) -> dict[str, float]:
    """Speedup of each peer over NumPy, without the first call, which compiles."""
    runs = runners(workload, loops, peers)
    for run in runs.values():
        run()
    timers = [timer(workload, numpy), timer(workload, dappled), *map(timeit.Timer, runs.values())]
    numpy_time, *others = best(timers)
    return {name: numpy_time / time for name, time in zip(("Dappled", *runs), others, strict=True)}


def main() -> None:
    """Prints the table."""
    words = sys.argv[1:] or [""]
    loops, peers = compiled_c.library(), peer_modules()
    columns = ("Dappled", "C", *peers)
    print(f"{'speedup over NumPy':50}", *(f"{name:>9}" for name in columns))
    for workload in WORKLOADS:
        if any(word in workload.name for word in words):
            row = speedups(workload, loops, peers)
            cells = (f"{row[name]:9.2f}" if name in row else " " * 9 for name in columns)
            print(f"{workload.name:50}", *cells, flush=True)


if __name__ == "__main__":
    main()
