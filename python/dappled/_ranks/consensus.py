"""Local NumPy calls whose errors, warnings and callbacks all ranks get alike."""

from __future__ import annotations

import contextlib
import pickle
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy

from dappled._dispatch.callsite import warn_again_at
from dappled._dispatch.errstate import are_warnings_observable
from dappled._ndarray.core import core

_CALLBACK_MODES = ("call", "log")


class Outcome(NamedTuple):
    """The outcome of a call on this rank, before the other ranks know it."""

    result: Any
    error: Exception | None
    notes: list[tuple[Any, ...]]

    def resolve(self) -> Any:
        """The result, if no rank raised; else the error of the first rank that did. Collective."""
        gathered = (
            b"" if self.error is None and not self.notes else pickle_error(self.error, self.notes)
        )
        sent = core.gather("an element-wise function", gathered)
        every = [pickle.loads(one) for one in sent if one]
        for say, *about in dict.fromkeys(note for _, notes in every for note in notes):
            _REPLAY[say](*about)
        for error in (error for error, _ in every if error is not None):
            raise error
        return self.result


def try_locally(compute: Callable[[], Any]) -> Outcome:
    """Calls a function; records its warnings where the program can observe them."""
    result, error = None, None
    with _recorded_events() as notes:
        try:
            result = compute()
        except Exception as raised:
            error = raised
    return Outcome(result, error, notes)


def collective_try(compute: Callable[[], Any]) -> Any:
    """Calls a function on every rank; if one raises, all raise the first rank's error.

    Warnings and callbacks of one rank happen on all, where the program can observe them.
    Collective.
    """
    return try_locally(compute).resolve()


def collective_errstate(compute: Callable[[], Any]) -> Any:
    """Like `collective_try`, for calls that raise only through `numpy.errstate`.

    Communicates only if an error or warning can be observed.
    """
    is_raised = "raise" in numpy.geterr().values()
    return collective_try(compute) if is_raised or _are_events_observable() else compute()


def _are_events_observable() -> bool:
    return are_warnings_observable() or any(
        mode in _CALLBACK_MODES for mode in numpy.geterr().values()
    )


@contextlib.contextmanager
def _recorded_events() -> Iterator[list[tuple[Any, ...]]]:
    """Records warnings and `errstate` callbacks as tuples: the action and its arguments."""
    notes: list[tuple[Any, ...]] = []
    if core.ranks() == 1 or not _are_events_observable():
        yield notes
        return
    with warnings.catch_warnings(record=True) as caught, numpy.errstate(call=_EventRecorder(notes)):
        warnings.simplefilter("always")
        yield notes
    notes += [("warn", str(w.message), w.category, w.filename, w.lineno) for w in caught]


class _EventRecorder:
    """Takes the place of the callback or log object that the program gave to `numpy.seterrcall`."""

    def __init__(self, notes: list[tuple[Any, ...]]) -> None:
        self._notes = notes

    def __call__(self, kind: str, flag: int) -> None:
        self._notes.append(("call", kind, flag))

    def write(self, text: str) -> None:
        self._notes.append(("log", text))


_REPLAY: dict[str, Callable[..., Any]] = {
    "warn": warn_again_at,
    "call": lambda kind, flag: numpy.geterrcall()(kind, flag),  # type: ignore[misc, operator]
    "log": lambda text: numpy.geterrcall().write(text),  # type: ignore[union-attr]
}


def pickle_error(error: Exception | None, notes: list[Any]) -> bytes:
    """An error and recorded events as bytes for other ranks."""
    try:
        pickle.loads(result := pickle.dumps((error, notes)))
    except Exception:  # an error that cannot be pickled: send its text
        return pickle.dumps((RuntimeError(f"{type(error).__name__}: {error}"), notes))
    return result
