"""The user's call site: warnings and errors name the program's line.

NumPy attributes warnings to the frame that called it, which would be ours. The call is made from a
code object that has the file and line of the program.
"""

from __future__ import annotations

import os
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any

from dappled._compat.cpython_private import call_code
from dappled._interop.libraries import is_installed

_PACKAGES = ("dappled", "numpy")


def call_from_user_frame(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls a NumPy function as if from the innermost line outside NumPy and this package."""
    frame = user_frame(2)
    names = {"function": function, "args": args, "kwargs": kwargs}
    return eval(call_code(frame.f_code.co_filename, frame.f_lineno), frame.f_globals, names)


def warn_at_user_line(text: str, category: type[Warning]) -> None:
    """Warns at the innermost line outside NumPy and this package."""
    frame = user_frame(2)
    warn_at_line(text, category, frame.f_code.co_filename, frame.f_lineno, frame.f_globals)


def program_frame(level: int) -> types.FrameType:
    """The innermost frame of the program, `level` frames above or further out."""
    first = user_frame(level + 1)
    frame: types.FrameType | None = first
    while frame and is_installed(os.path.realpath(frame.f_code.co_filename)):
        frame = frame.f_back
    return frame or first  # a library that runs as the program


def warn_again_at(text: str, category: type[Warning], file: str, line: int) -> None:
    """Repeats another rank's warning at the same line."""
    warn_at_line(text, category, file, line, user_frame(2).f_globals)


def warn_at_line(
    text: str, category: type[Warning], file: str, line: int, scope: dict[str, Any]
) -> None:
    """Warns at a line of the program, which may have run earlier."""
    registry = scope.setdefault("__warningregistry__", {})
    module = scope.get("__name__", "<unknown>")
    warnings.warn_explicit(text, category, file, line, module, registry)


def user_frame(level: int) -> types.FrameType:
    """The innermost frame outside NumPy and this package, from `level` frames above on."""
    frame = sys._getframe(level)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in _PACKAGES:
        frame = frame.f_back
    return frame
