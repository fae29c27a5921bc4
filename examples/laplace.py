"""One program, with NumPy and with Dappled: Laplace's equation by Jacobi's method.

Run it with `make demo`, or `python examples/laplace.py [size iterations]`; then on several ranks
with `dappled run -n 2 examples/laplace.py`, which compares with what one process found. The
picture goes to ./demo-output/laplace.png.
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
DRAWN_SIZE, DRAWN_ITERATIONS = 100, 10_000  # enough of them to reach the solution


def laplace(np: ModuleType, size: int, iterations: int):
    """The program: the same for both."""
    u = np.zeros((size, size))
    u[0] = 1
    for _ in range(iterations):
        u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
    return u, u.mean()


def timed(np: ModuleType, size: int, iterations: int) -> dict:
    """How long it takes, and the answer: its mean, and a digest of all its bits."""
    start = time.perf_counter()
    u, mean = laplace(np, size, iterations)
    seconds = time.perf_counter() - start
    bits = hashlib.sha256(numpy.asarray(u).tobytes()).hexdigest()
    return {"seconds": seconds, "mean": float(mean), "bits": bits}


def main() -> None:
    size, iterations = map(int, sys.argv[1:] or (SIZE, ITERATIONS))
    dappled.config.fallback = "quiet"  # all values are wanted here, on several ranks too
    begun = dappled.comm.stats()
    ours = timed(dappled, size, iterations)
    sent = dappled.comm.stats() - begun
    if dappled.comm.rank > 0:
        return
    print(f"laplace {size} x {size}, {iterations} iterations; {dappled.comm.size} rank(s)\n")
    print(f"Dappled {ours['seconds']:8.2f} s   mean {ours['mean']}")
    kept = FOLDER / f"laplace-{size}-{iterations}.json"
    if dappled.comm.size == 1 or not kept.exists():
        other, name = timed(numpy, size, iterations), "NumPy"
    else:
        other, name = json.loads(kept.read_text()), "alone"
    print(f"{name:7} {other['seconds']:8.2f} s   mean {other['mean']}\n")
    same = (ours["mean"], ours["bits"]) == (other["mean"], other["bits"])
    verdict = "equal bit for bit" if same else "DIFFERENT"
    print(f"{other['seconds'] / ours['seconds']:.1f} times as fast; the values are {verdict}")
    if dappled.comm.size == 1:
        FOLDER.mkdir(exist_ok=True)
        kept.write_text(json.dumps(ours))
        draw(laplace(dappled, DRAWN_SIZE, DRAWN_ITERATIONS)[0])
    else:
        print(f"rank 0 sent {sent.messages} messages, and waited {sent.seconds:.2f} s for others")
    sys.exit(not same)


def draw(solution) -> None:
    """The solution: 1 along the upper edge, 0 along the others."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("(for the picture: pip install dappled[plot])")
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
