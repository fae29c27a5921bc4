"""The methods and attributes of NumPy's array that the core's array does not have itself."""

from __future__ import annotations

import inspect
import operator
import pickle
import types
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy

from dappled import (
    _array_function,
    _choosing,
    _exports,
    _extras,
    _flags,
    _interop,
    _items,
    _printing,
    _searching,
    _sorting,
    _subclasses,
    _taking,
    _ufuncs,
    _views,
)
from dappled._array import core
from dappled._crossing import Crossing
from dappled._fallback import dressed, gathered, shadow
from dappled._flat import flat
from dappled._native import native
from dappled._order import flags_of
from dappled._tables import GATHERED, SMALL_METHODS

# What Python gives every class, and doors that only the core can open: it knows of exports.
_LEFT_OUT = {
    *("__class__", "__delattr__", "__delitem__", "__dir__", "__doc__", "__getattribute__"),
    *("__getstate__", "__hash__", "__init__", "__init_subclass__", "__reduce_ex__", "__setattr__"),
    *("__setstate__", "__subclasshook__"),
    *("__array_finalize__", "__array_struct__", "__array_ufunc__", "__array_wrap__"),
}


def attach(kind: Any) -> None:
    """Gives the class every member that it lacks, and the ufuncs their methods."""
    _ufuncs.attach()
    _subclasses.attach()
    for name in {*dir(numpy.ndarray), *OWN} - _LEFT_OUT - set(vars(kind)):
        member = OWN[name] if name in OWN else _delegate(name)
        setattr(kind, name, _sooner(name, member) if name in SMALL_METHODS else member)
    _be_sequence(kind)


def _be_sequence(kind: Any) -> None:
    """What C asks of a sequence (`bisect`, `reversed`): Python fills its slots for functions of its
    own, and leaves them when the core's come back.
    """
    for name in ("__getitem__", "__len__"):
        own = vars(kind)[name]
        setattr(kind, name, lambda *args: None)
        setattr(kind, name, own)


def _sooner(name: str, general: Any) -> Any:
    """A method that NumPy's own does on small arrays."""
    theirs = inspect.getattr_static(numpy.ndarray, name)
    made = core.function(None, general, theirs, SMALL_METHODS[name])
    return dressed(made, theirs, "dappled.ndarray", vars(general)["__way__"])


def _delegate(name: str) -> Any:
    member = inspect.getattr_static(numpy.ndarray, name)
    if inspect.isdatadescriptor(member):
        return property(_getter(name), _setter(name), doc=member.__doc__)
    return gathered(member, "dappled.ndarray")


def _getter(name: str) -> Callable[[Any], Any]:
    def get(self: Any) -> Any:
        crossing = Crossing(f"ndarray.{name}", writeable=True)
        return crossing.back(getattr(crossing.over(self), name))

    get.__dict__["__way__"] = GATHERED
    return get


def _setter(name: str) -> Callable[[Any, Any], None]:
    def set_value(self: Any, value: Any) -> None:
        crossing = Crossing(f"ndarray.{name}")
        setattr(crossing.over(self, written=True), name, crossing.over(value))
        crossing.write_back()

    return set_value


def _new(kind: Any, *args: Any, **kwargs: Any) -> Any:
    crossing = Crossing("ndarray", writeable=True)
    over = {name: crossing.over(value) for name, value in kwargs.items()}
    if issubclass(kind, numpy.ndarray):  # a program's class, derived from ours
        return numpy.ndarray.__new__(kind, *crossing.over(args), **over)
    return crossing.back(numpy.ndarray(*crossing.over(args), **over))


def _single(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A conversion of one element; NumPy says what is wrong where there is not one."""

    def converted(self: Any) -> Any:
        return convert(core.unwrap(self) if self.size == 1 else shadow(self))

    return converted


def _iterate(self: Any) -> Any:
    if self.ndim == 0:
        raise TypeError("iteration over a 0-d array")
    if self.ndim == 1 and core.ranks() == 1:
        memory = core.unwrap(self)  # which shows what is written meanwhile
        return iter(memory) if not self.dtype.hasobject else map(_element, memory)
    return (self[place] for place in range(len(self)))


def _element(value: Any) -> Any:
    return core.share(value) if type(value) is numpy.ndarray else value


def _contains(self: Any, item: Any) -> bool:
    found = self == item
    return bool(found.any() if hasattr(found, "any") else found)


def _gathers(function: Callable[..., Any]) -> Callable[..., Any]:
    function.__dict__["__way__"] = GATHERED
    return function


@_gathers
def _dumps(self: Any) -> bytes:
    return pickle.dumps(self, protocol=2)


@_gathers
def _dump(self: Any, file: Any) -> None:
    if hasattr(file, "write"):
        file.write(_dumps(self))
    else:
        with open(file, "wb") as opened:
            opened.write(_dumps(self))


def _resize(self: Any, *new_shape: Any, refcheck: bool = True) -> None:
    """In place, as long as no memory is needed: an array of ours keeps its memory."""
    shape = new_shape[0] if len(new_shape) == 1 else new_shape
    if shape is None:
        return
    if numpy.min(shape, initial=0) < 0:
        raise ValueError("negative dimensions not allowed")
    if not flags_of(self).forc:
        raise ValueError("resize only works on single-segment arrays")
    try:
        self.shape = shape
    except (AttributeError, ValueError):
        raise ValueError("cannot resize this array: it does not own its data") from None


def _setflags(self: Any, *, write: Any = None, align: Any = None, uic: Any = None) -> None:
    if write is not None:
        self.flags.writeable = bool(write)
    if align is not None:
        self.flags.aligned = bool(align)


def _tofile(self: Any, *args: Any, **kwargs: Any) -> None:
    from dappled._files import tofile  # which needs much of Python's library

    tofile(self, *args, **kwargs)


def _to_device(self: Any, device: Any, /, *, stream: Any = None) -> Any:
    numpy.empty(0).to_device(device, stream=stream)  # which refuses all but "cpu"
    return self


def _namespace(self: Any, *, api_version: str | None = None) -> types.ModuleType:
    theirs: Any = numpy.empty(())
    theirs.__array_namespace__(api_version=api_version)  # which knows the versions
    return import_module("dappled")


def _parametrized(kind: Any, item: Any) -> types.GenericAlias:
    return types.GenericAlias(kind, numpy.ndarray.__class_getitem__(item).__args__)


def _method(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    theirs = inspect.getattr_static(numpy.ndarray, name)
    return dressed(function, theirs, "dappled.ndarray", getattr(function, "__way__", None))


def _as_function(name: str) -> Callable[..., Any]:
    """A method that is the function of the same name, as NumPy's has the same parameters."""

    function: Callable[..., Any] | None = None

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal function
        function = function or getattr(import_module("dappled"), name)
        return function(self, *args, **kwargs)

    return _method(name, method)


def _native_method(name: str) -> Callable[..., Any]:
    make = native(inspect.getattr_static(numpy.ndarray, name), "dappled.ndarray")
    return make(getattr(_choosing, name))


_NAMED: dict[str, Callable[..., Any]] = {
    "__array_namespace__": _namespace,
    "dump": _dump,
    "dumps": _dumps,
    "resize": _resize,
    "setflags": _setflags,
    "to_device": _to_device,
    "tofile": _tofile,
}
_FUNCTIONS = ("dot", "repeat", "trace")
_by_numpy = gathered(numpy.ndarray.tolist, "dappled.ndarray")


def _tolist(self: Any) -> Any:
    found = core.listed(self)
    return _by_numpy(self) if found is None else found


_bytes_by_numpy = gathered(numpy.ndarray.tobytes, "dappled.ndarray")


def _tobytes(self: Any, order: Any = "C") -> Any:
    # A gathered part is contiguous where the part itself is not, so "A" is decided before.
    if order in ("A", "a"):
        order = "F" if flags_of(self).fnc else "C"
    return _bytes_by_numpy(self, order)


OWN: dict[str, Any] = {
    "__bool__": _single(bool),
    "__class_getitem__": classmethod(_parametrized),
    "__complex__": _single(complex),
    "__contains__": _contains,
    "__float__": _single(float),
    "__index__": _single(operator.index),
    "__int__": _single(int),
    "__iter__": _iterate,
    "__new__": staticmethod(_new),
    "__array_priority__": 0.0,
    "device": property(lambda self: "cpu"),
    "flat": flat,
    "tolist": dressed(_tolist, numpy.ndarray.tolist, "dappled.ndarray", GATHERED),
    "tobytes": dressed(_tobytes, numpy.ndarray.tobytes, "dappled.ndarray", GATHERED),
    **_array_function.METHODS,
    **_exports.METHODS,
    **_extras.METHODS,
    **_flags.METHODS,
    **_interop.METHODS,
    **_items.MEMBERS,
    **_printing.METHODS,
    **_searching.METHODS,
    **_sorting.METHODS,
    **_taking.METHODS,
    **_views.METHODS,
    **{name: _method(name, function) for name, function in _NAMED.items()},
    **{name: _as_function(name) for name in _FUNCTIONS},
    **{name: _native_method(name) for name in ("conj", "conjugate", "cumprod", "cumsum", "round")},
}
