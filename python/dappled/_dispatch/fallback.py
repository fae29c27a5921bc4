"""NumPy's functions on our arrays: gathered, on metadata, or on local pieces."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

from dappled._dispatch.callsite import call_from_user_frame
from dappled._dispatch.convert import NumPyCall
from dappled._dispatch.meta import as_meta
from dappled._dispatch.numpy_facts import (
    COMPUTED,
    ELEMENT_WISE,
    GATHERED,
    METADATA_ONLY,
    NOT_ELEMENT_WISE_STRINGS,
    PIECEWISE,
    VIEWS,
    WRITTEN,
)
from dappled._ndarray.core import core, ndarray
from dappled._ranks.map_blocks import is_distributed, map_blocks_with_common_dtype
from dappled._ranks.on_root import call_on_root

Function = Callable[..., Any]


def gathered(function: Function, module: str = "dappled") -> Function:
    """NumPy's function on gathered arrays."""
    name = function.__name__
    label = f"{module}.{name}"
    converter = _ArgumentConverter(function)

    def is_shared(args: tuple[Any, ...]) -> bool:
        return module == "dappled.linalg" and core.ranks() > 1 and any(map(is_distributed, args))

    def call(*args: Any, **kwargs: Any) -> Any:
        if core.ranks() > 1 and has_read_only_target(converter.written(args, kwargs)):
            crossed(*as_meta((args, kwargs)))
        return crossed(args, kwargs)

    def crossed(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        numpy_call = NumPyCall(label, converter.views)
        over, named = converter.convert(numpy_call, args, kwargs)
        act = (
            functools.partial(call_on_root, call_from_user_frame)
            if is_shared(args)
            else call_from_user_frame
        )
        result = act(function, *over, **named)
        numpy_call.write_back()
        return numpy_call.from_numpy(result)

    return with_numpy_metadata(call, function, module, GATHERED)


def for_libraries(function: Function) -> Function:
    """NumPy's function on NumPy arrays, for libraries; only an `out` of ours is returned.

    On several ranks each computes the whole result.
    """
    label = f"numpy.{function.__name__}"
    converter = _ArgumentConverter(function)

    def call(*args: Any, **kwargs: Any) -> Any:
        numpy_call = NumPyCall(label, writeable=True)
        over, named = converter.convert(numpy_call, args, kwargs)
        result = function(*over, **named)
        numpy_call.write_back()
        return kwargs["out"] if isinstance(kwargs.get("out"), ndarray) else result

    return call


def has_read_only_target(written: Iterable[Any]) -> bool:
    """Whether an array to be written is distributed and read-only.

    NumPy raises whatever the values, so metadata arrays show it before anything is gathered.
    """
    return any(is_distributed(one) and not one._writeable for one in written)


def on_metadata(function: Function, module: str = "dappled") -> Function:
    """A function that depends on shapes and dtypes alone: nothing is gathered."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*as_meta(args), **as_meta(kwargs))

    return with_numpy_metadata(call, function, module)


def on_local_pieces(function: Function, module: str = "dappled") -> Function:
    """A function that is element-wise in all of its arguments: NumPy's on local pieces."""
    otherwise = gathered(function, module)

    def call(*args: Any, **kwargs: Any) -> Any:
        if core.ranks() > 1 and any(map(is_distributed, args)) and "out" not in kwargs:
            result = map_blocks_with_common_dtype(function, args, kwargs)
            if result is not NotImplemented:
                return result
        return otherwise(*args, **kwargs)

    return with_numpy_metadata(call, function, module, PIECEWISE)


def adopt(function: Function, module: str = "dappled") -> Function:
    """Our wrapper of a NumPy function, of the kind that it needs."""
    name = function.__name__
    if name in METADATA_ONLY:
        return on_metadata(function, module)
    texts = module in ("dappled.char", "dappled.strings") and name not in NOT_ELEMENT_WISE_STRINGS
    make = on_local_pieces if texts or name in ELEMENT_WISE else gathered
    return make(function, module)


def with_numpy_metadata(
    ours: Function, function: Function, module: str, execution: str | None = None
) -> Function:
    """A function of ours with the name, docstring and signature of NumPy's.

    `execution` says how it runs on several ranks, for `dappled coverage`.
    """
    ours.__name__ = ours.__qualname__ = function.__name__
    ours.__doc__ = function.__doc__
    ours.__module__ = module
    ours.__dict__["__wrapped__"] = function
    ours.__dict__["__execution__"] = execution or getattr(function, "__execution__", COMPUTED)
    return ours


_OVERWRITES = "overwrite_input"


class _ArgumentConverter:
    """Converts a function's arguments; knows which of them it writes."""

    def __init__(self, function: Function) -> None:
        self.views = function.__name__ in VIEWS
        self._function = function
        self._written_names: set[Any] = {"out", *WRITTEN.get(function.__name__, ())}

    @functools.cached_property
    def _parameters(self) -> list[str]:
        try:
            return list(inspect.signature(self._function).parameters)
        except ValueError:  # a C function without a signature
            return []

    def convert(
        self, numpy_call: NumPyCall, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """The arguments as NumPy takes them."""
        positions = {name: position for position, name in enumerate(self._parameters[: len(args)])}
        written = self._written_names | {
            positions[name] for name in self._written_names if name in positions
        }
        # Arguments are lent for reading only.
        if _OVERWRITES in kwargs:
            kwargs = {**kwargs, _OVERWRITES: False}
        elif _OVERWRITES in positions:
            at = positions[_OVERWRITES]
            args = (*args[:at], False, *args[at + 1 :])
        return numpy_call.convert_arguments(args, kwargs, written)

    def written(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The arguments that the function writes."""
        named = [*zip(self._parameters, args, strict=False), *kwargs.items()]
        return [value for name, value in named if name in self._written_names]
