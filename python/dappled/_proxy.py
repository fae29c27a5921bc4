"""Classes of ours around NumPy's classes: every method crosses over and back."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy

from dappled._array import core
from dappled._crossing import Crossing, Proxy, around
from dappled._drawing import of_random
from dappled._fallback import dressed, gathered
from dappled._iterating import Reading, reading
from dappled._piecewise import in_pieces
from dappled._rebind import rebound
from dappled._tables import COMPUTED

# What Python gives every object, or what a proxy must do itself.
_OWN = {*dir(object), "__dict__", "__weakref__", "__module__", "__array__", "__slots__"}
_TEXT = ("__repr__", "__str__", "__format__", "__eq__", "__ne__", "__hash__")


def proxy(kind: type) -> type[Proxy]:
    """A class with the members of one of NumPy's, over our arrays."""
    mapping = issubclass(kind, Mapping)
    skipped = _OWN | (
        set(dir(Mapping)) - {"__getitem__", "__iter__", "__len__"} if mapping else set()
    )
    public = kind.__module__.partition("._")[0].removesuffix(".mtrand")
    module = public.replace("numpy", "dappled", 1)
    members = {name: _member(kind, name, module) for name in dir(kind) if name not in skipped}
    members |= {name: _member(kind, name, module) for name in _TEXT if _says(kind, name)}
    if kind is numpy.nditer:
        members["__getitem__"] = _operand(members["__getitem__"])
        methods = {name for name in members if inspect.isroutine(getattr(kind, name))}
        members |= {name: _asking(name, members[name]) for name in methods}
        # Those that NumPy hands out, as `nested_iters` does, were not made here.
        members |= {"__next__": _next, "__way__": COMPUTED, "_made": frozenset()}
    if kind.__name__ == "NpzFile":
        members["__getitem__"] = _opening(members["__getitem__"])
    members |= {"__init__": _init(kind, module), "__doc__": kind.__doc__, "__module__": module}
    members["_kind"] = kind
    if kind.__name__ in _GENERATORS:
        made: Any = _InPlaceOf(kind.__name__, (_Generator, kind), members)
        return made  # type: ignore[no-any-return]
    bases = (_Delegating, Mapping) if mapping else (_Delegating,)
    return type(kind.__name__, bases, members)


def _says(kind: type, name: str) -> bool:
    """Whether a class says of itself what Python says of any object."""
    return inspect.getattr_static(kind, name) is not inspect.getattr_static(object, name)


class _Delegating(Proxy):
    """What is not a member of the class is asked of NumPy's object."""

    def __getattr__(self, name: str) -> Any:
        if name == "_numpy":  # not made yet, as in the middle of unpickling
            raise AttributeError(name)
        return Crossing(name).back(getattr(self._numpy, name))

    def __setattr__(self, name: str, value: Any) -> None:
        _set(self._numpy, name, value)

    def __repr__(self) -> str:
        return repr(self._numpy)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return self._numpy.__array__(*args, **kwargs)

    def __reduce__(self) -> Any:
        return around, (type(self), self._numpy)


_GENERATORS = ("Generator", "RandomState")


class _InPlaceOf(type):
    """The metaclass of our generator classes: NumPy's own generators count as instances."""

    _kind: type

    def __instancecheck__(cls, value: Any) -> bool:
        own = "_kind" in vars(cls)  # and not a class that a program derives from ours
        return super().__instancecheck__(value) or (own and isinstance(value, cls._kind))


class _Generator(_Delegating):
    """A base of our generator classes, which derive from NumPy's too.

    Libraries test `isinstance(rng, numpy.random.Generator)` and use the bit generator from C. The
    object is initialised as one of NumPy's with the same bit generator as `_numpy`, which draws:
    the methods that NumPy's generators call on themselves are then NumPy's.
    """

    def _hold(self, value: Any) -> None:
        super()._hold(value)
        self._kind.__init__(self, value._bit_generator)  # type: ignore[misc]


def _init(kind: type, module: str) -> Any:
    make = gathered(kind, module)

    def init(self: Proxy, *args: Any, **kwargs: Any) -> None:
        if kind is numpy.nditer:
            object.__setattr__(self, "_made", _made_by_numpy(*args, **kwargs))
        made = reading(*args, **kwargs) if kind is numpy.nditer and core.ranks() > 1 else None
        self._hold(made or make(*args, **kwargs)._numpy)

    init.__dict__["__wrapped__"] = inspect.getattr_static(kind, "__init__")
    return init


def _made_by_numpy(
    op: Any, flags: Any = None, op_flags: Any = None, *rest: Any, **options: Any
) -> set[int]:
    """On several ranks, the operands that an iterator makes itself: these it can write.

    It writes element by element, which is no good where elements are elsewhere.
    """
    if core.ranks() == 1:
        return set()
    several = op if isinstance(op, list | tuple) else [op]
    made = {place for place, one in enumerate(several) if one is None}
    each = op_flags or [[]]
    each = [each] if isinstance(each[0], str) else each
    if any("write" in repr(said) for place, said in enumerate(each) if place not in made):
        raise RuntimeError("on several ranks, numpy.nditer can read arrays and not write them")
    return made


def _asking(name: str, otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """A method of iterators, of which those that read pieces have some of their own."""

    def call(self: Any, *args: Any) -> Any:
        if not isinstance(self._numpy, Reading):
            return otherwise(self, *args)
        if name in vars(Reading):
            found = getattr(self._numpy, name)(*args)
            return self if found is self._numpy else _wrapped(found)
        object.__setattr__(self, "_numpy", self._numpy.whole())
        return otherwise(self, *args)

    return dressed(call, otherwise, otherwise.__module__)


def _next(self: Any) -> Any:
    """The next elements of an iterator: this is done often, and needs no more."""
    found = next(self._numpy)
    if type(found) is not tuple:
        return _wrapped(found)
    if not self._made:
        return tuple(map(_wrapped, found))
    return tuple(one if at in self._made else _wrapped(one) for at, one in enumerate(found))


def _operand(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    def getitem(self: Any, key: Any) -> Any:
        """The current elements of an operand; those that NumPy made may be written there."""
        ours = isinstance(key, slice) or key not in self._made
        return otherwise(self, key) if ours else self._numpy[key]

    return dressed(getitem, otherwise, otherwise.__module__)


def _opening(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    def getitem(self: Any, key: str) -> Any:
        """An array of an archive; on several ranks in pieces, if it is not compressed."""
        from dappled._archives import member  # which needs much of Python's library

        found = member(self._numpy, key)
        return otherwise(self, key) if found is NotImplemented else found

    return dressed(getitem, otherwise, otherwise.__module__)


def _wrapped(value: Any) -> Any:
    if type(value) is tuple:
        return tuple(map(_wrapped, value))
    if not isinstance(value, numpy.ndarray):
        return value
    return core.wrap(value)


def _member(kind: type, name: str, module: str) -> Any:
    member = inspect.getattr_static(kind, name)
    if name == "__call__":
        return _evaluating(kind, gathered(member, module))
    if isinstance(member, classmethod | staticmethod):
        return staticmethod(gathered(getattr(kind, name), module))
    if inspect.isroutine(member):
        is_random = kind.__name__ in _GENERATORS
        return (of_random if is_random else gathered)(member, module)
    if inspect.isdatadescriptor(member):
        return property(lambda self: _Delegating.__getattr__(self, name), _setter(name))
    return member if name.startswith("__") else _Value(name, member)


class _Value:
    """A value that a class has, and an object may have another: `Polynomial.domain`."""

    def __init__(self, name: str, value: Any) -> None:
        self._name, self._value = name, value

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return Crossing(self._name).back(self._value)
        return _Delegating.__getattr__(instance, self._name)


def _evaluating(kind: type, otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """A polynomial at the elements of an array in pieces: by its steps over ours."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs or len(args) != 1 or not in_pieces(args[0]):
            return otherwise(self, *args, **kwargs)
        theirs = self._numpy
        if isinstance(theirs, numpy.poly1d):
            return import_module("dappled").polyval(theirs.coeffs, args[0])
        offset, scale = theirs.mapparms()
        value = rebound(inspect.getattr_static(kind, "_val").__func__)
        return value(offset + scale * args[0], theirs.coef)

    return dressed(call, otherwise, otherwise.__module__)


def _setter(name: str) -> Any:
    def set_member(self: Proxy, value: Any) -> None:
        _set(self._numpy, name, value)

    return set_member


def _set(theirs: Any, name: str, value: Any) -> None:
    """Sets an attribute of NumPy's object; that very array, as after `p.coeffs += 1`, is there
    already.
    """
    given = Crossing(name).over(value)
    now = getattr(theirs, name, None) if isinstance(value, core.ndarray) else None
    same = isinstance(now, numpy.ndarray) and now.shape == given.shape
    if not (same and numpy.may_share_memory(now, given)):
        setattr(theirs, name, given)
