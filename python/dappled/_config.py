"""Settings, and what happens when an array in pieces must be gathered for NumPy."""

from __future__ import annotations

import os
import warnings
from typing import Any

from dappled._array import core
from dappled._line import warn

CHOICES = {"fallback": ("warn", "error", "quiet")}


class FallbackWarning(UserWarning):
    """A distributed array was gathered on every rank, for a function that only NumPy has."""


class FallbackError(RuntimeError):
    """A distributed array would have been gathered, and `config.fallback` is 'error'."""


class Config:
    """The settings of this process, each with the values that it may have.

    >>> import dappled
    >>> dappled.config.fallback
    'warn'
    >>> dappled.config
    Config(fallback='warn')
    """

    __slots__ = tuple(CHOICES)

    fallback: str

    def __init__(self) -> None:
        for name, choices in CHOICES.items():
            setattr(self, name, os.environ.get(f"DAPPLED_{name.upper()}", choices[0]))

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in CHOICES:
            raise AttributeError(f"no setting {name!r}: there are {', '.join(CHOICES)}")
        if value not in CHOICES[name]:
            expected = ", ".join(map(repr, CHOICES[name]))
            raise ValueError(f"{name} is one of {expected}, not {value!r}")
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        settings = (f"{name}={getattr(self, name)!r}" for name in CHOICES)
        return f"Config({', '.join(settings)})"


config = Config()


def note_gather(function: str) -> None:
    """Says, as the user wants it said, that a function gathers a distributed array."""
    if config.fallback == "quiet" or core.ranks() == 1:
        return
    text = f"{function} is NumPy's: it gathers a distributed array on every rank"
    if config.fallback == "error":
        raise FallbackError(text)
    if core.rank() == 0 or _is_an_error():
        warn(text, FallbackWarning)


def _is_an_error() -> bool:
    """Whether the warning would be raised: then on every rank, or they would part."""
    found = (rule for rule in warnings.filters if issubclass(FallbackWarning, rule[2]))
    return next((rule[0] for rule in found), "") == "error"
