"""Workloads in plain NumPy source, where `np` is NumPy or Dappled, with goals.

Operands are random arrays of a shape and dtype, equal for NumPy and Dappled. `goal` is the smallest
acceptable speedup over NumPy on two cores.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

ITERATIONS = 10
LARGE = 50_000_000


@dataclass(frozen=True)
class Workload:
    """A workload to time: `work(np, *operands)`, which repeats one step `parts` times."""

    name: str
    work: Callable[..., Any]
    shapes: list[tuple[int, ...]]
    goal: float
    parts: int = 1
    dtype: str = "float64"
    # Shapes of about 1e6 elements, for the first call in a new process.
    small: list[tuple[int, ...]] = field(default_factory=list)


def laplace(np: ModuleType, u: Any) -> Any:
    for _ in range(ITERATIONS):
        u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
    return u


@dataclass
class Grid:
    """The Laplace solver of GAiN's paper, which computes the norm of each change."""

    np: ModuleType
    u: Any
    old_u: Any = None

    def error(self) -> Any:
        v = (self.u - self.old_u).flat
        return self.np.sqrt(self.np.dot(v, v))

    def step(self) -> Any:
        dx2 = dy2 = (1.0 / (len(self.u) - 1)) ** 2
        dnr_inv = 0.5 / (dx2 + dy2)
        u = self.u
        self.old_u = u.copy()
        u[1:-1, 1:-1] = (
            (u[0:-2, 1:-1] + u[2:, 1:-1]) * dy2 + (u[1:-1, 0:-2] + u[1:-1, 2:]) * dx2
        ) * dnr_inv
        return self.error()


def paper_laplace(np: ModuleType, u: Any) -> Any:
    grid = Grid(np, u)
    for _ in range(ITERATIONS):
        error = grid.step()
    return error


def chain(np: ModuleType, a: Any, b: Any, c: Any) -> Any:
    return a * b + c * 2.0 - np.sqrt(np.abs(a))


def squares(np: ModuleType, a: Any, b: Any) -> Any:
    return ((a - b) ** 2).sum()


def mean(np: ModuleType, a: Any) -> Any:
    return a.mean(axis=0)


def std(np: ModuleType, a: Any) -> Any:
    return a.std(axis=0)


def black_scholes(np: ModuleType, price: Any, strike: Any, years: Any) -> Any:
    """Calls and puts; the normal distribution is the polynomial of Abramowitz and Stegun."""
    rate, volatility = 0.02, 0.3
    price, strike, years = 10 + 40 * abs(price), 10 + 40 * abs(strike), 0.1 + abs(years)

    def normal(x: Any) -> Any:
        k = 1 / (1 + 0.2316419 * np.abs(x))
        tail = 0.31938153 + k * (
            -0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))
        )
        below = k * tail * np.exp(-x * x / 2) * 0.3989422804014327
        return np.where(x > 0, 1 - below, below)

    spread = volatility * np.sqrt(years)
    d1 = (np.log(price / strike) + (rate + volatility * volatility / 2) * years) / spread
    discounted = strike * np.exp(-rate * years)
    call = price * normal(d1) - discounted * normal(d1 - spread)
    return call, call - price + discounted


def forces(np: ModuleType, position: Any) -> Any:
    """Forces of all pairs by broadcasting, with a temporary of n x n x 3 differences."""
    apart = position[None, :, :] - position[:, None, :]
    distance2 = (apart * apart).sum(axis=2) + 0.01
    return (apart / (distance2 * np.sqrt(distance2))[:, :, None]).sum(axis=1)


def transposed(np: ModuleType, a: Any) -> Any:
    return a.T + a


def product(np: ModuleType, a: Any, b: Any) -> Any:
    return a @ b


CHAIN = "a*b + c*2.0 - sqrt(abs(a))"
MILLION = [(1_000_000,)]

WORKLOADS = [
    *(
        Workload(
            f"laplace {n} x {n}, one iteration", laplace, [(n, n)], goal, ITERATIONS, small=small
        )
        for n, goal, small in ((1000, 9, [(1000, 1000)]), (4000, 7, []), (10_000, 7, []))
    ),
    *(
        Workload(
            f"GAiN's laplace {n} x {n}", paper_laplace, [(n, n)], goal, ITERATIONS, small=small
        )
        for n, goal, small in ((1000, 12, [(1000, 1000)]), (4000, 9, []))
    ),
    *(
        Workload(f"{CHAIN}, {LARGE:,} {dtype}", chain, [(LARGE,)] * 3, 6, 1, dtype, MILLION * 3)
        for dtype in ("float64", "float32", "int64")
    ),
    *(
        Workload(f"{CHAIN}, {size:,}", chain, [(size,)] * 3, goal)
        for size, goal in ((100, 1.2), (1000, 1.2), (10_000, 2))
    ),
    Workload(f"((a-b)**2).sum(), {LARGE:,}", squares, [(LARGE,)] * 2, 3.8, small=MILLION * 2),
    Workload("a.mean(axis=0), 5000 x 5000", mean, [(5000, 5000)], 1.5, small=[(1000, 1000)]),
    Workload("a.std(axis=0), 5000 x 5000", std, [(5000, 5000)], 3.5, small=[(1000, 1000)]),
    Workload("Black-Scholes, 10,000,000", black_scholes, [(10_000_000,)] * 3, 6, small=MILLION * 3),
    Workload("forces of all pairs, 4000", forces, [(4000, 3)], 12, small=[(1000, 3)]),
    Workload("a.T + a, 8000 x 8000", transposed, [(8000, 8000)], 4, small=[(1000, 1000)]),
    *(
        Workload(f"a @ b, {n} x {n}", product, [(n, n)] * 2, 0.95, small=small)
        for n, small in ((2000, [(1000, 1000)] * 2), (200, []), (20, []))
    ),
]
