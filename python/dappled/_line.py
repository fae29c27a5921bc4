"""The line of the program that asked: warnings name it, whoever warns.

NumPy warns about the frame that called it, which would be one of ours. So the call is made by a
frame that says it was the user's: the same instructions, with the file and line of the program.
"""

from __future__ import annotations

import functools
import os
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any

from dappled._installed import is_installed

_PACKAGES = ("dappled", "numpy")


_CALL = compile("function(*args, **kwargs)", "", "eval")


def called_by_user(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls a function of NumPy's from the innermost line that is not a library's."""
    frame = users_frame(2)
    names = {"function": function, "args": args, "kwargs": kwargs}
    return eval(_at(frame.f_code.co_filename, frame.f_lineno), frame.f_globals, names)


def warn(text: str, category: type[Warning]) -> None:
    """Warns of the innermost line that is not a library's."""
    frame = users_frame(2)
    warn_at(text, category, frame.f_code.co_filename, frame.f_lineno, frame.f_globals)


def program_frame(level: int) -> types.FrameType:
    """The innermost frame of the program: of no library, from so many levels above this one on."""
    first = users_frame(level + 1)
    frame: types.FrameType | None = first
    while frame and is_installed(os.path.realpath(frame.f_code.co_filename)):
        frame = frame.f_back
    return frame or first  # a library that is run as a program


def warn_again(text: str, category: type[Warning], file: str, line: int) -> None:
    """Warns of a line of the program, as a rank was warned that was called from where we are."""
    warn_at(text, category, file, line, users_frame(2).f_globals)


def warn_at(
    text: str, category: type[Warning], file: str, line: int, scope: dict[str, Any]
) -> None:
    """Warns of a line of the program, which may have been run a while ago."""
    registry = scope.setdefault("__warningregistry__", {})
    module = scope.get("__name__", "<unknown>")
    warnings.warn_explicit(text, category, file, line, module, registry)


def users_frame(level: int) -> types.FrameType:
    """The innermost frame that is not a library's, from so many levels above this one on."""
    frame = sys._getframe(level)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in _PACKAGES:
        frame = frame.f_back
    return frame


@functools.lru_cache(1000)
def _at(file: str, line: int) -> types.CodeType:
    return _CALL.replace(co_filename=file, co_firstlineno=line)
