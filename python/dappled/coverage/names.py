"""The public names of NumPy, and how each of them is computed."""

from __future__ import annotations

import types
import warnings
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy

from dappled._dispatch.registry import public_names
from dappled.coverage.execution import execution_of, execution_of_member

# NumPy's public modules, without names that `numpy` has itself.
MODULES = (
    *("", "linalg", "fft", "random", "lib", "lib.stride_tricks", "lib.scimath", "lib.npyio"),
    *("lib.format", "lib.array_utils", "lib.mixins", "lib.introspect", "lib.recfunctions"),
    *("strings", "char", "rec", "ma", "polynomial", "polynomial.polynomial"),
    *("polynomial.chebyshev", "polynomial.hermite", "polynomial.hermite_e"),
    *("polynomial.laguerre", "polynomial.legendre", "polynomial.polyutils"),
    *("testing", "ctypeslib", "dtypes", "exceptions", "typing"),
)
# Classes whose members are names of their own.
CLASSES = ("ndarray", "ufunc", "flatiter", "random.Generator", "random.RandomState")


def table() -> dict[str, str]:
    """The execution of each name, in the order of modules and of the alphabet.

    >>> found = table()
    >>> found["ndarray.reshape"], found["linalg.LinAlgError"]
    ('native', 'not arrays')
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return dict([*_functions(), *_members()])


def _functions() -> Iterator[tuple[str, str]]:
    for module in MODULES:
        theirs, ours = (_module(package, module) for package in ("numpy", "dappled"))
        for name in public_names(theirs):
            value = getattr(theirs, name)
            known = module and name in numpy.__all__ and value is getattr(numpy, name)
            if not known and not isinstance(value, types.ModuleType):
                yield f"{module}.{name}".lstrip("."), execution_of(value, getattr(ours, name), name)


def _members() -> Iterator[tuple[str, str]]:
    for path in CLASSES:
        theirs, ours = (_class(package, path) for package in ("numpy", "dappled"))
        for name in sorted(dir(theirs)):
            if not name.startswith("_"):
                yield f"{path}.{name}", execution_of_member(ours, name)


def _module(package: str, path: str) -> Any:
    return import_module(f"{package}.{path}".rstrip("."))


def _class(package: str, path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(_module(package, module), name)
