"""Our own function in the place of NumPy's, for the calls that it understands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dappled._array import core, ndarray
from dappled._fallback import adopt, dressed
from dappled._foreign import all_ours

Function = Callable[..., Any]


def native(
    function: Function, module: str = "dappled", *, names_file: bool = False
) -> Callable[[Function], Function]:
    """Makes a function that NumPy's stands behind.

    Ours returns NotImplemented for what is rare, special or wrong: NumPy then does it, or says
    what is wrong. So ours is about the common case only, and errors are NumPy's.

    Ranks compare the arguments of a call. A function that `names_file` compares the names itself,
    and raises an error from which a program can go on.
    """
    otherwise = adopt(function, module)

    def decorate(ours: Function) -> Function:
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                result = ours(*args, **kwargs) if names_file else core.called(ours, args, kwargs)
            except TypeError as error:
                if error.__traceback__ and error.__traceback__.tb_next:
                    raise
                result = NotImplemented  # the arguments do not fit: NumPy has words for it
            if result is not NotImplemented:
                return result
            if isinstance(kwargs.get("like"), ndarray):
                del kwargs["like"]
                return call(*args, **kwargs)  # which makes arrays of ours
            made = all_ours(args) if core.ranks() > 1 else args
            return otherwise(*args, **kwargs) if made is args else call(*made, **kwargs)

        return dressed(call, function, module)

    return decorate
