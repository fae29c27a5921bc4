"""NumPy's random stream for distributed arrays, of which each rank keeps its piece.

Every rank draws all numbers, chunk by chunk, so its generator ends in NumPy's state; it stores its
piece and one chunk. Where one number is one step of the generator, it skips the other ranks'
numbers.
"""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from dappled._dispatch.convert import Proxy
from dappled._dispatch.fallback import for_libraries, gathered, with_numpy_metadata
from dappled._dispatch.numpy_facts import PIECEWISE
from dappled._interop.duck_arrays import is_called_by_library
from dappled._ndarray.core import core, is_communicable, write_into
from dappled._ndarray.memory_order import flags_of
from dappled._ranks.map_blocks import is_distributed
from dappled.protocol import Distribution
from dappled.random._array_parameters import draw_with_arrays
from dappled.random._narrow_integers import narrow_integers
from dappled.random._permutation import ORDER_FUNCTIONS, with_distributed_order
from dappled.random._state import GeneratorState

Function = Callable[..., Any]

# A multiple of 32: NumPy takes 32 booleans from one word.
_CHUNK_ELEMENTS = 1 << 18
# Sequence arguments that are common to all numbers.
_SEQUENCE_PARAMETERS = ("alpha", "pvals", "colors", "p", "a")
# Results may depend on the number of samples.
_JOINT_ARITHMETIC = {"multivariate_normal"}
# Functions whose arguments are the shape.
_SHAPE_ARGUMENTS = {"rand": "random_sample", "randn": "standard_normal"}
_ALIASES = {"ranf": "random_sample", "sample": "random_sample"}
_NUMBER_TYPES = {int, float}
_ADVANCEABLE = ("PCG64", "PCG64DXSM")


def takes_size(function: Any) -> bool:
    """Whether a function of `numpy.random` has a parameter `size`."""
    name = function.__name__
    return name in _SHAPE_ARGUMENTS or (
        name not in _JOINT_ARITHMETIC and "size" in _parameters(function)
    )


def distributed_draw(function: Function, module: str) -> Function:
    """Our function for one that draws."""
    otherwise, library = gathered(function, module), for_libraries(function)
    name, parameters = function.__name__, _parameters(function)

    def call(*args: Any, **kwargs: Any) -> Any:
        result = NotImplemented
        if core.ranks() == 1 and _are_numbers(args, kwargs):
            output = function(args[0]._numpy, *args[1:], **kwargs)
            return (
                output
                if type(output) is not numpy.ndarray or is_called_by_library()
                else _wrap(output)
            )
        if args and isinstance(args[0], Proxy) and is_called_by_library():
            return library(*args, **kwargs)
        if core.ranks() > 1:
            result = _draw(_Draw(function, name, parameters, args, kwargs))
        return otherwise(*args, **kwargs) if result is NotImplemented else result

    return with_numpy_metadata(call, function, module, PIECEWISE)


def _generator_method(function: Function, otherwise: Function, module: str) -> Function:
    """A generator method that returns NumPy arrays to libraries and ours to the program."""
    library = for_libraries(function)

    def call(*args: Any, **kwargs: Any) -> Any:
        return (library if is_called_by_library() else otherwise)(*args, **kwargs)

    return with_numpy_metadata(call, otherwise, module)


def _are_numbers(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a generator method gets numbers only, so nothing needs conversion."""
    own = bool(args) and isinstance(args[0], Proxy)
    return own and _NUMBER_TYPES.issuperset(map(type, (*args[1:], *kwargs.values())))


def _wrap(result: Any) -> Any:
    return core.wrap(result, True)


def adapt_random_function(function: Function, module: str) -> Function:
    """Our function for one of `numpy.random`, or for a method of its generators."""
    if function.__name__ in _ALIASES:
        alias = distributed_draw(getattr(numpy.random, _ALIASES[function.__name__]), module)
        return with_numpy_metadata(
            lambda *args, **kwargs: alias(*args, **kwargs), function, module, PIECEWISE
        )
    ordered = function.__name__ in ORDER_FUNCTIONS
    result = (distributed_draw if takes_size(function) else gathered)(function, module)
    if takes_size(function) and not ordered:
        return result
    result = with_distributed_order(function, result, module) if ordered else result
    is_method = not isinstance(getattr(function, "__self__", None), numpy.random.RandomState)
    return _generator_method(function, result, module) if is_method else result


def _parameters(function: Any) -> list[str]:
    try:
        return [*inspect.signature(function).parameters]
    except (TypeError, ValueError):
        return []


class _Draw:
    """One call: the generator, and all arguments but the size."""

    def __init__(
        self, function: Function, name: str, parameters: list[str], args: Any, kwargs: Any
    ) -> None:
        self.named: dict[str, Any] = dict(zip(parameters, args, strict=False)) | kwargs
        self.generator = getattr(function, "__self__", None)
        own = self.named.pop("self", None)
        if isinstance(own, Proxy):
            self.generator = own._numpy
        elif own is not None:
            self.generator = own
        self.size: Any = self.named.pop("size", None)
        self.name = name
        if name in _SHAPE_ARGUMENTS:
            self.name, self.named = _SHAPE_ARGUMENTS[name], {}
            self.size = (args[1:] if parameters[:1] == ["self"] else args) or None

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The requested shape; None if arguments are not common to all numbers."""
        plain = all(_is_common_parameter(name, value) for name, value in self.named.items())
        whole = self.named.get("replace", True) is True and self.named.get("out") is None
        if self.size is None or not plain or not whole or self.generator is None:
            return None
        try:
            given = self.size if numpy.iterable(self.size) else (self.size,)
            shape = tuple(map(operator.index, given))
        except TypeError:
            return None
        return shape if all(length >= 0 for length in shape) else None

    def __call__(self, count: int) -> Any:
        return getattr(self.generator, self.name)(size=count, **self.named)

    def with_arrays(self, arrays: dict[str, Any], undone: bool = False) -> Any:
        """Draws with array parameters; restores the generator if `undone`."""
        before = GeneratorState(self.generator) if undone else None
        try:
            return getattr(self.generator, self.name)(**{**self.named, **arrays})
        finally:
            if before is not None:
                before.restore()

    def note(self) -> None:
        """Lets ranks compare the generator's state and the arguments. Collective."""
        named = [(name, _comparable(value)) for name, value in self.named.items()]
        core.note(
            f"random numbers ({self.name})",
            GeneratorState(self.generator).fingerprint()
            + repr((_comparable(self.size), named)).encode(),
        )

    def argument(self, name: str, default: Any = None) -> Any:
        """An argument by name."""
        return self.named.get(name, default)


def _comparable(value: Any) -> Any:
    """An argument as ranks compare it; the class name if it has no short text."""
    if isinstance(value, numpy.generic):
        return value.item()
    if isinstance(value, tuple | list):
        return [_comparable(item) for item in value]
    return value if isinstance(value, int | float | str | None) else type(value).__name__


def _is_common_parameter(name: str, value: Any) -> bool:
    """Whether an argument is common to all numbers.

    A class, as a dtype may be, has an attribute `ndim`, which is not an integer.
    """
    return isinstance(value, type) or numpy.ndim(value) <= (name in _SEQUENCE_PARAMETERS)


def _draw(draw: _Draw) -> Any:
    if is_distributed(draw.argument("out")):
        return _draw_into(draw)
    if (result := draw_with_arrays(draw)) is not None:
        draw.note()
        output = _array_from_chunks(result.chunks(_CHUNK_ELEMENTS), result.count, result.like)
        return output if len(result.shape) == 1 else output.reshape(result.shape, copy=True)
    shape = draw.shape
    if shape is None or (draw.name not in ("dirichlet", "multinomial") and _has_arrays(draw)):
        return NotImplemented
    like = draw(0)
    count, each = math.prod(shape), like.shape[1:]
    if not is_communicable(like.dtype) or core.blocks((*shape, *each), like.dtype.itemsize) is None:
        return NotImplemented
    draw.note()
    output = _array_from_chunks(_chunks(draw, count, like.dtype), count, like, draw)
    return output if len(shape) == 1 else output.reshape((*shape, *each), copy=True)


def _array_from_chunks(
    chunks: Iterator[tuple[int, Any]], count: int, like: Any, draw: Any = None
) -> Any:
    """Our array from chunks, of which each rank keeps its piece."""
    each = like.shape[1:]
    distribution = Distribution((count, *each), "b" + "n" * len(each), nprocs=core.ranks())
    own = distribution.local_shape(core.rank())
    start = distribution.global_index(core.rank(), (0,) * len(own))[0] if own[0] else 0
    piece = numpy.empty(own, like.dtype)
    if draw is None or not _draw_by_skipping(draw, piece, start, count):
        for at, values in chunks:
            first, last = max(at, start), min(at + len(values), start + own[0])
            if first < last:
                piece[first - start : last - start] = values[first - at : last - at]
    return core.from_piece(distribution, piece, True)


def _draw_into(draw: _Draw) -> Any:
    """Draws into an array of the requested shape and dtype."""
    out = draw.named.pop("out")
    kind = numpy.dtype(draw.argument("dtype") or float)
    right = out._writeable and flags_of(out).c_contiguous and out.dtype == kind
    if not right or draw.size not in (None, out.shape, out.size if out.ndim == 1 else None):
        return NotImplemented
    draw.size = out.shape
    return write_into(_draw(draw), out)


def _has_arrays(draw: _Draw) -> bool:
    """Whether a parameter has a value for each number."""
    if draw.name in ("choice", "multivariate_hypergeometric"):
        return False
    return any(numpy.ndim(draw.argument(name, 0)) for name in ("a", "p", "alpha", "pvals"))


def _chunks(draw: _Draw, count: int, dtype: Any) -> Iterator[tuple[int, Any]]:
    """All numbers in order, in chunks: the index of the first, and the values."""
    if draw.name in ("integers", "randint") and dtype.kind in "iu" and dtype.itemsize < 4:
        yield from narrow_integers(draw, count, dtype, _CHUNK_ELEMENTS)
        return
    for at in range(0, count, _CHUNK_ELEMENTS):
        yield at, draw(min(_CHUNK_ELEMENTS, count - at))


def _draw_by_skipping(draw: _Draw, piece: Any, start: int, count: int) -> bool:
    """Draws this rank's piece only, where a number is one step of the generator."""
    source: Any = getattr(draw.generator, "bit_generator", None)
    if type(source).__name__ not in _ADVANCEABLE or draw.name not in ("random", "uniform"):
        return False
    if piece.dtype != numpy.float64 or not _is_finite(draw):
        return False
    before = source.state
    source.advance(start)
    for at in range(0, len(piece), _CHUNK_ELEMENTS):
        piece[at : at + _CHUNK_ELEMENTS] = draw(min(_CHUNK_ELEMENTS, len(piece) - at))
    source.advance(count - start - len(piece))
    # A half of a word may be left over, which `advance` ignores.
    source.state = source.state | {name: before[name] for name in ("has_uint32", "uinteger")}
    return True


def _is_finite(draw: _Draw) -> bool:
    """Whether the bounds are valid, so nothing raises after skipping."""
    low, high = draw.argument("low", 0.0), draw.argument("high", 1.0)
    return bool(numpy.isfinite(float(high) - float(low)))
