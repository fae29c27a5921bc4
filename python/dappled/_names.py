"""From a name in NumPy's namespace to what we offer under it."""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

import numpy

from dappled._array import core, ufuncs
from dappled._crossing import proxy_of
from dappled._drawing import draws, of_random
from dappled._fallback import adopt, dressed
from dappled._placing import placeable
from dappled._rebind import on_ranks, rebound, rewrapped
from dappled._standard import standard
from dappled._tables import CREATING, FOREIGN, REBOUND, REBOUND_ON_RANKS, REWRAPPED, SMALL

_DISPATCHED = type(numpy.sum)

# The names that are our own, by the chapter that has them.
CHAPTERS = {
    "_along": "apply_along_axis nanmedian put_along_axis",
    "_archives": "savez savez_compressed",
    "_array": "ndarray",
    "_broadcasting": "broadcast_arrays broadcast_to",
    "_choosing": "argmax argmin copyto count_nonzero where",
    "_comm": "comm init local",
    "_convolving": "convolve correlate",
    "_config": "FallbackError FallbackWarning config",
    "_counting": "bincount histogram histogramdd",
    "_creation": """
        arange array asanyarray asarray ascontiguousarray asfortranarray empty empty_like eye
        fromfunction full identity ones zeros
    """,
    "_days": "busday_count busday_offset is_busday",
    "_einsum": "einsum",
    "_extras": "explain from_distarray memory_stats sync",
    "_files": "fromfile load save",
    "_flat": "flatiter ndenumerate",
    "_interpolating": "interp polyval",
    "_joining": "concat concatenate repeat",
    "_mapping": "memmap",
    "_objects": "bmat c_ mgrid ogrid r_ ufunc",
    "_packing": "packbits unpackbits",
    "_polynomials": "poly polyadd polyder polydiv polyint polymul polysub",
    "_products": "dot inner trace vdot",
    "_texts": "loadtxt savetxt",
    "_ranking": "median percentile quantile unique",
    "_searching": "digitize searchsorted",
    "_sorting": "argpartition argsort lexsort partition sort",
    "_taking": """
        argwhere choose compress nonzero place put putmask ravel_multi_index take unravel_index
    """,
    "_views": "may_share_memory shares_memory",
    "_vectorizing": "vectorize",
}
NATIVE = {name: chapter for chapter, names in CHAPTERS.items() for name in names.split()}


def of_numpy(name: str) -> Any:
    """What `dappled.name` is."""
    if (same := _alias(name)) != name:
        return getattr(import_module("dappled"), same)
    if name in NATIVE:
        ours = getattr(import_module(f"dappled.{NATIVE[name]}"), name)
    else:
        ours = converted(_attribute(numpy, name), name, "dappled")
    if name in CREATING:
        ours = placeable(ours)
    ours = standard(ours, name)
    common = name if name in core.function._names else None
    theirs = getattr(numpy, name, None)
    if name in GIVEN and core.ranks() > 1:
        ours = given(ours, sooner(ours, theirs, "dappled", SMALL.get(name), common))
        return sooner(ours, theirs, "dappled", None)
    if common or name in SMALL or isinstance(theirs, _DISPATCHED) or _is_free(ours, theirs):
        return sooner(ours, theirs, "dappled", SMALL.get(name), common)
    return ours


def _is_free(ours: Any, theirs: Any) -> bool:
    """Whether a function would be a method where a class has it, and NumPy's, in C, is none."""
    adopted = isinstance(ours, types.FunctionType) and "__way__" in vars(ours)
    return adopted and callable(theirs) and not hasattr(type(theirs), "__get__")


# What takes arrays of NumPy's, which the core has in rows in its common case.
GIVEN = ("array", "asarray")


def given(ours: Any, otherwise: Any) -> Any:
    """A function on several ranks, where ours keeps the order of an array's axes in memory."""

    def call(*args: Any, **kwargs: Any) -> Any:
        theirs = args and type(args[0]) is numpy.ndarray
        return ours(*args, **kwargs) if theirs else otherwise(*args, **kwargs)

    return dressed(call, otherwise, "dappled", vars(ours)["__way__"])


def _alias(name: str) -> str:
    """The other name of a function that has two: `concat` is `concatenate`."""
    theirs = getattr(numpy, name, None)
    same = getattr(theirs, "__name__", name) if is_function(theirs) else name
    return same if getattr(numpy, same, None) is theirs else name


def sooner(
    ours: Any, theirs: Any, module: str, small: str | None, common: str | None = None
) -> Any:
    """A function of ours with its common case in the core, or NumPy's own on small arrays."""
    made = dressed(
        core.function(common, ours, theirs, small), theirs, module, vars(ours)["__way__"]
    )
    if "__signature__" in vars(ours):
        made.__dict__["__signature__"] = vars(ours)["__signature__"]
    return made


def of_submodule(theirs: types.ModuleType, name: str, module: str) -> Any:
    """What `dappled.module.name` is: the same object as in `dappled` where NumPy says so."""
    value = _attribute(theirs, name)
    if name in numpy.__all__ and getattr(numpy, name) is value:
        return getattr(import_module("dappled"), name)
    path = f"{module}.{name}".removeprefix("dappled.")
    ours = standard(converted(value, name, module), path)
    drawn = module == "dappled.random" and is_function(value) and draws(value)
    small = "each" if drawn else SMALL.get(path)
    asks = isinstance(value, _DISPATCHED) and "__way__" in vars(ours)
    return sooner(ours, value, module, small) if small or asks or _is_free(ours, value) else ours


def of_own(functions: dict[str, Any], module: str) -> dict[str, Any]:
    """Functions of our own for a submodule, with their sooner way."""
    theirs = import_module(module.replace("dappled", "numpy", 1))
    return {
        name: sooner(ours, getattr(theirs, name), module, "each")
        for name, ours in functions.items()
    }


def converted(value: Any, name: str, module: str) -> Any:
    """Anything of NumPy's as we offer it."""
    if isinstance(value, types.ModuleType):
        return _module(value)
    if isinstance(value, numpy.ufunc):
        return ufuncs[name] if module == "dappled" and name in ufuncs else _ufunc(value)
    if isinstance(value, type):
        return numpy_class(value)
    if is_function(value) and name not in FOREIGN:
        path = f"{module}.{name}".removeprefix("dappled.")
        if module == "dappled.random":
            return of_random(value, module)
        if path in REWRAPPED:
            return rewrapped(value, module)
        if path in REBOUND_ON_RANKS:
            return on_ranks(value, module)
        return (rebound if path in REBOUND else adopt)(value, module)
    return value


def _ufunc(theirs: numpy.ufunc) -> Any:
    """Our ufunc around one of a submodule: `strings.isalpha`."""
    ours = core.ufunc(theirs)
    ours.__doc__ = theirs.__doc__
    return ours


def numpy_class(kind: type) -> type:
    """A class of NumPy's, or ours in its place."""
    if kind is numpy.ndarray:
        return of_numpy("ndarray")  # type: ignore[no-any-return]
    return proxy_of(kind) or kind


def is_function(value: Any) -> bool:
    """Whether a value of NumPy's is called with arrays."""
    return isinstance(value, _DISPATCHED | numpy.ufunc) or inspect.isroutine(value)


def public(theirs: types.ModuleType) -> list[str]:
    """The public names of a module of NumPy's."""
    names = getattr(theirs, "__all__", None) or dir(theirs)
    return sorted({name for name in names if not name.startswith("_")})


def lazily(module: str, find: Callable[[str], Any]) -> Callable[[str], Any]:
    """A module's `__getattr__`, which keeps what it has found in the module."""
    namespace = namespace_of(sys.modules[module])

    def __getattr__(name: str) -> Any:
        if name.startswith("_"):  # NumPy's private names are not ours: `_core` is not its `_core`
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return namespace.setdefault(name, find(name))

    return __getattr__


def namespace_of(module: types.ModuleType) -> dict[str, Any]:
    """The names that a module has already; `vars(module)` would find all others first."""
    own: Any = inspect.getattr_static(types.ModuleType, "__dict__")
    return own.__get__(module)  # type: ignore[no-any-return]


class Completed(types.ModuleType):
    """A module whose `__dict__` has all public names, though they are found one by one.

    `eval(text, vars(np))` looks at nothing else. That all are found when `__dict__` is first asked
    for costs less than finding them when the module is imported.
    """

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        namespace = namespace_of(self)
        for name in namespace.pop("_unfound", ()):
            getattr(self, name)
        return namespace


def complete_for_vars(module: str, theirs: types.ModuleType, own: Iterable[str] = ()) -> None:
    """Lets `vars()` of a module have names of our own and those that NumPy's has there.

    NumPy does not have the modules that it imports when they are first used.
    """
    public = [name for name in vars(theirs) if not name.startswith("_")]
    namespace_of(sys.modules[module])["_unfound"] = [*public, *own]
    sys.modules[module].__class__ = Completed


def _attribute(theirs: types.ModuleType, name: str) -> Any:
    try:
        return getattr(theirs, name)
    except AttributeError as error:
        ours = theirs.__name__.replace("numpy", "dappled", 1)
        text = str(error).replace(f"module '{theirs.__name__}'", f"module '{ours}'")
        raise AttributeError(text, name=name) from None


def _module(theirs: types.ModuleType) -> types.ModuleType:
    try:
        return import_module(theirs.__name__.replace("numpy", "dappled", 1))
    except ModuleNotFoundError:
        return theirs
