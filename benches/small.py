"""Times single calls on small arrays, mostly of 100 elements, with NumPy and Dappled.

python benches/small.py [TEXT]: only calls that contain the text.

NumPy and Dappled alternate in short rounds, and the shortest round counts. This gives stable ratios
on a busy machine.
"""

import sys
import timeit
from types import ModuleType
from typing import Any

import dappled
import numpy

ROUND_SECONDS = 2e-4
ROUNDS = 60
SETUP = """
a, b, c = (np.random.default_rng(seed).random(100) for seed in range(3))
m, i, k, x, numbers = a.reshape(10, 10).copy(), np.arange(100), a > 0.5, 1.5, [1.0, 2.0, 3.0]
y, rng = numpy.float64(1.5), np.random.default_rng(7)
a1, b1, c1 = (np.random.default_rng(seed).random(1000) for seed in range(3))
a3, b3, c3 = (np.random.default_rng(seed).random(3000) for seed in range(3))
a2, b2, c2 = (np.random.default_rng(seed).random(10_000) for seed in range(3))
u1, u2, u3 = (np.random.default_rng(0).random((size, size)) for size in (10, 100, 300))

def recurrence():
    for j in range(1, 100):
        a[j] = a[j - 1] + 1

def laplace(u):
    u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
"""
CALLS = """
a + b | a * 2.0 | a < b | -a | a / b | a ** 2 | m + m[0] | np.sqrt(a) | np.exp(a) | np.add(a, b)
a.__iadd__(b) | np.add(a, b, out=c)
a[3] | m[2, 3] | a[2:5] | m[1] | m[1:-1, 1:-1] | a[k] | a[i] | a.__setitem__(5, x) | recurrence()
a.sum() | a.mean() | a.std() | a.max() | k.any() | a.argmax() | m.sum(axis=0) | np.sum(a)
np.mean(a) | np.var(a) | np.all(k)
np.zeros(100) | np.ones((10, 10)) | np.full(100, 2.0) | np.arange(100) | np.array(numbers)
np.asarray(a) | np.zeros_like(a) | np.linspace(0, 1, 100)
np.where(k, a, b) | a.clip(0.2, 0.8) | a.reshape(10, 10) | m.ravel() | m.T | a.astype('f4')
a.copy() | a.tolist()
np.dot(a, b) | m @ a[:10] | np.linalg.norm(a) | np.linalg.solve(m, b[:10]) | np.sqrt(x) | y * a
np.concatenate([a, b]) | np.stack([a, b]) | np.sort(a) | np.argsort(a) | np.cumsum(a) | np.diff(a)
np.median(a) | np.unique(i) | np.histogram(a) | np.interp(x, a, b) | np.outer(numbers, numbers)
m[:, [1, 2]] | a.__setitem__(k, x) | np.allclose(a, b) | np.mean(numbers) | np.fft.fft(a)
rng.random(3) | np.random.normal() | np.nonzero(k) | np.shape(a)
a * b + c * 2.0 - np.sqrt(np.abs(a)) | a1 * b1 + c1 * 2.0 - np.sqrt(np.abs(a1))
a3 * b3 + c3 * 2.0 - np.sqrt(np.abs(a3)) | a2 * b2 + c2 * 2.0 - np.sqrt(np.abs(a2))
a1 * b1 + c1 | a3 * b3 + c3 | a2 * b2 + c2 | ((a1 - b1) ** 2).sum() | ((a2 - b2) ** 2).sum()
laplace(u1) | laplace(u2) | laplace(u3)
"""


def compute_pending(result: Any) -> Any:
    """Computes a pending result."""
    if isinstance(result, dappled.ndarray):
        result._compute()
    return result


def timer(np: ModuleType, call: str) -> timeit.Timer:
    """Returns a timer of a call that includes the computation of pending results."""
    names = {"np": np, "numpy": numpy, "compute_pending": compute_pending}
    exec(SETUP, names)
    is_deferred = np is dappled and any(name in call for name in ("a2", "laplace"))
    return timeit.Timer(f"compute_pending({call})" if is_deferred else call, globals=names)


def best(call: str) -> list[float]:
    """Returns the shortest time with NumPy and with Dappled."""
    timers = [timer(np, call) for np in (numpy, dappled)]
    counts = [max(3, round(ROUND_SECONDS * 50 / each.timeit(50))) for each in timers]
    rounds = [
        [each.timeit(count) / count for each, count in zip(timers, counts, strict=True)]
        for _ in range(ROUNDS)
    ]
    return [min(column) for column in zip(*rounds, strict=True)]


def main() -> None:
    """Prints the table."""
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    print(f"{'ns per call':46} {'NumPy':>9} {'Dappled':>9} {'Dappled/NumPy':>14}")
    for call in (call.strip() for line in CALLS.splitlines() for call in line.split("|")):
        if call and wanted in call:
            numpy_ns, dappled_ns = (seconds * 1e9 for seconds in best(call))
            print(f"{call:46} {numpy_ns:9,.0f} {dappled_ns:9,.0f} {dappled_ns / numpy_ns:14.2f}")


if __name__ == "__main__":
    main()
