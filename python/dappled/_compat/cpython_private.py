"""Implementation details of CPython: frames, reference counts, code objects, `warnings`."""

from __future__ import annotations

import functools
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy

# References to a result while a call hands it back: the caller's, that of the module that converts
# it, and the argument of `sys.getrefcount`. With other counts results are copied, or, if an
# interpreter counts fewer, memory would be shared that the program still sees.
RESULT_REFERENCES = 3
_BASE_REFERENCES = 3  # the array's, the local variable's, and the argument's


def owns_memory_alone(array: Any, references: int) -> bool:
    """Whether nothing but the call that returns an array refers to it and to its memory."""
    if sys.getrefcount(array) > references + 1:  # one more is the parameter of this function
        return False
    base = array.base
    if base is None:
        return bool(array.flags.owndata)
    is_owner = type(base) is numpy.ndarray and base.flags.owndata
    return is_owner and sys.getrefcount(base) == _BASE_REFERENCES


_CALL = compile("function(*args, **kwargs)", "", "eval")


@functools.lru_cache(1000)
def call_code(file: str, line: int) -> types.CodeType:
    """Code of a call that tracebacks and warnings attribute to a line of a file.

    `code.replace` is documented as unstable. Warnings would name our files without it.
    """
    return _CALL.replace(co_filename=file, co_firstlineno=line)


def with_renamed_attribute(code: types.CodeType, old: str, new: str) -> types.CodeType:
    """Code that reads the attribute `new` instead of `old`.

    Instructions refer to names by index, and `code.replace` is documented as unstable.
    """
    names = tuple(new if name == old else name for name in code.co_names)
    constants = tuple(
        with_renamed_attribute(one, old, new) if isinstance(one, types.CodeType) else one
        for one in code.co_consts
    )
    return code.replace(co_names=names, co_consts=constants)


def warning_sink() -> Any:
    """The function that shows warnings; a method of a list while warnings are recorded.

    None where the module has no such function: warnings then count as not recorded.
    """
    return getattr(warnings, "_showwarnmsg_impl", None)


def keep_in_frame(frame: Any, name: str, make: Callable[[], Any]) -> Any:
    """An object that lives among a frame's local variables until its function returns.

    `name` must not be an identifier. Where a frame drops additions to `f_locals`, the object dies
    with the caller's reference, and writes back too early.
    """
    return frame.f_locals.setdefault(name, make())


def fill_sequence_slots(kind: type) -> None:
    """Fills the C slots of a sequence, which `bisect` and `reversed` use.

    CPython fills them when a Python function is assigned to the class, and keeps them when the
    class gets its own method back.
    """
    for name in ("__getitem__", "__len__"):
        method = vars(kind)[name]
        setattr(kind, name, lambda *args: None)
        setattr(kind, name, method)
