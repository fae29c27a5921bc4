"""Settings, and what happens when an array in pieces must be gathered for NumPy."""

from __future__ import annotations

import os
import warnings
from typing import Any

from dappled._array import core
from dappled._line import program_frame, warn_at

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


def note_gather(function: str, array: Any) -> None:
    """Warns, as the settings say, that a function gathers a distributed array."""
    if config.fallback == "quiet" or core.ranks() == 1:
        return
    text = (
        f"{function} is NumPy's: it gathers a distributed array, shape {array.shape} "
        f"{array.dtype}, {array.nbytes:,} bytes on each of {core.ranks()} ranks"
    )
    if config.fallback == "error":
        raise FallbackError(text)
    frame = program_frame(2)
    file, line = frame.f_code.co_filename, frame.f_lineno
    action = _action(text, frame.f_globals.get("__name__", ""), line)
    if (
        core.rank() > 0 and action != "error"
    ):  # which is raised on every rank, or they would diverge
        return
    if action != "default" or _is_first(file, line):
        warn_at(text, FallbackWarning, file, line, frame.f_globals)


def _action(text: str, module: str, line: int) -> str:
    """What Python's filters say of a warning with this text, from this line of a module."""
    for action, message, category, where, number in warnings.filters:
        rules: list[Any] = [(message, text), (where, module)]
        fits = issubclass(FallbackWarning, category) and number in (0, line)
        if fits and all(rule is None or rule.match(value) for rule, value in rules):
            return action
    return "default"


# The lines that were warned of: Python would warn for each text, and again when a library changes
# its filters. Whoever records warnings is told anew.
_lines: set[tuple[str, int]] = set()
_shown: list[Any] = [None]


def _is_first(file: str, line: int) -> bool:
    shows = getattr(warnings, "_showwarnmsg_impl", None)
    if _shown[0] != shows:
        _shown[0] = shows
        _lines.clear()
    known = (file, line) in _lines
    _lines.add((file, line))
    return not known
