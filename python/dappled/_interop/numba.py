"""numba types for our arrays.

A type of their own, derived from numba's array type, that refers to the memory of `a.numpy()`.
Compiled functions return NumPy arrays.
"""

from __future__ import annotations

import importlib.machinery
import sys
from importlib import import_module
from typing import Any

from dappled._ndarray.core import core, ndarray, needs_gather


def watch() -> None:
    """Registers our arrays with numba when the program imports it."""
    if "numba" in sys.modules:
        _register()
    else:
        sys.meta_path.insert(0, _Finder())


class _Finder:
    """An import hook that finds nothing; it registers our arrays when numba is imported."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "numba":
            return None
        sys.meta_path[:] = [one for one in sys.meta_path if one is not self]
        spec: Any = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader:
    """numba's own loader, after which our arrays are registered."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def exec_module(self, module: Any) -> None:
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        _register()


def _register() -> None:
    """Tells numba the type of our arrays, and how it gets at their memory."""
    types: Any = import_module("numba.core.types")
    models = import_module("numba.core.datamodel.models")
    extending = import_module("numba.extending")
    support = import_module("numba.np.numpy_support")
    unknown = import_module("numba.core.errors").NumbaNotImplementedError

    class DappledArray(types.Array):  # type: ignore[misc]
        """The type of our arrays: numba's array type by another name."""

        def __init__(self, plain: Any) -> None:
            name, readonly = f"dappled {plain.name}", not plain.mutable
            layout, aligned = plain.layout, plain.aligned
            super().__init__(plain.dtype, plain.ndim, layout, readonly, name, aligned)
            self.plain = plain

    # By this name numba's cache on disk finds it again.
    DappledArray.__module__, DappledArray.__qualname__ = __name__, "DappledArray"
    globals()["DappledArray"] = DappledArray

    def typeof(array: Any, context: Any) -> Any:
        if needs_gather(array):
            raise TypeError(
                f"numba cannot use an array distributed over {core.ranks()} ranks: pass `a.local`, "
                "this rank's piece, or `a.numpy()`, which gathers"
            )
        try:
            dtype = support.from_dtype(array.dtype)
        except unknown:
            return None  # numba reports the unsupported dtype
        values = core.unwrap(array, writeable=True)
        layout, flags = support.map_layout(values), values.flags
        kind: Any = types.Array(
            dtype, array.ndim, layout, readonly=not flags.writeable, aligned=flags.aligned
        )
        return DappledArray(kind)

    def unboxed(kind: Any, array: Any, c: Any) -> Any:
        values = c.pyapi.call_method(array, "numpy", ())
        native = c.unbox(kind.plain, values)
        c.pyapi.decref(values)  # numba holds it as long as it needs its memory
        return native

    extending.register_model(DappledArray)(models.ArrayModel)
    extending.typeof_impl.register(ndarray)(typeof)
    extending.unbox(DappledArray)(unboxed)
