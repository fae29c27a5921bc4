"""Proxy classes around NumPy's classes: every method converts arguments and results."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy

from dappled._compat.numpy_private import bit_generator, polynomial_evaluation
from dappled._dispatch.convert import NumPyCall, Proxy, wrap_in_proxy
from dappled._dispatch.fallback import gathered, with_numpy_metadata
from dappled._dispatch.numpy_facts import COMPUTED
from dappled._dispatch.rebind import rebound
from dappled._ndarray.core import core
from dappled._ndarray.nditer import DistributedIterator, distributed_nditer
from dappled._ranks.map_blocks import is_distributed

# Members of every object, and those that a proxy implements itself.
_OWN = {*dir(object), "__dict__", "__weakref__", "__module__", "__array__", "__slots__"}
_TEXT = ("__repr__", "__str__", "__format__", "__eq__", "__ne__", "__hash__")


def proxy(kind: type) -> type[Proxy]:
    """A class with the members of one of NumPy's, for our arrays."""
    mapping = issubclass(kind, Mapping)
    skipped = _OWN | (
        set(dir(Mapping)) - {"__getitem__", "__iter__", "__len__"} if mapping else set()
    )
    public = kind.__module__.partition("._")[0].removesuffix(".mtrand")
    module = public.replace("numpy", "dappled", 1)
    members = {name: _member(kind, name, module) for name in dir(kind) if name not in skipped}
    members |= {name: _member(kind, name, module) for name in _TEXT if _overrides(kind, name)}
    if kind is numpy.nditer:
        members["__getitem__"] = _writeable_operand(members["__getitem__"])
        methods = {name for name in members if inspect.isroutine(getattr(kind, name))}
        members |= {name: _iterator_method(name, members[name]) for name in methods}
        # NumPy creates some itself, as `nested_iters` does.
        members |= {"__next__": _next, "__execution__": COMPUTED, "_allocated": frozenset()}
    if kind.__name__ == "NpzFile":
        members["__getitem__"] = _archive_member(members["__getitem__"])
    members |= {"__init__": _init(kind, module), "__doc__": kind.__doc__, "__module__": module}
    members["_kind"] = kind
    if kind.__name__ in _GENERATORS:
        result: Any = _GeneratorMeta(kind.__name__, (_Generator, kind), members)
        return result  # type: ignore[no-any-return]
    bases = (_Delegating, Mapping) if mapping else (_Delegating,)
    return type(kind.__name__, bases, members)


def _overrides(kind: type, name: str) -> bool:
    """Whether a class overrides a member of `object`."""
    return inspect.getattr_static(kind, name) is not inspect.getattr_static(object, name)


class _Delegating(Proxy):
    """Other attributes are those of NumPy's object."""

    def __getattr__(self, name: str) -> Any:
        if name == "_numpy":  # not set yet, as during unpickling
            raise AttributeError(name)
        return NumPyCall(name).from_numpy(getattr(self._numpy, name))

    def __setattr__(self, name: str, value: Any) -> None:
        _set_attribute(self._numpy, name, value)

    def __repr__(self) -> str:
        return repr(self._numpy)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return self._numpy.__array__(*args, **kwargs)

    def __reduce__(self) -> Any:
        return wrap_in_proxy, (type(self), self._numpy)


_GENERATORS = ("Generator", "RandomState")


class _GeneratorMeta(type):
    """The metaclass of our generator classes: NumPy's generators are instances, too."""

    _kind: type

    def __instancecheck__(cls, value: Any) -> bool:
        own = "_kind" in vars(cls)  # and not a subclass of the program
        return super().__instancecheck__(value) or (own and isinstance(value, cls._kind))


class _Generator(_Delegating):
    """A base of our generator classes, which derive from NumPy's too.

    Libraries test `isinstance(rng, numpy.random.Generator)` and use the bit generator from C. The
    object is initialised as one of NumPy's with the same bit generator as `_numpy`, which draws:
    the methods that NumPy's generators call on themselves are then NumPy's.
    """

    def _hold(self, value: Any) -> None:
        super()._hold(value)
        self._kind.__init__(self, bit_generator(value))  # type: ignore[misc]


def _init(kind: type, module: str) -> Any:
    make = gathered(kind, module)

    def init(self: Proxy, *args: Any, **kwargs: Any) -> None:
        if kind is numpy.nditer:
            object.__setattr__(self, "_allocated", _allocated_operands(*args, **kwargs))
        result = (
            distributed_nditer(*args, **kwargs)
            if kind is numpy.nditer and core.ranks() > 1
            else None
        )
        self._hold(result or make(*args, **kwargs)._numpy)

    init.__dict__["__wrapped__"] = inspect.getattr_static(kind, "__init__")
    return init


def _allocated_operands(
    op: Any, flags: Any = None, op_flags: Any = None, *rest: Any, **options: Any
) -> set[int]:
    """The operands that an iterator allocates itself, on several ranks.

    Only these can be written: other elements may be on other ranks.
    """
    if core.ranks() == 1:
        return set()
    several = op if isinstance(op, list | tuple) else [op]
    result = {position for position, one in enumerate(several) if one is None}
    each = op_flags or [[]]
    each = [each] if isinstance(each[0], str) else each
    if any("write" in repr(said) for position, said in enumerate(each) if position not in result):
        raise RuntimeError(
            "numpy.nditer cannot write to distributed arrays: on several ranks it is read-only"
        )
    return result


def _iterator_method(name: str, otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """A method of iterators, which distributed iterators may implement."""

    def call(self: Any, *args: Any) -> Any:
        if not isinstance(self._numpy, DistributedIterator):
            return otherwise(self, *args)
        if name in vars(DistributedIterator):
            result = getattr(self._numpy, name)(*args)
            return self if result is self._numpy else _wrap(result)
        object.__setattr__(self, "_numpy", self._numpy.gathered())
        return otherwise(self, *args)

    return with_numpy_metadata(call, otherwise, otherwise.__module__)


def _next(self: Any) -> Any:
    """The next elements of an iterator; a fast path."""
    result = next(self._numpy)
    if type(result) is not tuple:
        return _wrap(result)
    if not self._allocated:
        return tuple(map(_wrap, result))
    return tuple(one if at in self._allocated else _wrap(one) for at, one in enumerate(result))


def _writeable_operand(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    def getitem(self: Any, key: Any) -> Any:
        """The current elements of an operand; operands that NumPy allocated are writeable."""
        ours = isinstance(key, slice) or key not in self._allocated
        return otherwise(self, key) if ours else self._numpy[key]

    return with_numpy_metadata(getitem, otherwise, otherwise.__module__)


def _archive_member(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    def getitem(self: Any, key: str) -> Any:
        """An array of an archive; distributed on several ranks, if it is not compressed."""
        from dappled._routines.io.npz import read_member  # which needs much of Python's library

        result = read_member(self._numpy, key)
        return otherwise(self, key) if result is NotImplemented else result

    return with_numpy_metadata(getitem, otherwise, otherwise.__module__)


def _wrap(value: Any) -> Any:
    if type(value) is tuple:
        return tuple(map(_wrap, value))
    if not isinstance(value, numpy.ndarray):
        return value
    return core.wrap(value)


def _member(kind: type, name: str, module: str) -> Any:
    member = inspect.getattr_static(kind, name)
    if name == "__call__":
        return _polynomial_call(kind, gathered(member, module))
    if isinstance(member, classmethod | staticmethod):
        return staticmethod(gathered(getattr(kind, name), module))
    if inspect.isroutine(member):
        if kind.__name__ in _GENERATORS:
            from dappled.random._stream import adapt_random_function  # which loads `numpy.random`

            return adapt_random_function(member, module)
        return gathered(member, module)
    if inspect.isdatadescriptor(member):
        return property(lambda self: _Delegating.__getattr__(self, name), _setter(name))
    return member if name.startswith("__") else _ClassAttribute(name, member)


class _ClassAttribute:
    """A class attribute that instances may override: `Polynomial.domain`."""

    def __init__(self, name: str, value: Any) -> None:
        self._name, self._value = name, value

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return NumPyCall(self._name).from_numpy(self._value)
        return _Delegating.__getattr__(instance, self._name)


def _polynomial_call(kind: type, otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """A polynomial at the elements of a distributed array."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs or len(args) != 1 or not is_distributed(args[0]):
            return otherwise(self, *args, **kwargs)
        theirs = self._numpy
        if isinstance(theirs, numpy.poly1d):
            return import_module("dappled").polyval(theirs.coeffs, args[0])
        offset, scale = theirs.mapparms()
        value = rebound(polynomial_evaluation(kind))
        return value(offset + scale * args[0], theirs.coef)

    return with_numpy_metadata(call, otherwise, otherwise.__module__)


def _setter(name: str) -> Any:
    def set_member(self: Proxy, value: Any) -> None:
        _set_attribute(self._numpy, name, value)

    return set_member


def _set_attribute(theirs: Any, name: str, value: Any) -> None:
    """Sets an attribute of NumPy's object, unless it already is this array (`p.coeffs += 1`)."""
    given = NumPyCall(name).to_numpy(value)
    now = getattr(theirs, name, None) if isinstance(value, core.ndarray) else None
    same = isinstance(now, numpy.ndarray) and now.shape == given.shape
    if not (same and numpy.may_share_memory(now, given)):
        setattr(theirs, name, given)
