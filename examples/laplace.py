"""Laplace's equation by Jacobi iteration, with NumPy and with Dappled.

Run it with `make demo`, or `python examples/laplace.py [size iterations]`. Then run it on several
ranks with `dappled run -n 2 examples/laplace.py`, which compares with the result of one process.
The picture is written to ./demo-output/laplace.png.
"""

import hashlib
import json
import sys
import time
from pathlib import Path
from types import ModuleType

import dappled
import numpy

FOLDER = Path("demo-output")
SIZE, ITERATIONS = 4000, 100
DRAWN_SIZE, DRAWN_ITERATIONS = 100, 10_000  # enough iterations to converge


def laplace(np: ModuleType, size: int, iterations: int):
    """Solves Laplace's equation; the source is the same for NumPy and Dappled."""
    u = np.zeros((size, size))
    u[0] = 1
    for _ in range(iterations):
        u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
    return u, u.mean()


def measure(np: ModuleType, size: int, iterations: int) -> dict:
    """Returns the run time, the mean of the solution, and a digest of its bits."""
    start = time.perf_counter()
    u, mean = laplace(np, size, iterations)
    seconds = time.perf_counter() - start
    bits = hashlib.sha256(numpy.asarray(u).tobytes()).hexdigest()
    return {"seconds": seconds, "mean": float(mean), "bits": bits}


def main() -> None:
    size, iterations = map(int, sys.argv[1:] or (SIZE, ITERATIONS))
    dappled.config.fallback = "quiet"  # the digest gathers all values on purpose
    before = dappled.comm.stats()
    result = measure(dappled, size, iterations)
    sent = dappled.comm.stats() - before
    if dappled.comm.rank > 0:
        return
    print(f"laplace {size} x {size}, {iterations} iterations; {dappled.comm.size} rank(s)\n")
    print(f"Dappled {result['seconds']:8.2f} s   mean {result['mean']}")
    saved = FOLDER / f"laplace-{size}-{iterations}.json"
    if dappled.comm.size == 1 or not saved.exists():
        reference, name = measure(numpy, size, iterations), "NumPy"
    else:
        reference, name = json.loads(saved.read_text()), "1 rank"
    print(f"{name:7} {reference['seconds']:8.2f} s   mean {reference['mean']}\n")
    same = (result["mean"], result["bits"]) == (reference["mean"], reference["bits"])
    verdict = "equal bit for bit" if same else "DIFFERENT"
    print(f"{reference['seconds'] / result['seconds']:.1f} times as fast; the values are {verdict}")
    if dappled.comm.size == 1:
        FOLDER.mkdir(exist_ok=True)
        saved.write_text(json.dumps(result))
        draw(laplace(dappled, DRAWN_SIZE, DRAWN_ITERATIONS)[0])
    else:
        print(f"rank 0 sent {sent.messages} messages, waited {sent.seconds:.2f} s for other ranks")
    sys.exit(not same)


def draw(solution) -> None:
    """Draws the solution: 1 along the upper edge, 0 along the other edges."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("(install matplotlib to draw the picture)")
        return
    figure = Figure(figsize=(5, 4), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(solution, cmap="inferno", vmin=0, vmax=1)
    axes.contour(solution, levels=numpy.linspace(0.1, 0.9, 9), colors="white", linewidths=0.5)
    axes.set_title(f"{DRAWN_SIZE} x {DRAWN_SIZE}, {DRAWN_ITERATIONS:,} iterations")
    figure.colorbar(image, ax=axes)
    picture = FOLDER / "laplace.png"
    figure.savefig(picture, dpi=100)
    print(f"{picture}: the solution")


if __name__ == "__main__":
    main()
