"""The workloads with Dask arrays, on two threads."""

from collections.abc import Callable
from typing import Any

import dask.array
import numpy as np
from workloads import Workload

IN_PLACE = ("laplace", "paper_laplace")


def runner(workload: Workload, arrays: list[np.ndarray]) -> Callable[[], Any] | None:
    """Returns the workload on these operands, or None if Dask cannot run it."""
    if workload.work.__name__ in IN_PLACE or arrays[0].size < 10_000:
        return None
    operands = [dask.array.from_array(array) for array in arrays]
    return lambda: dask.compute(workload.work(dask.array, *operands), scheduler="threads")
