"""From a name in NumPy's namespace to our implementation."""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

import numpy

from dappled._dispatch.array_api import with_array_api_keywords
from dappled._dispatch.convert import proxy_of
from dappled._dispatch.dist_keyword import with_dist_keyword
from dappled._dispatch.fallback import adopt, with_numpy_metadata
from dappled._dispatch.numpy_facts import (
    CREATING,
    REBOUND,
    REBOUND_AND_WRAPPED,
    REBOUND_ON_RANKS,
    SMALL,
    WITHOUT_ARRAYS,
)
from dappled._dispatch.rebind import rebound, rebound_and_wrapped, rebound_on_ranks
from dappled._ndarray.core import core, ufuncs

_DISPATCHED = type(numpy.sum)

# Names with an implementation of ours, by module.
CHAPTERS = {
    "_routines.functional.apply_along_axis": "apply_along_axis nanmedian put_along_axis",
    "_routines.io.npz": "savez savez_compressed",
    "_ndarray.core": "ndarray",
    "_routines.broadcasting": "broadcast_arrays broadcast_to",
    "_routines.math": "argmax argmin copyto count_nonzero where",
    "_ranks.comm": "comm init local",
    "_routines.convolution": "convolve correlate",
    "_ranks.config": "FallbackError FallbackWarning config",
    "_routines.histograms": "bincount histogram histogramdd",
    "_routines.creation": """
        arange array asanyarray asarray ascontiguousarray asfortranarray empty empty_like eye
        fromfunction full identity ones zeros
    """,
    "_routines.datetime": "busday_count busday_offset is_busday",
    "_routines.einsum": "einsum",
    "_ranks.introspection": "explain from_distarray memory_stats sync",
    "_routines.io.npy": "fromfile load save",
    "_ndarray.flatiter": "flatiter ndenumerate",
    "_routines.interpolation": "interp polyval",
    "_routines.joining": "concat concatenate repeat",
    "_routines.io.memmap": "memmap",
    "_routines.index_tricks": "bmat c_ mgrid ogrid r_ ufunc",
    "_routines.bitwise": "packbits unpackbits",
    "_routines.polynomial": "poly polyadd polyder polydiv polyint polymul polysub",
    "_routines.products": "dot inner trace vdot",
    "_routines.io.text": "loadtxt savetxt",
    "_routines.sets": "unique",
    "_routines.statistics": "median percentile quantile",
    "_routines.searching": "digitize searchsorted",
    "_routines.sorting": "argpartition argsort lexsort partition sort",
    "_routines.indexing": """
        argwhere choose compress nonzero place put putmask ravel_multi_index take unravel_index
    """,
    "_ndarray.views": "may_share_memory shares_memory",
    "_routines.functional.vectorize": "vectorize",
}
MODULE_OF = {name: chapter for chapter, names in CHAPTERS.items() for name in names.split()}


def lookup(name: str) -> Any:
    """The object `dappled.name`."""
    if (same := _alias(name)) != name:
        return getattr(import_module("dappled"), same)
    if name in MODULE_OF:
        ours = getattr(import_module(f"dappled.{MODULE_OF[name]}"), name)
    else:
        ours = adapt(_numpy_attribute(numpy, name), name, "dappled")
    if name in CREATING:
        ours = with_dist_keyword(ours)
    ours = with_array_api_keywords(ours, name)
    common = name if name in core.function._names else None
    theirs = getattr(numpy, name, None)
    if name in TAKE_NUMPY_ARRAYS and core.ranks() > 1:
        ours = keeping_memory_order(
            ours, with_fast_path(ours, theirs, "dappled", SMALL.get(name), common)
        )
        return with_fast_path(ours, theirs, "dappled", None)
    if common or name in SMALL or isinstance(theirs, _DISPATCHED) or _must_not_bind(ours, theirs):
        return with_fast_path(ours, theirs, "dappled", SMALL.get(name), common)
    return ours


def _must_not_bind(ours: Any, theirs: Any) -> bool:
    """Whether a Python function must not become a method of a class, as NumPy's C function does
    not.
    """
    adopted = isinstance(ours, types.FunctionType) and "__execution__" in vars(ours)
    return adopted and callable(theirs) and not hasattr(type(theirs), "__get__")


# The core's fast path of these assumes C order.
TAKE_NUMPY_ARRAYS = ("array", "asarray")


def keeping_memory_order(ours: Any, otherwise: Any) -> Any:
    """A function that uses ours for NumPy arrays, to keep their memory order."""

    def call(*args: Any, **kwargs: Any) -> Any:
        theirs = args and type(args[0]) is numpy.ndarray
        return ours(*args, **kwargs) if theirs else otherwise(*args, **kwargs)

    return with_numpy_metadata(call, otherwise, "dappled", vars(ours)["__execution__"])


def _alias(name: str) -> str:
    """The canonical name of a function that has two: `concat` is `concatenate`."""
    theirs = getattr(numpy, name, None)
    same = getattr(theirs, "__name__", name) if is_function(theirs) else name
    return same if getattr(numpy, same, None) is theirs else name


def with_fast_path(
    ours: Any, theirs: Any, module: str, small: str | None, common: str | None = None
) -> Any:
    """A function of ours with a fast path in the core, or NumPy's own on small arrays."""
    result = with_numpy_metadata(
        core.function(common, ours, theirs, small), theirs, module, vars(ours)["__execution__"]
    )
    if "__signature__" in vars(ours):
        result.__dict__["__signature__"] = vars(ours)["__signature__"]
    return result


def lookup_in_submodule(theirs: types.ModuleType, name: str, module: str) -> Any:
    """The object `dappled.module.name`; an alias of one in `dappled` where NumPy has an alias."""
    value = _numpy_attribute(theirs, name)
    if name in numpy.__all__ and getattr(numpy, name) is value:
        return getattr(import_module("dappled"), name)
    path = f"{module}.{name}".removeprefix("dappled.")
    ours = with_array_api_keywords(adapt(value, name, module), path)
    drawn = module == "dappled.random" and is_function(value) and _random_stream().takes_size(value)
    small = "each" if drawn else SMALL.get(path)
    asks = isinstance(value, _DISPATCHED) and "__execution__" in vars(ours)
    return (
        with_fast_path(ours, value, module, small)
        if small or asks or _must_not_bind(ours, value)
        else ours
    )


def with_fast_paths(functions: dict[str, Any], module: str) -> dict[str, Any]:
    """Our functions for a submodule, with their fast paths."""
    theirs = import_module(module.replace("dappled", "numpy", 1))
    return {
        name: with_fast_path(ours, getattr(theirs, name), module, "each")
        for name, ours in functions.items()
    }


def adapt(value: Any, name: str, module: str) -> Any:
    """Any object of NumPy's as `dappled` offers it."""
    if isinstance(value, types.ModuleType):
        return _our_module(value)
    if isinstance(value, numpy.ufunc):
        return ufuncs[name] if module == "dappled" and name in ufuncs else _wrap_ufunc(value)
    if isinstance(value, type):
        return numpy_class(value)
    if is_function(value) and name not in WITHOUT_ARRAYS:
        path = f"{module}.{name}".removeprefix("dappled.")
        if module == "dappled.random":
            return _random_stream().adapt_random_function(value, module)
        if path in REBOUND_AND_WRAPPED:
            return rebound_and_wrapped(value, module)
        if path in REBOUND_ON_RANKS:
            return rebound_on_ranks(value, module)
        return (rebound if path in REBOUND else adopt)(value, module)
    return value


def _random_stream() -> Any:
    """`dappled.random._stream`, imported on first use: it loads `numpy.random`."""
    return import_module("dappled.random._stream")


def _wrap_ufunc(theirs: numpy.ufunc) -> Any:
    """Our ufunc around one of a submodule: `strings.isalpha`."""
    ours = core.ufunc(theirs)
    ours.__doc__ = theirs.__doc__
    return ours


def numpy_class(kind: type) -> type:
    """A class of NumPy's, or ours in its place."""
    if kind is numpy.ndarray:
        return lookup("ndarray")  # type: ignore[no-any-return]
    return proxy_of(kind) or kind


def is_function(value: Any) -> bool:
    """Whether an object of NumPy's is a function."""
    return isinstance(value, _DISPATCHED | numpy.ufunc) or inspect.isroutine(value)


def public_names(theirs: types.ModuleType) -> list[str]:
    """The public names of a NumPy module."""
    names = getattr(theirs, "__all__", None) or dir(theirs)
    return sorted({name for name in names if not name.startswith("_")})


def lazy_getattr(module: str, find: Callable[[str], Any]) -> Callable[[str], Any]:
    """A module's `__getattr__`, which caches its results in the module."""
    namespace = namespace_of(sys.modules[module])

    def __getattr__(name: str) -> Any:
        if name.startswith("_"):  # private names are NumPy's: our `_core` is not its `_core`
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return namespace.setdefault(name, find(name))

    return __getattr__


def namespace_of(module: types.ModuleType) -> dict[str, Any]:
    """The names that a module already has; `vars(module)` would look up all others."""
    own: Any = inspect.getattr_static(types.ModuleType, "__dict__")
    return own.__get__(module)  # type: ignore[no-any-return]


class LazyModule(types.ModuleType):
    """A module whose `__dict__` contains all public names, looked up on first access.

    `eval(text, vars(np))` reads nothing else. A lookup of all names on first access costs less than
    one on import.
    """

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        namespace = namespace_of(self)
        for name in namespace.pop("_pending_names", ()):
            getattr(self, name)
        return namespace


def complete_for_vars(module: str, theirs: types.ModuleType, own: Iterable[str] = ()) -> None:
    """Makes `vars()` of a module contain our names and those of NumPy's module.

    NumPy's module lacks the modules that it imports on first use.
    """
    public = [name for name in vars(theirs) if not name.startswith("_")]
    namespace_of(sys.modules[module])["_pending_names"] = [*public, *own]
    sys.modules[module].__class__ = LazyModule


def _numpy_attribute(theirs: types.ModuleType, name: str) -> Any:
    try:
        return getattr(theirs, name)
    except AttributeError as error:
        ours = theirs.__name__.replace("numpy", "dappled", 1)
        text = str(error).replace(f"module '{theirs.__name__}'", f"module '{ours}'")
        raise AttributeError(text, name=name) from None


def _our_module(theirs: types.ModuleType) -> types.ModuleType:
    try:
        return import_module(theirs.__name__.replace("numpy", "dappled", 1))
    except ModuleNotFoundError:
        return theirs
