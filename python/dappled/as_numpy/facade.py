"""NumPy's modules with our names in them: what `import numpy` gives to a program."""

from __future__ import annotations

import functools
import types
from importlib import import_module
from typing import Any

from dappled._dispatch.registry import LazyModule, namespace_of


class Facade(LazyModule):
    """A module of NumPy's as a program sees it: public names are ours, the others NumPy's."""

    def __init__(self, theirs: types.ModuleType, ours: types.ModuleType) -> None:
        super().__init__(theirs.__name__, theirs.__doc__)
        for name in ("__all__", "__file__", "__path__", "__package__", "__spec__", "__loader__"):
            if hasattr(theirs, name):
                setattr(self, name, getattr(theirs, name))
        unfound = [name for name in vars(theirs) if not name.startswith("_")]
        namespace_of(self).update(_theirs=theirs, _ours=ours, _pending_names=unfound)

    def __getattr__(self, name: str) -> Any:
        return namespace_of(self).setdefault(name, facade_of(self._find(name)))

    def _find(self, name: str) -> Any:
        if not name.startswith("_"):  # `numpy.__version__` is NumPy's, and so is `numpy._core`
            try:
                return getattr(self._ours, name)
            except AttributeError:
                pass
        return getattr(self._theirs, name)

    def __dir__(self) -> list[str]:
        return dir(self._theirs)


def facade_of(value: Any) -> Any:
    """The facade of a module of NumPy's or ours; anything else, and modules that we do not have,
    as they are.
    """
    if not isinstance(value, types.ModuleType) or isinstance(value, Facade):
        return value
    top, _, rest = value.__name__.partition(".")
    return _made(rest) or value if top in ("numpy", "dappled") else value


@functools.cache
def _made(path: str) -> Facade | None:
    """The facade of `numpy.path`, if that is public and we have it."""
    if path.startswith("_") or "._" in path:
        return None
    try:
        theirs, ours = (import_module(f"{top}.{path}".rstrip(".")) for top in ("numpy", "dappled"))
    except ModuleNotFoundError:
        return None
    return Facade(theirs, ours)
