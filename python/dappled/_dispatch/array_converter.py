"""Stand-in for NumPy's `_array_converter`, which its Python functions use."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy

_SCALARS = (int, float, complex)


class ArrayConverter:
    """Converts arguments to our arrays, and results back; there are no subclasses."""

    def __init__(self, *values: Any) -> None:
        self._values = values
        self._arrays = tuple(map(import_module("dappled").asarray, values))
        self.scalar_input = tuple(not hasattr(v, "ndim") and a.ndim == 0 for v, a in self._pairs())

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, place: int) -> Any:
        return self._arrays[place]

    def as_arrays(self, *, subok: bool = True, pyscalars: str = "convert_if_no_array") -> Any:
        """The arguments as arrays; Python scalars stay weak where the function asks for it."""
        weak = [type(value) in _SCALARS for value in self._values]
        keep = pyscalars == "preserve" or (pyscalars == "convert_if_no_array" and not all(weak))
        return tuple(
            value if is_weak and keep else array
            for is_weak, (value, array) in zip(weak, self._pairs(), strict=True)
        )

    def result_type(self, extra_dtype: Any = None, *, ensure_inexact: bool = False) -> Any:
        """The common dtype of the arguments."""
        extra = [] if extra_dtype is None else [extra_dtype]
        inexact = [1.0] if ensure_inexact else []
        kinds = [
            value if type(value) in _SCALARS else array.dtype for value, array in self._pairs()
        ]
        return numpy.result_type(*kinds, *extra, *inexact)

    def wrap(self, array: Any, /, to_scalar: bool | None = None) -> Any:
        """A result for the caller: a scalar if all arguments were scalars."""
        scalar = all(self.scalar_input) if to_scalar is None else to_scalar
        return array[()] if scalar and hasattr(array, "ndim") else array

    def _pairs(self) -> Any:
        return zip(self._values, self._arrays, strict=True)
