"""One program, with NumPy and with Dappled: Laplace's equation by Jacobi's method.

Run it with `make demo`, or `python examples/laplace.py [size iterations]`; on several processes
with `mpiexec -n 2 python examples/laplace.py`. The picture goes to ./demo-output/laplace.png.
"""

import sys
import time
from pathlib import Path
from types import ModuleType

import dappled
import numpy

PICTURE = Path("demo-output") / "laplace.png"
SIZE, ITERATIONS = 4000, 100
DRAWN_SIZE, DRAWN_ITERATIONS = 100, 10_000  # enough of them to reach the solution


def laplace(np: ModuleType, size: int, iterations: int):
    """The program: the same for both."""
    u = np.zeros((size, size))
    u[0] = 1
    for _ in range(iterations):
        u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
    return u, u.mean()


def timed(np: ModuleType, size: int, iterations: int):
    start = time.perf_counter()
    u, mean = laplace(np, size, iterations)
    return u, mean, time.perf_counter() - start


def main() -> None:
    size, iterations = map(int, sys.argv[1:] or (SIZE, ITERATIONS))
    dappled.config.fallback = "quiet"  # all values are wanted here, on several ranks too
    ours, our_mean, our_time = timed(dappled, size, iterations)
    values = numpy.asarray(ours)
    solution = numpy.asarray(laplace(dappled, DRAWN_SIZE, DRAWN_ITERATIONS)[0])
    if dappled.comm.rank > 0:
        return
    print(f"laplace {size} x {size}, {iterations} iterations; {dappled.comm.size} rank(s)\n")
    print(f"Dappled {our_time:8.2f} s   mean {our_mean}")
    theirs, mean, their_time = timed(numpy, size, iterations)
    print(f"NumPy   {their_time:8.2f} s   mean {mean}\n")
    same = our_mean == mean and values.tobytes() == theirs.tobytes()
    verdict = "equal bit for bit" if same else "DIFFERENT"
    print(f"{their_time / our_time:.1f} times as fast; the values are {verdict}")
    draw(solution)
    sys.exit(not same)


def draw(solution: numpy.ndarray) -> None:
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
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=100)
    print(f"{PICTURE}: the solution")


if __name__ == "__main__":
    main()
