"""The workloads with numexpr, as strings."""

from collections.abc import Callable
from typing import Any

import numexpr
import numpy as np
from workloads import ITERATIONS, Workload


def laplace(u: np.ndarray) -> None:
    up, down, left, right = u[:-2, 1:-1], u[2:, 1:-1], u[1:-1, :-2], u[1:-1, 2:]
    names = {"up": up, "down": down, "left": left, "right": right}
    for _ in range(ITERATIONS):
        u[1:-1, 1:-1] = numexpr.evaluate("(up + down + left + right) / 4", local_dict=names)


def chain(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> Any:
    return numexpr.evaluate("a*b + c*2.0 - sqrt(abs(a))", local_dict={"a": a, "b": b, "c": c})


def squares(a: np.ndarray, b: np.ndarray) -> Any:
    return numexpr.evaluate("sum((a - b)**2)", local_dict={"a": a, "b": b})


def transposed(a: np.ndarray) -> Any:
    return numexpr.evaluate("b + a", local_dict={"a": a, "b": a.T})


def runner(workload: Workload, arrays: list[np.ndarray]) -> Callable[[], Any] | None:
    """Returns the workload on these operands, or None if it is not written here."""
    function = globals().get(workload.work.__name__)
    return function and (lambda: function(*arrays))
