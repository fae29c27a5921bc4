"""The workloads in C with OpenMP, compiled on the spot where there is a compiler."""

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
    """The loops, or nothing where no compiler is found."""
    if (compiler := shutil.which("gcc") or shutil.which("cc")) is None:
        return None
    target = Path(tempfile.mkdtemp()) / "loops.so"
    subprocess.run([compiler, *FLAGS, "-o", target, SOURCE, "-lm"], check=True)
    return ctypes.CDLL(str(target))


def call(function: Any, *arguments: Any) -> Any:
    """A C function on arrays, sizes and floats."""
    return function(*(given(argument) for argument in arguments))


def given(argument: Any) -> Any:
    """An argument as C takes it."""
    if isinstance(argument, np.ndarray):
        return ctypes.c_void_p(argument.ctypes.data)
    return ctypes.c_double(argument) if isinstance(argument, float) else ctypes.c_ssize_t(argument)


def in_c(
    loops: ctypes.CDLL, workload: Workload, arrays: list[np.ndarray]
) -> Callable[[], Any] | None:
    """The workload in C on the same operands; memory for results is at hand, as in C it would."""
    first, length = arrays[0], len(arrays[0])
    name = workload.work.__name__
    name = f"chain_{workload.dtype}" if name == "chain" else name
    function = getattr(loops, name, None)
    if function is None:
        return None
    out, more = np.zeros(first.shape), np.zeros(first.shape)
    if name == "laplace":
        return lambda: [call(function, *pair, length) for pair in swapped(first, out)]
    if name == "paper_laplace":
        function.restype = ctypes.c_double
        dx2 = (1.0 / (length - 1)) ** 2
        rest = (length, dx2, dx2, 0.25 / dx2)
        return lambda: [call(function, *pair, *rest) for pair in swapped(first, out)]
    if name == "squares":
        function.restype = ctypes.c_double
        return lambda: call(function, *arrays, length)
    if name in ("std", "black_scholes"):
        return lambda: call(function, *arrays, more, out, length)
    out = out.astype("float64" if workload.dtype == "int64" else workload.dtype)
    return lambda: call(function, *arrays, out, length)


def swapped(one: np.ndarray, other: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """From where to where each iteration goes."""
    return [(one, other), (other, one)] * (ITERATIONS // 2)
