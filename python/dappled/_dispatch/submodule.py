"""`dappled.X` for `numpy.X`: names are looked up on first use."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from dappled._dispatch.registry import (
    complete_for_vars,
    lazy_getattr,
    lookup_in_submodule,
    public_names,
)


def submodule(
    module: str, theirs: str | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The `__getattr__`, `__dir__` and `__all__` of a submodule."""
    numpy_module = import_module(theirs or module.replace("dappled", "numpy", 1))
    names = public_names(numpy_module)

    def find(name: str) -> Any:
        return lookup_in_submodule(numpy_module, name, module)

    complete_for_vars(module, numpy_module)
    return lazy_getattr(module, find), lambda: names, names
