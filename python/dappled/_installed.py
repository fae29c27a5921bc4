"""What is installed, beside the program: libraries, which import NumPy themselves."""

from __future__ import annotations

import functools
import os
import site
import sys
from typing import Any

import numpy


def is_below(file: str, folder: str) -> bool:
    """Whether a file lies somewhere in a folder."""
    return file.startswith(os.path.join(folder, ""))


@functools.cache
def is_installed(file: str) -> bool:
    """Whether a file, by its real path, is a part of a library."""
    return any(is_below(file, folder) for folder in _libraries())


@functools.cache
def is_librarys(kind: Any) -> bool:
    """Whether a class is defined by a library, and not by the program."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return file is not None and is_installed(os.path.realpath(file))


@functools.cache
def _libraries() -> set[str]:
    """Where libraries are installed; this may be below the program's folder."""
    import sysconfig  # which takes a while, and is seldom needed

    paths = sysconfig.get_paths()
    folders = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    folders += [*site.getsitepackages(), site.getusersitepackages()]
    # These two may lie anywhere, if they were installed to be edited.
    folders += [os.path.dirname(numpy.__file__), os.path.dirname(__file__)]
    return {os.path.realpath(folder) for folder in folders}
