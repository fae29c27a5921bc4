"""A submodule of ours from NumPy's of the same name: found when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from dappled._names import complete_for_vars, lazily, of_submodule, public


def submodule(
    module: str, theirs: str | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The `__getattr__`, `__dir__` and `__all__` of a submodule."""
    numpy_module = import_module(theirs or module.replace("dappled", "numpy", 1))
    names = public(numpy_module)

    def find(name: str) -> Any:
        return of_submodule(numpy_module, name, module)

    complete_for_vars(module, numpy_module)
    return lazily(module, find), lambda: names, names
