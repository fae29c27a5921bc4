"""Detects user functions that keep state between calls.

On several ranks each rank calls a function for its own rows or elements only. A function that
counts its calls, draws random numbers or appends to a list would then return other values than with
NumPy. `check_side_effects` compares what the function can reach before and after the calls, and
raises where something has changed. Attributes of library objects and memory beyond some limits are
not compared.
"""

from __future__ import annotations

import functools
import io
import operator
import os
import random
import sys
import types
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

import numpy

from dappled._compat.numpy_private import bit_generator, global_random_state
from dappled._dispatch.convert import Proxy
from dappled._interop.libraries import is_installed
from dappled._ndarray.core import core, ndarray

_PLAIN = (bool, int, float, complex, str, bytes, type(None), numpy.generic)
_SEQUENCES = (list, tuple, set, frozenset, deque)
# Limits of the comparison: elements of a container, levels of nesting, bytes of an array.
_MAX_ITEMS, _MAX_DEPTH, _MAX_BYTES = 1000, 4, 1 << 22


def check_side_effects(function: Any, where: str, given: Sequence[Any] = ()) -> Callable[[], None]:
    """A check to call later, which raises if the function has changed something it reaches.

    `given` are arguments that are the same for all calls.
    """
    if _is_stateless(function) and not given:
        return lambda: None

    def states() -> list[tuple[str, Any]]:
        beside = [(f"argument {position + 1}", _state(one)) for position, one in enumerate(given)]
        return [*_reachable_states(function), *beside]

    before = states()

    def check() -> None:
        for (name, state), now in zip_longest(before, states(), fillvalue=("a variable", None)):
            if (name, state) != now:
                raise RuntimeError(_message(function, where, name))

    return check


def _message(function: Any, where: str, name: str) -> str:
    called = getattr(function, "__name__", type(function).__name__)
    return (
        f"{where}: {called!r} changes {name}. Each of {core.ranks()} ranks calls it for its own "
        "part only: the result would not be NumPy's. Let it depend on its arguments alone, or "
        f"use numpy.{where} with numpy.asarray(a), which gathers"
    )


def _is_stateless(function: Any) -> bool:
    """Whether a function is NumPy's, ours, or built in: these remember nothing."""
    if isinstance(function, numpy.ufunc | core.ufunc | core.function):
        return True
    owner = getattr(function, "__self__", None)
    if isinstance(function, types.BuiltinFunctionType):
        return owner is None or isinstance(owner, types.ModuleType)
    module = getattr(function, "__module__", None) or ""
    plain = isinstance(function, types.FunctionType) and function.__closure__ is None
    return plain and module.partition(".")[0] in ("numpy", "dappled")


def _reachable_states(function: Any, seen: set[int] | None = None) -> Iterator[tuple[str, Any]]:
    """The names by which a function reaches something, each with the state of that."""
    seen = set() if seen is None else seen
    if id(function) in seen or _is_stateless(function):
        return
    seen.add(id(function))
    if isinstance(function, functools.partial):
        for position, value in enumerate((*function.args, *function.keywords.values())):
            yield f"argument {position} of a functools.partial", _state(value)
        yield from _reachable_states(function.func, seen)
    elif isinstance(function, types.FunctionType):
        yield from _function_states(function, seen)
    elif (owner := getattr(function, "__self__", None)) is not None:  # a method
        yield f"the {type(owner).__name__} of its method", _state(owner)
        yield from _reachable_states(getattr(function, "__func__", None), seen)
    elif hasattr(function, "__wrapped__"):  # functools.lru_cache: the cache is no state
        yield from _reachable_states(function.__wrapped__, seen)
    elif function is not None and not isinstance(function, type):  # an object that can be called
        yield f"the {type(function).__name__} itself", _state(function)
        yield from _reachable_states(type(function).__call__, seen)


def _function_states(function: types.FunctionType, seen: set[int]) -> Iterator[tuple[str, Any]]:
    code = function.__code__
    named = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    values = {
        f"the variable {name!r}": cell.cell_contents
        for name, cell in named.items()
        if cell != types.CellType()
    }
    names = set(_names(code))
    known = function.__globals__
    values |= {f"the global {name!r}": known[name] for name in names if name in known}
    defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
    values |= {f"default {index} of {code.co_name!r}": one for index, one in enumerate(defaults)}
    values |= {f"the attribute {name!r}": one for name, one in vars(function).items()}
    for name, value in values.items():
        if isinstance(value, types.ModuleType):
            yield from _module_states(value, names)
        elif callable(value) and not isinstance(value, (type, ndarray)):
            yield from _reachable_states(value, seen)
        else:
            yield name, _state(value)


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _module_states(module: types.ModuleType, names: set[str]) -> Iterator[tuple[str, Any]]:
    """The generators that functions of a module draw from."""
    if module is random:
        yield "the state of 'random'", hash(random.getstate())
    elif module.__name__ == "numpy.random" or (module.__name__ == "numpy" and "random" in names):
        yield "the state of 'numpy.random'", _state(global_random_state())
        yield "the state of 'dappled.random'", _dappled_random_state()
    elif module.__name__ in ("dappled", "dappled.random") and "random" in (
        *names,
        "dappled.random",
    ):
        yield "the state of 'dappled.random'", _dappled_random_state()


def _dappled_random_state() -> Any:
    ours = sys.modules.get("dappled.random")
    return None if ours is None else repr(ours.get_state(legacy=False))


def _state(value: Any, deep: int = _MAX_DEPTH) -> Any:
    """Something that is equal as long as a value does not change."""
    if isinstance(value, _PLAIN):
        return repr(value)  # NaN is equal to itself
    if isinstance(value, numpy.ndarray):
        return _array_state(value)
    if isinstance(value, ndarray):
        return (
            id(value)
            if value._held is None and not value._whole
            else _array_state(core.unwrap(value))
        )
    if isinstance(value, Proxy):
        return _state(value._numpy, deep)
    if _is_generator(value):
        return repr(bit_generator(value).state)
    if isinstance(value, random.Random):
        return hash(value.getstate())
    if deep == 0:
        return id(value)
    if isinstance(value, dict):
        return _container_state(
            value, [*map(_state_of_pair, _last_items(value.items()), [deep - 1] * _MAX_ITEMS)]
        )
    if isinstance(value, _SEQUENCES):
        return _container_state(value, [_state(one, deep - 1) for one in _last_items(value)])
    if isinstance(value, types.GeneratorType):
        frame = value.gi_frame
        return frame and (frame.f_lasti, _state(dict(frame.f_locals), deep - 1))
    if isinstance(value, io.IOBase):
        return None if value.closed or not value.seekable() else value.tell()
    if hasattr(value, "__next__"):
        return id(value), repr(value), operator.length_hint(value)
    if isinstance(value, types.FunctionType | types.ModuleType) or _is_library_object(value):
        return id(value)
    return id(value), _attributes(value, deep - 1)


def _is_generator(value: Any) -> bool:
    """Whether a value is a NumPy generator; does not import `numpy.random`."""
    theirs: Any = sys.modules.get("numpy.random")
    return theirs is not None and isinstance(value, theirs.Generator | theirs.RandomState)


def _state_of_pair(pair: tuple[Any, Any], deep: int) -> Any:
    return repr(pair[0]) if isinstance(pair[0], _PLAIN) else id(pair[0]), _state(pair[1], deep)


def _last_items(values: Any) -> list[Any]:
    """The elements of a container; of a large one the last ones."""
    result = list(values)
    return result if len(result) <= _MAX_ITEMS else result[-10:]


def _container_state(container: Any, states: list[Any]) -> Any:
    if isinstance(container, set | frozenset):
        return len(container), frozenset(map(repr, states))
    return len(container), states


def _array_state(values: Any) -> Any:
    plain = not values.dtype.hasobject and values.nbytes <= _MAX_BYTES
    return id(values.dtype), values.shape, zlib.crc32(values.tobytes()) if plain else None


def _attributes(value: Any, deep: int) -> Any:
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    named = {name: getattr(value, name, None) for name in slots if isinstance(name, str)}
    return _state({**named, **getattr(value, "__dict__", {})}, deep)


def _is_library_object(value: Any) -> bool:
    """Whether an object is of a class that a library defines, and not the program."""
    kind: Any = value if isinstance(value, type) else type(value)
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return kind.__module__ == "builtins" or (
        file is not None and is_installed(os.path.realpath(file))
    )
