"""The workloads in C with OpenMP, compiled at run time if a C compiler is installed."""

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from workloads import ITERATIONS, Workload

SOURCE = Path(__file__).with_name("loops.c")
FLAGS = ["-O3", "-march=native", "-fopenmp", "-ffp-contract=off", "-shared", "-fPIC"]


def library() -> ctypes.CDLL | None:
    """Returns the compiled loops, or None if there is no compiler."""
    if (compiler := shutil.which("gcc") or shutil.which("cc")) is None:
        return None
    target = Path(tempfile.mkdtemp()) / "loops.so"
    subprocess.run([compiler, *FLAGS, "-o", target, SOURCE, "-lm"], check=True)
    return ctypes.CDLL(str(target))


def call(function: Any, *arguments: Any) -> Any:
    """Calls a C function with arrays, sizes and floats."""
    return function(*(to_c(argument) for argument in arguments))


def to_c(argument: Any) -> Any:
    """Converts an argument to its C type."""
    if isinstance(argument, np.ndarray):
        return ctypes.c_void_p(argument.ctypes.data)
    return ctypes.c_double(argument) if isinstance(argument, float) else ctypes.c_ssize_t(argument)


def in_c(
    loops: ctypes.CDLL, workload: Workload, arrays: list[np.ndarray]
) -> Callable[[], Any] | None:
    """Returns the workload in C on the same operands, with preallocated results."""
    first, length = arrays[0], len(arrays[0])
    name = workload.work.__name__
    name = f"chain_{workload.dtype}" if name == "chain" else name
    function = getattr(loops, name, None)
    if function is None:
        return None
    out, workspace = np.zeros(first.shape), np.zeros(first.shape)
    if name == "laplace":
        return lambda: [call(function, *pair, length) for pair in ping_pong(first, out)]
    if name == "paper_laplace":
        function.restype = ctypes.c_double
        dx2 = (1.0 / (length - 1)) ** 2
        constants = (length, dx2, dx2, 0.25 / dx2)
        return lambda: [call(function, *pair, *constants) for pair in ping_pong(first, out)]
    if name == "squares":
        function.restype = ctypes.c_double
        return lambda: call(function, *arrays, length)
    if name in ("std", "black_scholes"):
        return lambda: call(function, *arrays, workspace, out, length)
    out = out.astype("float64" if workload.dtype == "int64" else workload.dtype)
    return lambda: call(function, *arrays, out, length)


def ping_pong(first: np.ndarray, second: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Source and target of each iteration; the two buffers alternate."""
    return [(first, second), (second, first)] * (ITERATIONS // 2)
