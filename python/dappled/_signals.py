"""What operations signal, and what the program wants done about it: on all ranks alike."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy

from dappled._array import core
from dappled._line import warn, warn_at

_SAYS = {"divide": "divide by zero", "over": "overflow"}
_SAYS |= {"under": "underflow", "invalid": "invalid value"}
_BITS = {"divide": 1, "over": 2, "under": 4, "invalid": 8}


def warnings_matter() -> bool:
    """Whether a RuntimeWarning may change what the program does: it is an error, or recorded.

    Then operations are computed where they stand, on every rank.
    """
    recorded = is_recorded()
    for action, message, category, module, line in warnings.filters:
        if issubclass(RuntimeWarning, category):
            if action == "error" or (recorded and action != "ignore"):
                return True
            if message is None and module is None and not line:
                return False
    return recorded


def is_recorded() -> bool:
    """Whether the program records warnings, as inside `pytest.warns`.

    `warnings.catch_warnings(record=True)` puts a list in the place of what shows them.
    """
    return type(getattr(warnings, "_showwarnmsg_impl", _warn)) is not type(_warn)


def report(operation: str, kind: str, mode: str, place: Any, may_raise: bool) -> None:
    """Does what `numpy.errstate` asks for about what an operation signalled.

    A warning raises only if it may, whatever the filters say by now.
    """
    message = f"{_SAYS[kind]} encountered in {operation}"
    if mode == "raise":
        raise FloatingPointError(message)
    if mode == "warn":
        (_warn if may_raise else _warn_late)(message, place)
    elif mode == "print":
        print(f"Warning: {message}")
    else:
        _tell(numpy.geterrcall(), operation, kind, mode)


def _tell(called: Any, operation: str, kind: str, mode: str) -> None:
    """Calls what `numpy.seterrcall` was given, or writes to it."""
    if called is None:
        raise NameError(
            f"python callback specified for {_SAYS[kind]} (in  {operation}) but no function found."
        )
    if mode == "call":
        called(_SAYS[kind], _BITS[kind])
    else:
        called.write(f"Warning: {_SAYS[kind]} encountered in {operation}\n")


def _warn_late(message: str, place: Any) -> None:
    """Warns of what was asked for before the filters were as they are: it does not raise, and on
    several ranks it is not recorded, as other ranks may know nothing of it.
    """
    if core.ranks() > 1 and is_recorded():
        with warnings.catch_warnings():
            warnings.showwarning = _show  # type: ignore[assignment]
            _warn_anyway(message, place)
    else:
        _warn_anyway(message, place)


def _warn_anyway(message: str, place: Any) -> None:
    try:
        _warn(message, place)
    except RuntimeWarning:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            _warn(message, place)


def _show(message: Any, category: Any, file: str, line: int, *_: Any) -> None:
    sys.stderr.write(warnings.formatwarning(message, category, file, line))


def _warn(message: str, place: Any) -> None:
    if place is None:
        warn(message, RuntimeWarning)
        return
    code, instruction, scope = place
    line = next(
        (line for start, stop, line in code.co_lines() if start <= instruction < stop and line),
        code.co_firstlineno,
    )
    warn_at(message, RuntimeWarning, code.co_filename, line, scope)
