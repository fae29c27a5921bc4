"""Methods and attributes of NumPy's array that the core's array lacks."""

from __future__ import annotations

import inspect
import operator
import pickle
import types
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy

from dappled._compat.cpython_private import fill_sequence_slots
from dappled._dispatch import array_function
from dappled._dispatch.convert import NumPyCall
from dappled._dispatch.fallback import gathered, with_numpy_metadata
from dappled._dispatch.implements import implements
from dappled._dispatch.meta import as_meta
from dappled._dispatch.numpy_facts import GATHERED, SMALL_METHODS
from dappled._interop import to_numpy
from dappled._ndarray import exports, flags, opaque_dtypes, printing, subclasses, views
from dappled._ndarray.core import core
from dappled._ndarray.flatiter import flat
from dappled._ndarray.memory_order import flags_of
from dappled._ranks import introspection
from dappled._routines import indexing, math, searching, sorting
from dappled._routines.ufunc import call

# Members of every Python class, and protocols that only the core implements.
_NOT_ATTACHED = {
    *("__class__", "__delattr__", "__delitem__", "__dir__", "__doc__", "__getattribute__"),
    *("__getstate__", "__hash__", "__init__", "__init_subclass__", "__reduce_ex__", "__setattr__"),
    *("__setstate__", "__subclasshook__"),
    *("__array_finalize__", "__array_struct__", "__array_ufunc__", "__array_wrap__"),
}


def attach(kind: Any) -> None:
    """Adds the missing members to the class, and their methods to the ufuncs."""
    call.attach()
    subclasses.attach()
    for name in {*dir(numpy.ndarray), *OWN} - _NOT_ATTACHED - set(vars(kind)):
        member = OWN[name] if name in OWN else _delegate(name)
        setattr(kind, name, _with_fast_path(name, member) if name in SMALL_METHODS else member)
    fill_sequence_slots(kind)


def _with_fast_path(name: str, general: Any) -> Any:
    """A method that NumPy computes on small arrays."""
    theirs = inspect.getattr_static(numpy.ndarray, name)
    result = core.function(None, general, theirs, SMALL_METHODS[name])
    return with_numpy_metadata(result, theirs, "dappled.ndarray", vars(general)["__execution__"])


def _delegate(name: str) -> Any:
    member = inspect.getattr_static(numpy.ndarray, name)
    if inspect.isdatadescriptor(member):
        return property(_getter(name), _setter(name), doc=member.__doc__)
    return gathered(member, "dappled.ndarray")


def _getter(name: str) -> Callable[[Any], Any]:
    def get(self: Any) -> Any:
        numpy_call = NumPyCall(f"ndarray.{name}", writeable=True)
        return numpy_call.from_numpy(getattr(numpy_call.to_numpy(self), name))

    get.__dict__["__execution__"] = GATHERED
    return get


def _setter(name: str) -> Callable[[Any, Any], None]:
    def set_value(self: Any, value: Any) -> None:
        numpy_call = NumPyCall(f"ndarray.{name}")
        setattr(numpy_call.to_numpy(self, written=True), name, numpy_call.to_numpy(value))
        numpy_call.write_back()

    return set_value


def _new(kind: Any, *args: Any, **kwargs: Any) -> Any:
    numpy_call = NumPyCall("ndarray", writeable=True)
    over = {name: numpy_call.to_numpy(value) for name, value in kwargs.items()}
    if issubclass(kind, numpy.ndarray):  # a subclass defined by the program
        return numpy.ndarray.__new__(kind, *numpy_call.to_numpy(args), **over)
    return numpy_call.from_numpy(numpy.ndarray(*numpy_call.to_numpy(args), **over))


def _scalar_conversion(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A conversion of the only element; NumPy raises where there are more."""

    def converted(self: Any) -> Any:
        return convert(core.unwrap(self) if self.size == 1 else as_meta(self))

    return converted


def _iterate(self: Any) -> Any:
    if self.ndim == 0:
        raise TypeError("iteration over a 0-d array")
    if self.ndim == 1 and core.ranks() == 1:
        memory = core.unwrap(self)  # shows writes during the iteration
        return iter(memory) if not self.dtype.hasobject else map(_element, memory)
    return (self[position] for position in range(len(self)))


def _element(value: Any) -> Any:
    return core.share(value) if type(value) is numpy.ndarray else value


def _contains(self: Any, item: Any) -> bool:
    result = self == item
    return bool(result.any() if hasattr(result, "any") else result)


def _mark_gathered(function: Callable[..., Any]) -> Callable[..., Any]:
    function.__dict__["__execution__"] = GATHERED
    return function


@_mark_gathered
def _dumps(self: Any) -> bytes:
    return pickle.dumps(self, protocol=2)


@_mark_gathered
def _dump(self: Any, file: Any) -> None:
    if hasattr(file, "write"):
        file.write(_dumps(self))
    else:
        with open(file, "wb") as opened:
            opened.write(_dumps(self))


def _resize(self: Any, *new_shape: Any, refcheck: bool = True) -> None:
    """In place, as long as the size stays: an array keeps its memory."""
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
    from dappled._routines.io.npy import tofile  # imports much of the standard library

    tofile(self, *args, **kwargs)


def _to_device(self: Any, device: Any, /, *, stream: Any = None) -> Any:
    numpy.empty(0).to_device(device, stream=stream)  # raises for other devices
    return self


def _namespace(self: Any, *, api_version: str | None = None) -> types.ModuleType:
    theirs: Any = numpy.empty(())
    theirs.__array_namespace__(api_version=api_version)  # raises for unsupported versions
    return import_module("dappled")


def _parametrized(kind: Any, item: Any) -> types.GenericAlias:
    return types.GenericAlias(kind, numpy.ndarray.__class_getitem__(item).__args__)


def _method(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    theirs = inspect.getattr_static(numpy.ndarray, name)
    return with_numpy_metadata(
        function, theirs, "dappled.ndarray", getattr(function, "__execution__", None)
    )


def _as_function(name: str) -> Callable[..., Any]:
    """A method that calls the function of the same name."""

    function: Callable[..., Any] | None = None

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal function
        function = function or getattr(import_module("dappled"), name)
        return function(self, *args, **kwargs)

    return _method(name, method)


def _native_method(name: str) -> Callable[..., Any]:
    make = implements(inspect.getattr_static(numpy.ndarray, name), "dappled.ndarray")
    return make(getattr(math, name))


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
    result = core.listed(self)
    return _by_numpy(self) if result is None else result


_bytes_by_numpy = gathered(numpy.ndarray.tobytes, "dappled.ndarray")


def _tobytes(self: Any, order: Any = "C") -> Any:
    # A gathered view is contiguous where the view itself may not be, so "A" is resolved first.
    if order in ("A", "a"):
        order = "F" if flags_of(self).fnc else "C"
    return _bytes_by_numpy(self, order)


OWN: dict[str, Any] = {
    "__bool__": _scalar_conversion(bool),
    "__class_getitem__": classmethod(_parametrized),
    "__complex__": _scalar_conversion(complex),
    "__contains__": _contains,
    "__float__": _scalar_conversion(float),
    "__index__": _scalar_conversion(operator.index),
    "__int__": _scalar_conversion(int),
    "__iter__": _iterate,
    "__new__": staticmethod(_new),
    "__array_priority__": 0.0,
    "device": property(lambda self: "cpu"),
    "flat": flat,
    "tolist": with_numpy_metadata(_tolist, numpy.ndarray.tolist, "dappled.ndarray", GATHERED),
    "tobytes": with_numpy_metadata(_tobytes, numpy.ndarray.tobytes, "dappled.ndarray", GATHERED),
    **array_function.METHODS,
    **exports.METHODS,
    **introspection.METHODS,
    **flags.METHODS,
    **to_numpy.METHODS,
    **opaque_dtypes.MEMBERS,
    **printing.METHODS,
    **searching.METHODS,
    **sorting.METHODS,
    **indexing.METHODS,
    **views.METHODS,
    **{name: _method(name, function) for name, function in _NAMED.items()},
    **{name: _as_function(name) for name in _FUNCTIONS},
    **{name: _native_method(name) for name in ("conj", "conjugate", "cumprod", "cumsum", "round")},
}
