"""Times 314 calls at one size: lists the slow ones and the median ratio to NumPy.

python benches/calls.py [ELEMENTS [RATIO]]: lists calls that take more than RATIO of NumPy's time.
"""

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import dappled
import numpy
from timing import compute_pending

CALLS = (Path(__file__).parent / "calls.txt").read_text().splitlines()


def operands(np: ModuleType, elements: int) -> dict[str, Any]:
    """The operands that the calls name, with equal values for NumPy and Dappled."""
    r, n = numpy.random.default_rng(0), int(elements**0.5)
    values = {
        "A": r.random((n, n)),
        "B": r.random((n, n)),
        "C": r.random((3, n, n // 3)),
        "D": r.integers(0, 10000, elements).astype("M8[D]"),
        "F": numpy.asfortranarray(r.random((n, n))),
        "M": r.random((n, n)) > 0.5,
        "S": numpy.array(["a", "bb", "ccc"] * (min(elements, 30_000) // 3)),
        "b": r.integers(0, 255, elements).astype("u1"),
        "c": r.random(elements) + 1j * r.random(elements),
        "f": r.random(elements).astype("f4"),
        "h": r.integers(0, 50, elements),
        "i": r.integers(0, elements, elements),
        "j": r.integers(0, n, 100),
        "k": numpy.arange(elements),
        "m": r.random(elements) > 0.5,
        "s": numpy.sort(r.random(elements)),
        "x": r.random(elements),
        "y": r.random(elements),
    }
    arrays = {name: np.array(array) for name, array in values.items()}
    return {"np": np, "N": elements, "n": n, **arrays}


def seconds(call: Callable[[], Any]) -> float:
    """Returns the best of a few rounds, each long enough to be measured."""

    def round_of(count: int) -> float:
        start = time.perf_counter()
        for _ in range(count):
            compute_pending(call())
        return (time.perf_counter() - start) / count

    round_of(1)
    first = round_of(1)
    count = max(1, min(200, int(0.01 / max(first, 1e-6))))
    return min(round_of(count) for _ in range(4 if first < 0.2 else 2))


def main(elements: int = 1_000_000, max_ratio: float = 1.1) -> None:
    """Prints the calls above `max_ratio`, and the median."""
    both = [operands(np, elements) for np in (numpy, dappled)]
    rows = []
    for call in CALLS:
        numpy_time, dappled_time = (seconds(eval(f"lambda: {call}", names)) for names in both)
        rows.append((dappled_time / numpy_time, call, numpy_time * 1e6, dappled_time * 1e6))
    for ratio, call, numpy_time, dappled_time in sorted(rows, reverse=True):
        if ratio > max_ratio:
            print(f"{ratio:7.2f} {call:60} {numpy_time:11.1f} us {dappled_time:11.1f} us")
    median = statistics.median(row[0] for row in rows)
    print(f"{len(rows)} calls at {elements:,} elements: median ratio {median:.2f}")


if __name__ == "__main__":
    main(*[kind(text) for kind, text in zip((int, float), sys.argv[1:], strict=False)])
