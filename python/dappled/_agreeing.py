"""What one rank computes with NumPy, and what comes of it on all: errors, warnings and calls."""

from __future__ import annotations

import contextlib
import pickle
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy

from dappled._array import core
from dappled._line import warn_again
from dappled._signals import warnings_matter

_CALLED = ("call", "log")


class Outcome(NamedTuple):
    """What came of a call on this rank, of which the others know nothing yet."""

    result: Any
    error: Exception | None
    notes: list[tuple[Any, ...]]

    def agree(self) -> Any:
        """The result, if no rank has an error; else the first rank's. Collective."""
        told = b"" if self.error is None and not self.notes else pickled(self.error, self.notes)
        sent = core.gather("an element-wise function", told)
        every = [pickle.loads(one) for one in sent if one]
        for say, *about in dict.fromkeys(note for _, notes in every for note in notes):
            _SAYS[say](*about)
        for error in (error for error, _ in every if error is not None):
            raise error
        return self.result


def tried(compute: Callable[[], Any]) -> Outcome:
    """What comes of a call; NumPy's warnings are kept where the program can tell."""
    result, error = None, None
    with _heard() as notes:
        try:
            result = compute()
        except Exception as raised:
            error = raised
    return Outcome(result, error, notes)


def agreed(compute: Callable[[], Any]) -> Any:
    """What a function gives on this rank, if it raises on none; else the first rank's error.

    What NumPy would warn of or call on one rank, it does on all, where the program can tell.
    """
    return tried(compute).agree()


def signalling(compute: Callable[[], Any]) -> Any:
    """The same of what can't raise but by what it signals: mostly it need not be told."""
    is_raised = "raise" in numpy.geterr().values()
    return agreed(compute) if is_raised or _is_told() else compute()


def _is_told() -> bool:
    return warnings_matter() or any(mode in _CALLED for mode in numpy.geterr().values())


@contextlib.contextmanager
def _heard() -> Iterator[list[tuple[Any, ...]]]:
    """Keeps what NumPy warns of and calls: each note is what to do, and what about."""
    notes: list[tuple[Any, ...]] = []
    if core.ranks() == 1 or not _is_told():
        yield notes
        return
    with warnings.catch_warnings(record=True) as caught, numpy.errstate(call=_Ear(notes)):
        warnings.simplefilter("always")
        yield notes
    notes += [("warn", str(w.message), w.category, w.filename, w.lineno) for w in caught]


class _Ear:
    """What NumPy calls or writes to in the place of what the program gave it."""

    def __init__(self, notes: list[tuple[Any, ...]]) -> None:
        self._notes = notes

    def __call__(self, kind: str, flag: int) -> None:
        self._notes.append(("call", kind, flag))

    def write(self, text: str) -> None:
        self._notes.append(("log", text))


_SAYS: dict[str, Callable[..., Any]] = {
    "warn": warn_again,
    "call": lambda kind, flag: numpy.geterrcall()(kind, flag),  # type: ignore[misc, operator]
    "log": lambda text: numpy.geterrcall().write(text),  # type: ignore[union-attr]
}


def pickled(error: Exception | None, notes: list[Any]) -> bytes:
    """An error and notes as they are sent to other ranks."""
    try:
        pickle.loads(found := pickle.dumps((error, notes)))
    except Exception:  # an error of which only the text can be told
        return pickle.dumps((RuntimeError(f"{type(error).__name__}: {error}"), notes))
    return found
