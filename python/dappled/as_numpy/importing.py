"""Who imports NumPy, and what it is given."""

from __future__ import annotations

import builtins
import functools
import importlib
import os
import sys
import types
from collections.abc import Mapping
from typing import Any

from dappled import _core
from dappled._interop.libraries import is_inside, is_installed
from dappled.as_numpy.facade import facade_of


class Program:
    """The modules that belong to the program: those in its folder, and those of its package."""

    def __init__(self, folder: str | None, package: str | None = None) -> None:
        self._folder = folder and os.path.realpath(folder)
        self._package = package

    def has(self, names: Mapping[str, Any]) -> bool:
        """Whether a module with these globals belongs to it."""
        name = names.get("__name__") or ""
        if name in ("__main__", "__mp_main__") or name.partition(".")[0] == self._package:
            return True
        return self._has_file(names.get("__file__") or "")

    def _has_file(self, file: str) -> bool:
        return file != "" and self._folder is not None and _is_part(file, self._folder)


@functools.cache
def _is_part(file: str, of: str) -> bool:
    """Whether a file lies in a folder, and not in one of libraries."""
    file = os.path.realpath(file)
    return is_inside(file, of) and not is_installed(file)


def install(program: Program) -> None:
    """From now on NumPy means dappled in the modules of the program."""

    def replace(module: types.ModuleType, names: Mapping[str, Any] | None) -> types.ModuleType:
        if not names or "__name__" not in names:  # a call, or `exec` with globals of its own
            names = _of_a_module(sys._getframe(1))
        return facade_of(module) if names and program.has(names) else module

    builtins.__import__ = _core.Importer(builtins.__import__, replace)
    importlib.import_module = _import_module(importlib.import_module, replace)


def _of_a_module(frame: types.FrameType | None) -> Mapping[str, Any] | None:
    """The globals of the innermost frame whose globals are a module's."""
    while frame and "__name__" not in frame.f_globals:
        frame = frame.f_back
    return frame and frame.f_globals


def _import_module(original: Any, replace: Any) -> Any:
    @functools.wraps(original)
    def import_module(name: str, package: str | None = None) -> types.ModuleType:
        module = original(name, package)
        if name.partition(".")[0] != "numpy":
            return module  # type: ignore[no-any-return]
        return replace(module, sys._getframe(1).f_globals)  # type: ignore[no-any-return]

    return import_module
