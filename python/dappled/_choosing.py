"""Element by element from one array or another: where, copyto, clip, round; and along an axis."""

from __future__ import annotations

from typing import Any

import numpy

from dappled._array import core, few, into, is_moved, ndarray, ufuncs
from dappled._array import where as where_array
from dappled._broadcasting import fits
from dappled._creation import NATIVE_KINDS, asarray
from dappled._folding import placed
from dappled._line import called_by_user
from dappled._native import native
from dappled._order import flags_of
from dappled._piecewise import applied, in_pieces
from dappled._taking import nonzero

_SCALARS = (bool, int, float, complex)


@native(numpy.where)
def where(condition: Any, x: Any = None, y: Any = None, /) -> Any:
    if x is None and y is None and isinstance(condition, ndarray):
        return nonzero(condition) if condition.ndim and condition._held is None else NotImplemented
    if not any(isinstance(value, ndarray) for value in (condition, x, y)) or x is None or y is None:
        return NotImplemented
    chosen = (value if type(value) in _SCALARS else asarray(value) for value in (x, y))
    return _chosen(asarray(condition), *chosen)


def _chosen(condition: Any, x: Any, y: Any) -> Any:
    """By the core, or on the pieces by NumPy."""
    found = where_array(condition, x, y)
    several = core.ranks() > 1 and any(map(in_pieces, (condition, x, y)))
    return (
        applied(numpy.where, (condition, x, y), {}, order="K")
        if found is NotImplemented and several
        else found
    )


@native(numpy.copyto)
def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> Any:
    if not isinstance(dst, ndarray) or not dst.flags.writeable:
        return NotImplemented
    while isinstance(src, ndarray) and src.ndim > dst.ndim and len(src) == 1:
        src = src[0]
    if not _is_plain(dst, src, casting) and (src := _cast(dst, src, casting)) is NotImplemented:
        return NotImplemented
    if where is True:
        dst[...] = src
        return None
    mask = asarray(where, bool if type(where) in (list, tuple) else None)
    if mask.dtype != bool or numpy.broadcast_shapes(mask.shape, dst.shape) != dst.shape:
        return NotImplemented
    chosen = _chosen(mask, asarray(src, dst.dtype), dst)
    if chosen is NotImplemented:
        return NotImplemented
    dst[...] = chosen
    return None


# Rules of casting that let through whatever is safe.
_LENIENT = ("safe", "same_kind", "unsafe")


def _is_plain(dst: Any, src: Any, casting: str) -> bool:
    """Whether all of `src` can be cast without a word, by its dtype alone."""
    if type(src) in _SCALARS and casting in _LENIENT:
        kinds = NATIVE_KINDS if casting == "unsafe" else "fc"
        # A whole number is made of any float by a cast, but of few by Python.
        whole = type(src) is float and dst.dtype.kind in "iu"
        return type(src) is not complex and dst.dtype.kind in kinds and not whole
    if not isinstance(src, ndarray | numpy.ndarray | numpy.generic):
        return False
    return fits(src.shape, dst.shape) and (
        src.dtype == dst.dtype
        or (src.ndim == 0 and casting in _LENIENT and numpy.can_cast(src.dtype, dst.dtype))
    )


def _cast(dst: Any, src: Any, casting: str) -> Any:
    """What is to be written into an array in pieces, in its dtype; or NumPy's error."""
    given = src if isinstance(src, ndarray) else numpy.asarray(src)
    known = is_moved(given.dtype) and is_moved(dst.dtype) and fits(given.shape, dst.shape)
    if core.ranks() == 1 or not any(map(in_pieces, (dst, src))) or not known:
        return NotImplemented
    made = few(dst)
    called_by_user(numpy.copyto, made, few(given) if given.ndim else src, casting)
    return asarray(given).astype(dst.dtype) if given.ndim else made.reshape(-1)[0]


def clip(self: Any, min: Any = None, max: Any = None, out: Any = None, **kwargs: Any) -> Any:
    if self.dtype.kind in "iu":
        bounds = numpy.iinfo(self.dtype)
        # A Python integer beyond the dtype bounds nothing, where arithmetic would refuse it.
        min = None if type(min) is int and min <= bounds.min else min
        max = None if type(max) is int and max >= bounds.max else max
    limits = [limit for limit in (min, max) if limit is not None]
    name = "clip" if len(limits) == 2 else "positive" if not limits else _BOUNDED[min is None]
    return ufuncs[name](self, *limits, out=out, **kwargs)


_BOUNDED = {True: "minimum", False: "maximum"}


def round(self: Any, decimals: Any = 0, out: Any = None) -> Any:
    """By scaling, as NumPy does; whole numbers and complex ones NumPy does on the pieces."""
    if type(decimals) is not int or (out is not None and not in_pieces(out)):
        return NotImplemented
    if out is not None and self.dtype.kind in "iu" and out.shape == self.shape:
        # NumPy does not write all that it makes.
        numpy.round(numpy.empty(0, self.dtype), decimals, numpy.empty(0, out.dtype))
    # NumPy's lies in C order where it scales, unless all of it lies in F order; complex numbers and
    # what needs no scaling lie as they did.
    kind = self.dtype.kind
    scales = decimals < 0 or (decimals > 0 and kind not in "iu")
    flags = flags_of(self)
    ordered = flags.c_contiguous or flags.f_contiguous
    moves = out is None and scales and kind != "c" and not ordered
    return into(_round(self.copy("A") if moves else self, decimals), out)


def _round(self: Any, decimals: int) -> Any:
    if self.dtype.kind in "iuc" and in_pieces(self):
        return applied(lambda part: part.round(decimals), (self,), {}, order="K")
    if self.dtype.kind != "f":
        return NotImplemented
    if decimals == 0:
        return ufuncs["rint"](self)
    if not self.dtype.isnative:  # NumPy rounds into memory of that dtype
        return _round(self.astype(self.dtype.newbyteorder("=")), decimals).astype(self.dtype)
    scale = 10.0 ** abs(decimals)
    forth, back = ("multiply", "divide") if decimals > 0 else ("divide", "multiply")
    return ufuncs[back](ufuncs["rint"](ufuncs[forth](self, scale)), scale)


def accumulated(self: Any, ufunc: str, axis: Any, dtype: Any, out: Any) -> Any:
    """The running total of one axis, or of all elements in a row."""
    if axis is not None and (self.ndim == 0 or not is_axis(axis)):
        return NotImplemented
    row = self.reshape(-1) if axis is None else self
    return ufuncs[ufunc].accumulate(row, 0 if axis is None else axis, dtype, out=out)


def cumsum(self: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return accumulated(self, "add", axis, dtype, out)


def cumprod(self: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return accumulated(self, "multiply", axis, dtype, out)


def is_axis(axis: Any) -> bool:
    """Whether an axis is a number; a truth is none to NumPy."""
    return isinstance(axis, int | numpy.integer) and type(axis) is not bool


def _place(name: str, a: Any, axis: Any, out: Any, keepdims: Any) -> Any:
    plain = isinstance(a, ndarray) and (axis is None or is_axis(axis))
    if not plain or a.ndim == 0 or (out is not None and not in_pieces(a)):
        return NotImplemented
    if isinstance(out, ndarray) and a.size:
        find = getattr(numpy, name)  # which may refuse
        called_by_user(find, few(a), axis, few(out), keepdims=keepdims)
    found = core.arg_reduce(a, name, axis, keepdims is True)
    made = placed(name, a, axis, keepdims is True) if found is None else found
    return into(made, out, casts=True)


@native(numpy.argmax)
def argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    return _place("argmax", a, axis, out, keepdims)


@native(numpy.argmin)
def argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    return _place("argmin", a, axis, out, keepdims)


@native(numpy.count_nonzero)
def count_nonzero(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    if not isinstance(a, ndarray) or (a._whole and axis is None and not keepdims):
        return NotImplemented
    is_text = numpy.issubdtype(a.dtype, numpy.character)
    found = a != a.dtype.type() if is_text else a.astype(bool, copy=False)
    return found.sum(axis=axis, dtype=numpy.intp, keepdims=keepdims)


def conj(self: Any, *out: Any) -> Any:
    """Real numbers are their own: the array itself, as NumPy has it."""
    if len(out) > 1 or self.dtype.kind not in NATIVE_KINDS:
        return NotImplemented
    if out and out[0] is not None:
        return ufuncs["conjugate"](self, out=out[0])
    return ufuncs["conjugate"](self) if self.dtype.kind == "c" else self


conjugate = conj
