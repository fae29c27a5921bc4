"""Decorator for implementations of NumPy functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dappled._dispatch.fallback import adopt, with_numpy_metadata
from dappled._interop.duck_arrays import all_as_dappled
from dappled._ndarray.core import core, ndarray

Function = Callable[..., Any]


def implements(
    function: Function, module: str = "dappled", *, names_file: bool = False
) -> Callable[[Function], Function]:
    """Makes a function that implements a NumPy function, with NumPy's as its fallback.

    The implementation returns NotImplemented for rare, special or invalid arguments: NumPy then
    computes the result or raises the error. Ranks compare the arguments of a call; with
    `names_file` the function compares file names itself, and raises an error that a program can
    handle.
    """
    otherwise = adopt(function, module)

    def decorate(ours: Function) -> Function:
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                result = ours(*args, **kwargs) if names_file else core.called(ours, args, kwargs)
            except TypeError as error:
                if error.__traceback__ and error.__traceback__.tb_next:
                    raise
                result = NotImplemented  # the arguments do not match: NumPy raises
            if result is not NotImplemented:
                return result
            if isinstance(kwargs.get("like"), ndarray):
                del kwargs["like"]
                return call(*args, **kwargs)  # creates arrays of ours
            output = all_as_dappled(args) if core.ranks() > 1 else args
            return otherwise(*args, **kwargs) if output is args else call(*output, **kwargs)

        return with_numpy_metadata(call, function, module)

    return decorate
