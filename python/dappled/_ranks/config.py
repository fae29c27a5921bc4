"""Settings, and the warning when a distributed array is gathered for NumPy."""

from __future__ import annotations

import os
import warnings
from typing import Any

from dappled._compat.cpython_private import warning_sink
from dappled._dispatch.callsite import program_frame, warn_at_line
from dappled._ndarray.core import core

CHOICES = {"fallback": ("warn", "error", "quiet")}


class FallbackWarning(UserWarning):
    """A distributed array was gathered on every rank for a function without distributed
    implementation.
    """


class FallbackError(RuntimeError):
    """A distributed array would be gathered, and `config.fallback` is 'error'."""


class Config:
    """The settings of this process.

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


def warn_about_gather(function: str, array: Any) -> None:
    """Warns or raises, as the settings say, that a function gathers a distributed array."""
    if config.fallback == "quiet" or core.ranks() == 1:
        return
    text = (
        f"{function} has no distributed implementation: gathering {array.shape} {array.dtype}, "
        f"{array.nbytes:,} bytes, on each of {core.ranks()} ranks"
    )
    if config.fallback == "error":
        raise FallbackError(text)
    frame = program_frame(2)
    file, line = frame.f_code.co_filename, frame.f_lineno
    action = _action(text, frame.f_globals.get("__name__", ""), line)
    if (
        core.rank() > 0 and action != "error"
    ):  # an error must be raised on every rank, or they would diverge
        return
    if action != "default" or _is_first(file, line):
        warn_at_line(text, FallbackWarning, file, line, frame.f_globals)


def _action(text: str, module: str, line: int) -> str:
    """The action of Python's warning filters for this text and line."""
    for action, message, category, where, line_number in warnings.filters:
        rules: list[Any] = [(message, text), (where, module)]
        fits = issubclass(FallbackWarning, category) and line_number in (0, line)
        if fits and all(rule is None or rule.match(value) for rule, value in rules):
            return action
    return "default"


# Lines that a warning was shown for: Python would warn for each text, and again when a library
# changes the filters. A new recorder gets the warning again.
_warned_lines: set[tuple[str, int]] = set()
_last_sink: list[Any] = [None]


def _is_first(file: str, line: int) -> bool:
    shows = warning_sink()
    if _last_sink[0] != shows:
        _last_sink[0] = shows
        _warned_lines.clear()
    known = (file, line) in _warned_lines
    _warned_lines.add((file, line))
    return not known
