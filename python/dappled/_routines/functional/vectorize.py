"""np.vectorize: a user's function on local pieces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from dappled._compat.numpy_private import NO_VALUE
from dappled._dispatch.convert import NumPyCall
from dappled._dispatch.numpy_facts import PIECEWISE
from dappled._ndarray.core import core
from dappled._ranks.map_blocks import (
    is_distributed,
    map_blocks,
    map_blocks_with_common_dtype,
    references_distributed_array,
)
from dappled._routines.functional.side_effects import check_side_effects
from dappled._routines.functional.signatures import vectorize_rows


class vectorize(numpy.vectorize):  # the name is NumPy's
    __doc__ = numpy.vectorize.__doc__
    __execution__ = PIECEWISE

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function over all elements of our arrays."""
        pyfunc: Any = self.pyfunc
        if pyfunc is NO_VALUE:  # a decorator with options: this call passes the function
            return super().__call__(*args, **kwargs)
        if core.ranks() > 1 and any(map(is_distributed, (*args, *kwargs.values()))):
            result = self._on_ranks(args, kwargs)
            if result is not NotImplemented:
                return result
        numpy_call = NumPyCall("dappled.vectorize")
        over = {name: numpy_call.to_numpy(value) for name, value in kwargs.items()}
        return numpy_call.from_numpy(super().__call__(*map(numpy_call.to_numpy, args), **over))

    def _on_ranks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The call on local pieces; NotImplemented if the function accesses distributed arrays."""
        ours: Any = self
        function, given, fixed = _with_fixed_arguments(ours.pyfunc, ours.excluded, args, kwargs)
        alone = not references_distributed_array(ours.pyfunc) and not any(
            map(_contains_distributed, fixed)
        )
        if ours.signature is not None:
            return vectorize_rows(ours, function, given, alone)
        if not alone or any(numpy.size(value) == 0 for value in given):
            return NotImplemented
        check = check_side_effects(ours.pyfunc, "vectorize")
        first = function(*map(_first, given))
        check()
        otypes = ours.otypes or _first_otypes(first)
        vectorized = numpy.vectorize(function, otypes=otypes)

        def each(*parts: Any) -> Any:
            result = vectorized(*parts)
            check()
            return result

        if set(otypes) & set("MSUVm"):  # their size or unit depends on values
            return map_blocks_with_common_dtype(each, given, {}, _arrays(first, otypes))
        return map_blocks(each, given, {}, order="K")


def _with_fixed_arguments(
    function: Callable[..., Any], excluded: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Callable[..., Any], tuple[Any, ...], list[Any]]:
    """A function of the varying arguments, these arguments, and the fixed ones."""
    if not kwargs and not excluded:
        return function, args, []
    positions = [position for position in range(len(args)) if position not in excluded]
    names = [name for name in kwargs if name not in excluded]

    def call(*values: Any) -> Any:
        given = dict(enumerate(args)) | dict(zip(positions, values, strict=False))
        named = dict(zip(names, values[len(positions) :], strict=True))
        return function(*given.values(), **kwargs | named)

    varied = (*(args[position] for position in positions), *(kwargs[name] for name in names))
    fixed = [value for position, value in enumerate(args) if position in excluded]
    return call, varied, [*fixed, *(kwargs[name] for name in kwargs if name in excluded)]


def _contains_distributed(value: Any) -> bool:
    """Whether a value contains a distributed array."""
    items = value if type(value) in (list, tuple) else [value]
    return any(map(references_distributed_array, value.values() if type(value) is dict else items))


def _first(value: Any) -> Any:
    return value[(0,) * value.ndim] if isinstance(value, core.ndarray) else numpy.ravel(value)[0]


def _first_otypes(outputs: Any) -> str:
    """The dtypes of all results: those of the first one, as in NumPy."""
    several = outputs if isinstance(outputs, tuple) else (outputs,)
    return "".join(numpy.asarray(output).dtype.char for output in several)


def _arrays(outputs: Any, otypes: str) -> Any:
    """Outputs for one element as arrays of these dtypes."""
    if not isinstance(outputs, tuple):
        return numpy.asarray([outputs]).astype(otypes)
    return tuple(
        numpy.asarray([one]).astype(kind) for one, kind in zip(outputs, otypes, strict=True)
    )
