"""Runs functions for which there is no memory, on any number of ranks; see test_out_of_memory.py.

`out_of_memory_cases.py FOLDER ROOMS CASE...` writes what came of each case, with so many kinds of
room, to a file of this rank's. Stops where the ranks can no longer go on together.
"""

import json
import os
import resource
import sys
import time
from pathlib import Path

import dappled as np
import numpy
from dappled import _core

# Elements of the operands.
COUNT = 3 << 19
# Bytes available beside those in use: first too few for any result, then for temporaries.
ROOMS = [1 << 20, 7 << 20, 15 << 20, 28 << 20]

CASES = """
a + 1
-a
a * b
np.sqrt(a)
np.exp(a * 2)
np.where(m, a, b)
np.maximum(a, b)
a.astype(complex)
np.sort(a)
np.argsort(a)
np.lexsort((a, b))
np.partition(a, 5)
np.unique(a)
np.searchsorted(s, a)
np.isin(i, i[:100])
np.nonzero(a)
np.flatnonzero(m)
np.argwhere(m)
np.take(a, i)
a[i]
a[a > 5]
a[m]
np.compress(m, a)
np.cumsum(a)
np.cumprod(a)
np.diff(a)
np.concatenate([a, b])
np.stack([a, b])
np.append(a, b)
np.tile(a, 2)
np.repeat(a, 2)
np.roll(a, 3)
np.pad(a, 3)
np.delete(a, 3)
np.insert(a, 3, 7)
np.convolve(a, [1.0, 2.0, 1.0])
np.outer(a[:2000], b[:2000])
x @ x
np.fft.fft(a)
np.fft.ifft(a)
np.fft.rfft(a)
np.fft.fft2(x)
np.bincount(i)
np.arange(COUNT)
np.linspace(0, 1, COUNT)
np.ones(COUNT).local
np.full(COUNT, 7.0).local
np.zeros_like(a).local
np.random.default_rng(5).random(COUNT)
np.random.default_rng(5).permutation(a)
""".strip().splitlines()


def operands():
    a = np.arange(float(COUNT)) * 7 % 1013
    i = np.arange(COUNT)[::-1] + 0
    x = (np.arange(1000.0 * 1000) % 7).reshape(1000, 1000) + 0
    made = {"a": a, "b": a + 1, "i": i, "m": a > 5, "s": np.arange(1000.0), "x": x}
    _core.sync()
    # What libraries load, and OpenBLAS ends the process where it gets no memory.
    np.random.default_rng(5).random(3), made["x"] @ made["x"], np.linalg.inv(np.eye(3))
    return made


def pieces(arrays):
    return {name: numpy.array(array.local) for name, array in arrays.items()}


def limit(room):
    """Limits memory to `room` bytes beside those in use; None removes the limit."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    soft = resource.RLIM_INFINITY if room is None else used + room
    resource.setrlimit(resource.RLIMIT_AS, (soft, resource.RLIM_INFINITY))


def outcome(case, room, arrays):
    """The exception that a case raises with so much room, and whether it has changed an operand."""
    before = pieces(arrays)
    limit(room)
    try:
        result = eval(case, {"np": np, "COUNT": COUNT, **arrays})
        _core.sync()
        said = "no exception"
        del result
    except BaseException as error:
        said = f"{type(error).__name__}: {error}"
    limit(None)
    same = all(numpy.array_equal(before[name], piece) for name, piece in pieces(arrays).items())
    return said if same else f"{said}, and an operand has changed"


def goes_on(arrays):
    """The error of a sum over all ranks; None where the ranks still agree."""
    try:
        (arrays["a"] * 2).sum().item()
    except BaseException as error:
        return f"{type(error).__name__}: {error}"


def main(folder, rooms, *cases):
    arrays = operands()
    with open(Path(folder) / str(np.comm.rank), "w") as file:
        for case in cases:
            for room in ROOMS[: int(rooms)]:
                said, after = outcome(case, room, arrays), goes_on(arrays)
                file.write(json.dumps([case, room, said, after]) + "\n")
                file.flush()
                if after:
                    return wait_for_others(folder, case, room)


def wait_for_others(folder, case, room):
    """Waits, without a message, until all ranks have reported a case."""
    start = f'["{case}", {room}, '
    for _ in range(200):
        texts = [file.read_text() for file in Path(folder).iterdir()]
        if sum(start in text for text in texts) == np.comm.size:
            break
        time.sleep(0.05)


if __name__ == "__main__":
    main(*sys.argv[1:])
    os._exit(0)  # ranks that have parted can't leave together
