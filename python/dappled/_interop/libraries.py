"""Which files belong to installed libraries, as opposed to the program."""

from __future__ import annotations

import functools
import os
import site
import sys
from typing import Any

import numpy


def is_inside(file: str, folder: str) -> bool:
    """Whether a file is in a folder or below it."""
    return file.startswith(os.path.join(folder, ""))


@functools.cache
def is_installed(file: str) -> bool:
    """Whether a file, by its real path, belongs to a library."""
    return any(is_inside(file, folder) for folder in _library_folders())


@functools.cache
def is_library_class(kind: Any) -> bool:
    """Whether a library, not the program, defines a class."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return file is not None and is_installed(os.path.realpath(file))


@functools.cache
def _library_folders() -> set[str]:
    """The folders of installed libraries, which may be below the program's folder."""
    import sysconfig  # slow to import, and seldom needed

    paths = sysconfig.get_paths()
    folders = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    folders += [*site.getsitepackages(), site.getusersitepackages()]
    # Editable installs may be anywhere.
    package = os.path.dirname(os.path.dirname(__file__))
    folders += [os.path.dirname(numpy.__file__), package]
    return {os.path.realpath(folder) for folder in folders}
