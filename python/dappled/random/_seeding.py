"""Unseeded generators: the state of rank 0 on every rank."""

from __future__ import annotations

import pickle
import secrets
from collections.abc import Callable
from typing import Any

import numpy

from dappled._dispatch.convert import NumPyCall
from dappled._dispatch.drop_in_class import drop_in_class
from dappled._dispatch.fallback import with_numpy_metadata
from dappled._ndarray.core import core
from dappled._ranks.comm import check_collective

_SEED_WORDS = 4  # 32-bit words, accepted as a seed by every bit generator


def with_shared_seed(function: Callable[..., Any], place: int = 0) -> Callable[..., Any]:
    """A function whose `seed`, at that position, is the same on every rank if it is None."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if core.ranks() > 1 and _is_unseeded(args[place:], kwargs):
            args, kwargs = args[:place], {**kwargs, "seed": _new_seed()}
        return function(*args, **kwargs)

    return with_numpy_metadata(call, function, function.__module__)


def with_shared_state(init: Callable[..., Any]) -> Callable[..., Any]:
    """The `__init__` of a generator, with the state of rank 0 on every rank."""

    def call(self: Any, bit_generator: Any) -> None:
        init(self, bit_generator)
        if core.ranks() > 1:
            theirs = self._numpy.bit_generator
            theirs.state = _broadcast_from_root(theirs.state)

    return with_numpy_metadata(call, init, init.__module__)


def class_with_shared_seed(theirs: Any) -> Any:
    """A NumPy class that accepts our arrays, and has the same seed on every rank."""

    def make(*args: Any, **kwargs: Any) -> Any:
        numpy_call = NumPyCall(f"dappled.random.{theirs.__name__}")
        named = {name: numpy_call.to_numpy(value) for name, value in kwargs.items()}
        if core.ranks() > 1 and named.get("key") is None and _is_unseeded(args, named):
            named.pop(_seed_name(named), None)
            args = (_broadcast_from_root(secrets.randbits(32 * _SEED_WORDS)),)
        return theirs(*numpy_call.to_numpy(args), **named)

    return drop_in_class(theirs, "dappled.random", make)


def share_global_state() -> None:
    """Gives every rank the global state of `numpy.random` on rank 0. Collective."""
    if core.ranks() > 1:
        numpy.random.set_state(_broadcast_from_root(numpy.random.get_state()))


def _is_unseeded(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    given = args[0] if args else kwargs.get(_seed_name(kwargs))
    return given is None and len(args) <= 1


def _seed_name(kwargs: dict[str, Any]) -> str:
    """The name of the seed parameter."""
    return "entropy" if "entropy" in kwargs else "seed"


def _new_seed() -> Any:
    return _broadcast_from_root([secrets.randbits(32) for _ in range(_SEED_WORDS)])


def _broadcast_from_root(value: Any) -> Any:
    """The value of rank 0. Collective."""
    check_collective("dappled.random")
    sent = pickle.dumps(value if core.rank() == 0 else None)
    return pickle.loads(core.gather("dappled.random", sent)[0])
