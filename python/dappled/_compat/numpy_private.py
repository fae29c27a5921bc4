"""Private functions, classes and constants of NumPy.

A hook that NumPy renames raises an `ImportError` that says so, unless it has a fallback. The
supported range of versions is in `pyproject.toml`.
"""

from __future__ import annotations

import ctypes
import functools
import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy

# The default of parameters whose absence differs from None: `initial=` and `where=` of reductions,
# `keepdims=`, `pyfunc=` of vectorize. Calls that omit them would be misread without it.
NO_VALUE: Any = numpy._NoValue

# Globals of NumPy's Python functions that get a replacement when a function is rebound. Under
# another name `unique` would hash gathered values, and converters would return NumPy's arrays.
HASHED_UNIQUE = "_unique_hash"
ARRAY_CONVERTER = "_array_converter"
LIKE_SUFFIX = "_with_like"


def _private(module: str, name: str) -> Any:
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ImportError(
            f"NumPy {numpy.__version__} has no {module}.{name}, which dappled needs: install a "
            "version of NumPy in the range that dappled declares"
        ) from error


def clip_ufunc() -> Any:
    """The ufunc behind the function `numpy.clip`."""
    return _private("numpy._core.umath", "clip")


def reduction_method(name: str) -> Callable[..., Any]:
    """The Python function behind a method such as `ndarray.mean`.

    `ndarray.max(initial=…)` and the like would be gathered without it.
    """
    private = {"max": "_amax", "min": "_amin"}.get(name, f"_{name}")
    return _private("numpy._core._methods", private)  # type: ignore[no-any-return]


def parse_einsum_input(operands: Any) -> tuple[str, str, Any]:
    """The subscripts of the operands and of the result of an `einsum` call."""
    return _private("numpy._core.einsumfunc", "_parse_einsum_input")(operands)  # type: ignore[no-any-return]


def _npy_format() -> dict[str, Any]:
    """The globals of the module that implements the `.npy` format; its name varies."""
    return numpy.lib.format.write_array.__globals__


# The default of `numpy.load(max_header_size=)`.
MAX_NPY_HEADER_SIZE: int = _npy_format().get("_MAX_HEADER_SIZE", 10000)


def write_npy_header(file: Any, fields: dict[str, Any]) -> None:
    """Writes the header of an `.npy` file in the oldest version that can represent it."""
    _npy_format()["_write_array_header"](file, fields, None)


def read_npy_header(
    file: Any, version: tuple[int, int], limit: int
) -> tuple[tuple[int, ...], bool, Any]:
    """Shape, whether in Fortran order, and dtype from the header of an `.npy` file."""
    return _npy_format()["_read_array_header"](file, version, limit)  # type: ignore[no-any-return]


def vectorize_with_signature() -> Callable[..., Any]:
    """The Python method behind a call of `numpy.vectorize(signature=)`."""
    return numpy.vectorize._vectorize_call_with_signature  # type: ignore[attr-defined, no-any-return]


def core_dimensions(vectorized: Any) -> Any:
    """The names of the core dimensions of each input of `numpy.vectorize(signature=)`."""
    return vectorized._in_and_out_core_dims[0]


def polynomial_evaluation(kind: type) -> Callable[..., Any]:
    """The Python function that evaluates a class such as `numpy.polynomial.Chebyshev`."""
    return inspect.getattr_static(kind, "_val").__func__  # type: ignore[no-any-return]


def bit_generator(generator: Any) -> Any:
    """The bit generator of a `Generator`, or of a `RandomState`, which has no public one."""
    public = getattr(generator, "bit_generator", None)
    return generator._bit_generator if public is None else public


def global_random_state() -> Any:
    """The `RandomState` behind `numpy.random.rand` and the other functions of the module."""
    return _private("numpy.random.mtrand", "_rand")


@functools.cache
def openblas_threads() -> tuple[Any, Any] | None:
    """Functions of NumPy's OpenBLAS that set and get its number of threads.

    None where NumPy was built with another BLAS: gathered LAPACK calls then run on every rank.
    """
    try:
        library = ctypes.CDLL(import_module("numpy.linalg._umath_linalg").__file__)
        name = "scipy_openblas_{}_num_threads64_"
        return getattr(library, name.format("set")), getattr(library, name.format("get"))
    except (AttributeError, ImportError, OSError):
        return None
