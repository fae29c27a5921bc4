"""NumPy's random numbers for arrays in pieces: the same stream, of which each rank keeps its part.

Every rank draws all numbers, chunk by chunk, so that its generator is afterwards where NumPy's is;
no rank has more of them than its piece and a chunk. Where one number is one step of the generator,
it skips what is not its own.
"""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from dappled._array import core, into, is_moved
from dappled._crossing import Proxy
from dappled._fallback import dressed, gathered, numpys
from dappled._foreign import is_for_library
from dappled._order import flags_of
from dappled._parameters import many
from dappled._piecewise import in_pieces
from dappled._shuffling import ORDERING, ordering
from dappled._small_integers import narrow
from dappled._states import State
from dappled._tables import PIECEWISE
from dappled.protocol import Distribution

Function = Callable[..., Any]

# So many at a time: of truth values NumPy makes 32 of a word, which no chunk may cut.
_CHUNK = 1 << 18
# Arguments that are lists, the same for all numbers that are drawn.
_LISTS = ("alpha", "pvals", "colors", "p", "a")
# Whose arithmetic is on all samples together, so that bits may depend on how many there are.
_TOGETHER = {"multivariate_normal"}
# Shapes are their arguments.
_SHAPES = {"rand": "random_sample", "randn": "standard_normal"}
_ALIASES = {"ranf": "random_sample", "sample": "random_sample"}
_NUMBERS = {int, float}
_SKIPPING = ("PCG64", "PCG64DXSM")


def draws(function: Any) -> bool:
    """Whether a function of `numpy.random` draws as many numbers as it is told."""
    name = function.__name__
    return name in _SHAPES or (name not in _TOGETHER and "size" in _parameters(function))


def drawing(function: Function, module: str) -> Function:
    """Our function in the place of one that draws."""
    otherwise, library = gathered(function, module), numpys(function)
    name, parameters = function.__name__, _parameters(function)

    def call(*args: Any, **kwargs: Any) -> Any:
        found = NotImplemented
        if core.ranks() == 1 and _are_numbers(args, kwargs):
            made = function(args[0]._numpy, *args[1:], **kwargs)
            return made if type(made) is not numpy.ndarray or is_for_library() else _ours(made)
        if args and isinstance(args[0], Proxy) and is_for_library():
            return library(*args, **kwargs)
        if core.ranks() > 1:
            found = _drawn(_Draw(function, name, parameters, args, kwargs))
        return otherwise(*args, **kwargs) if found is NotImplemented else found

    return dressed(call, function, module, PIECEWISE)


def _by_generator(function: Function, otherwise: Function, module: str) -> Function:
    """A method of a generator, which gives NumPy's arrays to libraries and ours to the program."""
    library = numpys(function)

    def call(*args: Any, **kwargs: Any) -> Any:
        return (library if is_for_library() else otherwise)(*args, **kwargs)

    return dressed(call, otherwise, module)


def _are_numbers(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a method of a generator is given numbers alone, so that nothing need cross over."""
    own = bool(args) and isinstance(args[0], Proxy)
    return own and _NUMBERS.issuperset(map(type, (*args[1:], *kwargs.values())))


def _ours(made: Any) -> Any:
    return core.wrap(made, True)


def of_random(function: Function, module: str) -> Function:
    """Our function in the place of one of `numpy.random`, or of a method of its generators."""
    if function.__name__ in _ALIASES:
        alias = drawing(getattr(numpy.random, _ALIASES[function.__name__]), module)
        return dressed(lambda *args, **kwargs: alias(*args, **kwargs), function, module, PIECEWISE)
    ordered = function.__name__ in ORDERING
    made = (drawing if draws(function) else gathered)(function, module)
    if draws(function) and not ordered:
        return made
    made = ordering(function, made, module) if ordered else made
    is_method = not isinstance(getattr(function, "__self__", None), numpy.random.RandomState)
    return _by_generator(function, made, module) if is_method else made


def _parameters(function: Any) -> list[str]:
    try:
        return [*inspect.signature(function).parameters]
    except (TypeError, ValueError):
        return []


class _Draw:
    """One call: who draws, with which arguments but the size."""

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
        if name in _SHAPES:
            self.name, self.named = _SHAPES[name], {}
            self.size = (args[1:] if parameters[:1] == ["self"] else args) or None

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape that is asked for; None if that is not all there is to it."""
        plain = all(_is_plain(name, value) for name, value in self.named.items())
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
        """Numbers with parameters of their own; as if they had not been drawn, if that is said."""
        before = State(self.generator) if undone else None
        try:
            return getattr(self.generator, self.name)(**{**self.named, **arrays})
        finally:
            if before is not None:
                before.bring_back()

    def note(self) -> None:
        """Has ranks compare the generator's state and the arguments. Collective."""
        named = [(name, _compared(value)) for name, value in self.named.items()]
        core.note(
            f"random numbers ({self.name})",
            State(self.generator).fingerprint() + repr((_compared(self.size), named)).encode(),
        )

    def argument(self, name: str, default: Any = None) -> Any:
        """An argument, by its name."""
        return self.named.get(name, default)


def _compared(value: Any) -> Any:
    """An argument as ranks compare it: of what has no short text, the class."""
    if isinstance(value, numpy.generic):
        return value.item()
    if isinstance(value, tuple | list):
        return [_compared(item) for item in value]
    return value if isinstance(value, int | float | str | None) else type(value).__name__


def _is_plain(name: str, value: Any) -> bool:
    """Whether an argument is the same for all numbers that are drawn. (A class, as a dtype may be,
    has an attribute `ndim`, of which NumPy makes no number.)
    """
    return isinstance(value, type) or numpy.ndim(value) <= (name in _LISTS)


def _drawn(draw: _Draw) -> Any:
    if in_pieces(draw.argument("out")):
        return _into(draw)
    if (found := many(draw)) is not None:
        draw.note()
        made = _joined(found.chunks(_CHUNK), found.count, found.like)
        return made if len(found.shape) == 1 else made.reshape(found.shape, copy=True)
    shape = draw.shape
    if shape is None or (draw.name not in ("dirichlet", "multinomial") and _has_arrays(draw)):
        return NotImplemented
    like = draw(0)
    count, each = math.prod(shape), like.shape[1:]
    if not is_moved(like.dtype) or core.blocks((*shape, *each), like.dtype.itemsize) is None:
        return NotImplemented
    draw.note()
    made = _joined(_chunks(draw, count, like.dtype), count, like, draw)
    return made if len(shape) == 1 else made.reshape((*shape, *each), copy=True)


def _joined(chunks: Iterator[tuple[int, Any]], count: int, like: Any, draw: Any = None) -> Any:
    """Our array of what comes in chunks, of which each rank keeps its part."""
    each = like.shape[1:]
    laid = Distribution((count, *each), "b" + "n" * len(each), nprocs=core.ranks())
    own = laid.local_shape(core.rank())
    start = laid.global_index(core.rank(), (0,) * len(own))[0] if own[0] else 0
    piece = numpy.empty(own, like.dtype)
    if draw is None or not _skipped(draw, piece, start, count):
        for at, values in chunks:
            first, last = max(at, start), min(at + len(values), start + own[0])
            if first < last:
                piece[first - start : last - start] = values[first - at : last - at]
    return core.from_piece(laid, piece, True)


def _into(draw: _Draw) -> Any:
    """Numbers drawn for an array that is there: of its shape and dtype, which is to be NumPy's."""
    out = draw.named.pop("out")
    kind = numpy.dtype(draw.argument("dtype") or float)
    right = out._writeable and flags_of(out).c_contiguous and out.dtype == kind
    if not right or draw.size not in (None, out.shape, out.size if out.ndim == 1 else None):
        return NotImplemented
    draw.size = out.shape
    return into(_drawn(draw), out)


def _has_arrays(draw: _Draw) -> bool:
    """Whether a parameter has a value for each number: then what is drawn depends on the place."""
    if draw.name in ("choice", "multivariate_hypergeometric"):
        return False
    return any(numpy.ndim(draw.argument(name, 0)) for name in ("a", "p", "alpha", "pvals"))


def _chunks(draw: _Draw, count: int, dtype: Any) -> Iterator[tuple[int, Any]]:
    """All numbers in order: the place of the first, and as many as make a chunk."""
    if draw.name in ("integers", "randint") and dtype.kind in "iu" and dtype.itemsize < 4:
        yield from narrow(draw, count, dtype, _CHUNK)
        return
    for at in range(0, count, _CHUNK):
        yield at, draw(min(_CHUNK, count - at))


def _skipped(draw: _Draw, piece: Any, start: int, count: int) -> bool:
    """Draws this rank's part alone, where a number is a step of the generator."""
    source: Any = getattr(draw.generator, "bit_generator", None)
    if type(source).__name__ not in _SKIPPING or draw.name not in ("random", "uniform"):
        return False
    if piece.dtype != numpy.float64 or not _is_finite(draw):
        return False
    before = source.state
    source.advance(start)
    for at in range(0, len(piece), _CHUNK):
        piece[at : at + _CHUNK] = draw(min(_CHUNK, len(piece) - at))
    source.advance(count - start - len(piece))
    # Half of a word may be left from before, of which skipping knows nothing.
    source.state = source.state | {name: before[name] for name in ("has_uint32", "uinteger")}
    return True


def _is_finite(draw: _Draw) -> bool:
    """Whether bounds are such that nothing is refused once it was skipped to."""
    low, high = draw.argument("low", 0.0), draw.argument("high", 1.0)
    return bool(numpy.isfinite(float(high) - float(low)))
