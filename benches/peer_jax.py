"""The workloads with JAX, jitted, except those that write into their operands."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from workloads import ITERATIONS, Workload

jax.config.update("jax_enable_x64", True)


def laplace(np: Any, u: Any) -> Any:
    for _ in range(ITERATIONS):
        u = u.at[1:-1, 1:-1].set((u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4)
    return u


REPLACEMENTS = {"laplace": laplace, "paper_laplace": None}


def runner(workload: Workload, arrays: list[np.ndarray]) -> Callable[[], Any] | None:
    """Returns the workload on these operands, or None if JAX cannot run it."""
    source = REPLACEMENTS.get(workload.work.__name__, workload.work)
    if source is None:
        return None
    function = jax.jit(lambda *operands: source(jax.numpy, *operands))
    operands = [jax.numpy.asarray(array) for array in arrays]
    return lambda: jax.block_until_ready(function(*operands))
