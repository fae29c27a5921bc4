"""Random numbers without a seed: drawn once, the same on every rank."""

from __future__ import annotations

import pickle
import secrets
from collections.abc import Callable
from typing import Any

import numpy

from dappled._array import core
from dappled._comm import together
from dappled._crossing import Crossing
from dappled._fallback import dressed
from dappled._standing import standing

_WORDS = 4  # of 32 bits, which every kind of generator takes as a seed


def seeded(function: Callable[..., Any], place: int = 0) -> Callable[..., Any]:
    """A function whose argument `seed`, at that place, is the same on every rank if it is None."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if core.ranks() > 1 and _is_unseeded(args[place:], kwargs):
            args, kwargs = args[:place], {**kwargs, "seed": _drawn()}
        return function(*args, **kwargs)

    return dressed(call, function, function.__module__)


def shared(init: Callable[..., Any]) -> Callable[..., Any]:
    """The `__init__` of a generator, which then has the first rank's state everywhere."""

    def call(self: Any, bit_generator: Any) -> None:
        init(self, bit_generator)
        if core.ranks() > 1:
            theirs = self._numpy.bit_generator
            theirs.state = _first_ranks(theirs.state)

    return dressed(call, init, init.__module__)


def seeded_class(theirs: Any) -> Any:
    """A class of NumPy's, made of our arrays too, and the same on every rank without a seed."""

    def make(*args: Any, **kwargs: Any) -> Any:
        crossing = Crossing(f"dappled.random.{theirs.__name__}")
        named = {name: crossing.over(value) for name, value in kwargs.items()}
        if core.ranks() > 1 and named.get("key") is None and _is_unseeded(args, named):
            named.pop(_seed(named), None)
            args = (_first_ranks(secrets.randbits(32 * _WORDS)),)
        return theirs(*crossing.over(args), **named)

    return standing(theirs, "dappled.random", make)


def share_global_state() -> None:
    """Gives every rank the state that `numpy.random` has on the first."""
    if core.ranks() > 1:
        numpy.random.set_state(_first_ranks(numpy.random.get_state()))


def _is_unseeded(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    given = args[0] if args else kwargs.get(_seed(kwargs))
    return given is None and len(args) <= 1


def _seed(kwargs: dict[str, Any]) -> str:
    """What a seed is called, which of a sequence is what it is made of."""
    return "entropy" if "entropy" in kwargs else "seed"


def _drawn() -> Any:
    return _first_ranks([secrets.randbits(32) for _ in range(_WORDS)])


def _first_ranks(value: Any) -> Any:
    """A value as the first rank has it."""
    together("dappled.random")
    sent = pickle.dumps(value if core.rank() == 0 else None)
    return pickle.loads(core.gather("dappled.random", sent)[0])
