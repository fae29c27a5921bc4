"""Floating-point errors on all ranks, as `numpy.errstate` requests."""

from __future__ import annotations

import sys
import types
import warnings
from typing import Any

import numpy

from dappled._compat.cpython_private import warning_sink
from dappled._dispatch.callsite import warn_at_line, warn_at_user_line
from dappled._ndarray.core import core

_DESCRIPTIONS = {"divide": "divide by zero", "over": "overflow"}
_DESCRIPTIONS |= {"under": "underflow", "invalid": "invalid value"}
_FLAGS = {"divide": 1, "over": 2, "under": 4, "invalid": 8}


def are_warnings_observable() -> bool:
    """Whether a RuntimeWarning may change the program: it raises, or is recorded.

    Operations are then computed at their call site, on every rank.
    """
    recorded = are_warnings_recorded()
    for action, message, category, module, line in warnings.filters:
        if issubclass(RuntimeWarning, category):
            if action == "error" or (recorded and action != "ignore"):
                return True
            if message is None and module is None and not line:
                return False
    return recorded


def are_warnings_recorded() -> bool:
    """Whether the program records warnings, as inside `pytest.warns`."""
    return not isinstance(warning_sink(), types.FunctionType | None)


def report_floating_point_error(
    operation: str, kind: str, mode: str, place: Any, may_raise: bool
) -> None:
    """Warns, raises or calls back for a floating-point error, as `numpy.errstate` requests.

    A warning raises only if `may_raise`, whatever the filters are by now.
    """
    message = f"{_DESCRIPTIONS[kind]} encountered in {operation}"
    if mode == "raise":
        raise FloatingPointError(message)
    if mode == "warn":
        (_warn_at_site if may_raise else _warn_late)(message, place)
    elif mode == "print":
        print(f"Warning: {message}")
    else:
        _call_handler(numpy.geterrcall(), operation, kind, mode)


def _call_handler(called: Any, operation: str, kind: str, mode: str) -> None:
    """Calls the object given to `numpy.seterrcall`, or writes to it."""
    if called is None:
        raise NameError(
            f"python callback specified for {_DESCRIPTIONS[kind]} (in  {operation}) but no "
            "function found."
        )
    if mode == "call":
        called(_DESCRIPTIONS[kind], _FLAGS[kind])
    else:
        called.write(f"Warning: {_DESCRIPTIONS[kind]} encountered in {operation}\n")


def _warn_late(message: str, place: Any) -> None:
    """Warns about an operation that was requested earlier, under other filters.

    It does not raise, and on several ranks it is not recorded, because other ranks may not warn.
    """
    if core.ranks() > 1 and are_warnings_recorded():
        with warnings.catch_warnings():
            warnings.showwarning = _show  # type: ignore[assignment]
            _warn_anyway(message, place)
    else:
        _warn_anyway(message, place)


def _warn_anyway(message: str, place: Any) -> None:
    try:
        _warn_at_site(message, place)
    except RuntimeWarning:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            _warn_at_site(message, place)


def _show(message: Any, category: Any, file: str, line: int, *_: Any) -> None:
    sys.stderr.write(warnings.formatwarning(message, category, file, line))


def _warn_at_site(message: str, place: Any) -> None:
    if place is None:
        warn_at_user_line(message, RuntimeWarning)
        return
    code, instruction, module, address = place
    line = next(
        (line for start, stop, line in code.co_lines() if start <= instruction < stop and line),
        code.co_firstlineno,
    )
    scope = _namespace_at(address, module) or {"__name__": module or "<unknown>"}
    warn_at_line(message, RuntimeWarning, code.co_filename, line, scope)


def _namespace_at(address: int, module: str | None) -> dict[str, Any] | None:
    """The globals at an address, if they belong to a module or to a running function.

    A call site has only the address of its globals, because a reference would keep their arrays
    alive. The warning is recorded in their registry if they still exist.
    """
    names = getattr(sys.modules.get(module or ""), "__dict__", None)
    if id(names) == address:
        return names
    frame: types.FrameType | None = sys._getframe()
    while frame and id(frame.f_globals) != address:
        frame = frame.f_back
    return frame and frame.f_globals
