"""Element-wise selection, clipping and rounding; scans; argmax and argmin."""

from __future__ import annotations

from typing import Any

import numpy

from dappled._dispatch.callsite import call_from_user_frame
from dappled._dispatch.implements import implements
from dappled._dispatch.meta import small_meta
from dappled._ndarray.core import core, is_communicable, ndarray, ufuncs, write_into
from dappled._ndarray.core import where as where_array
from dappled._ndarray.memory_order import flags_of
from dappled._ranks.map_blocks import is_distributed, map_blocks
from dappled._routines.broadcasting import fits
from dappled._routines.creation import NATIVE_KINDS, asarray
from dappled._routines.indexing import nonzero
from dappled._routines.ufunc.reduce import arg_reduce_distributed

_SCALARS = (bool, int, float, complex)


@implements(numpy.where)
def where(condition: Any, x: Any = None, y: Any = None, /) -> Any:
    if x is None and y is None and isinstance(condition, ndarray):
        return nonzero(condition) if condition.ndim and condition._held is None else NotImplemented
    if not any(isinstance(value, ndarray) for value in (condition, x, y)) or x is None or y is None:
        return NotImplemented
    chosen = (value if type(value) in _SCALARS else asarray(value) for value in (x, y))
    return _select(asarray(condition), *chosen)


def _select(condition: Any, x: Any, y: Any) -> Any:
    """By the core, or by NumPy on local pieces."""
    result = where_array(condition, x, y)
    several = core.ranks() > 1 and any(map(is_distributed, (condition, x, y)))
    return (
        map_blocks(numpy.where, (condition, x, y), {}, order="K")
        if result is NotImplemented and several
        else result
    )


@implements(numpy.copyto)
def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> Any:
    if not isinstance(dst, ndarray) or not dst.flags.writeable:
        return NotImplemented
    while isinstance(src, ndarray) and src.ndim > dst.ndim and len(src) == 1:
        src = src[0]
    if not _is_castable(dst, src, casting) and (src := _cast(dst, src, casting)) is NotImplemented:
        return NotImplemented
    if where is True:
        # As an array: NumPy stores a float for a float32 scalar in an array of objects.
        dst[...] = numpy.asarray(src) if isinstance(src, numpy.generic) else src
        return None
    mask = asarray(where, bool if type(where) in (list, tuple) else None)
    if mask.dtype != bool or numpy.broadcast_shapes(mask.shape, dst.shape) != dst.shape:
        return NotImplemented
    chosen = _select(mask, asarray(src, dst.dtype), dst)
    if chosen is NotImplemented:
        return NotImplemented
    dst[...] = chosen
    return None


# Casting rules that allow every safe cast.
_PERMISSIVE_CASTING = ("safe", "same_kind", "unsafe")


def _is_castable(dst: Any, src: Any, casting: str) -> bool:
    """Whether `src` is castable by its dtype alone."""
    if type(src) in _SCALARS and casting in _PERMISSIVE_CASTING:
        kinds = NATIVE_KINDS if casting == "unsafe" else "fc"
        # A cast makes an integer of any float, Python of few.
        whole = type(src) is float and dst.dtype.kind in "iu"
        return type(src) is not complex and dst.dtype.kind in kinds and not whole
    if not isinstance(src, ndarray | numpy.ndarray | numpy.generic):
        return False
    return fits(src.shape, dst.shape) and (
        src.dtype == dst.dtype
        or (
            src.ndim == 0
            and casting in _PERMISSIVE_CASTING
            and numpy.can_cast(src.dtype, dst.dtype)
        )
    )


def _cast(dst: Any, src: Any, casting: str) -> Any:
    """The value to assign to a distributed array, in its dtype; or NumPy's error."""
    given = src if isinstance(src, ndarray) else numpy.asarray(src)
    known = (
        is_communicable(given.dtype) and is_communicable(dst.dtype) and fits(given.shape, dst.shape)
    )
    if core.ranks() == 1 or not any(map(is_distributed, (dst, src))) or not known:
        return NotImplemented
    result = small_meta(dst)
    call_from_user_frame(numpy.copyto, result, small_meta(given) if given.ndim else src, casting)
    return asarray(given).astype(dst.dtype) if given.ndim else result.reshape(-1)[0]


def clip(self: Any, min: Any = None, max: Any = None, out: Any = None, **kwargs: Any) -> Any:
    if self.dtype.kind in "iu":
        bounds = numpy.iinfo(self.dtype)
        # A Python integer outside the dtype's range is no bound; arithmetic with it would raise.
        min = None if type(min) is int and min <= bounds.min else min
        max = None if type(max) is int and max >= bounds.max else max
    limits = [limit for limit in (min, max) if limit is not None]
    name = "clip" if len(limits) == 2 else "positive" if not limits else _ONE_SIDED[min is None]
    return ufuncs[name](self, *limits, out=out, **kwargs)


_ONE_SIDED = {True: "minimum", False: "maximum"}


def round(self: Any, decimals: Any = 0, out: Any = None) -> Any:
    """Rounds by scaling, as NumPy does; integers and complex numbers on local pieces."""
    if type(decimals) is not int or (out is not None and not is_distributed(out)):
        return NotImplemented
    if out is not None and self.dtype.kind in "iu" and out.shape == self.shape:
        # NumPy raises for some dtypes of `out`.
        numpy.round(numpy.empty(0, self.dtype), decimals, numpy.empty(0, out.dtype))
    # NumPy's scaled result is in C order unless the array is in Fortran order; complex and unscaled
    # results keep the order.
    kind = self.dtype.kind
    scales = decimals < 0 or (decimals > 0 and kind not in "iu")
    flags = flags_of(self)
    ordered = flags.c_contiguous or flags.f_contiguous
    moves = out is None and scales and kind != "c" and not ordered
    return write_into(_round(self.copy("A") if moves else self, decimals), out)


def _round(self: Any, decimals: int) -> Any:
    if self.dtype.kind in "iuc" and is_distributed(self):
        return map_blocks(lambda part: part.round(decimals), (self,), {}, order="K")
    if self.dtype.kind != "f":
        return NotImplemented
    if decimals == 0:
        return ufuncs["rint"](self)
    if not self.dtype.isnative:  # NumPy rounds in the native byte order
        return _round(self.astype(self.dtype.newbyteorder("=")), decimals).astype(self.dtype)
    scale = 10.0 ** abs(decimals)
    forth, back = ("multiply", "divide") if decimals > 0 else ("divide", "multiply")
    return ufuncs[back](ufuncs["rint"](ufuncs[forth](self, scale)), scale)


def accumulate(self: Any, ufunc: str, axis: Any, dtype: Any, out: Any) -> Any:
    """The running total along one axis, or of the flattened array."""
    if axis is not None and (self.ndim == 0 or not is_integer_axis(axis)):
        return NotImplemented
    row = self.reshape(-1) if axis is None else self
    return ufuncs[ufunc].accumulate(row, 0 if axis is None else axis, dtype, out=out)


def cumsum(self: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return accumulate(self, "add", axis, dtype, out)


def cumprod(self: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return accumulate(self, "multiply", axis, dtype, out)


def is_integer_axis(axis: Any) -> bool:
    """Whether an axis is an integer; NumPy does not accept a bool."""
    return isinstance(axis, int | numpy.integer) and type(axis) is not bool


def _arg_reduce(name: str, a: Any, axis: Any, out: Any, keepdims: Any) -> Any:
    plain = isinstance(a, ndarray) and (axis is None or is_integer_axis(axis))
    if not plain or a.ndim == 0 or (out is not None and not is_distributed(a)):
        return NotImplemented
    if isinstance(out, ndarray) and a.size:
        find = getattr(numpy, name)  # NumPy may raise
        call_from_user_frame(find, small_meta(a), axis, small_meta(out), keepdims=keepdims)
    result = core.arg_reduce(a, name, axis, keepdims is True)
    output = arg_reduce_distributed(name, a, axis, keepdims is True) if result is None else result
    return write_into(output, out, casts=True)


@implements(numpy.argmax)
def argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    return _arg_reduce("argmax", a, axis, out, keepdims)


@implements(numpy.argmin)
def argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    return _arg_reduce("argmin", a, axis, out, keepdims)


@implements(numpy.count_nonzero)
def count_nonzero(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    if not isinstance(a, ndarray) or (a._whole and axis is None and not keepdims):
        return NotImplemented
    is_text = numpy.issubdtype(a.dtype, numpy.character)
    result = a != a.dtype.type() if is_text else a.astype(bool, copy=False)
    return result.sum(axis=axis, dtype=numpy.intp, keepdims=keepdims)


def conj(self: Any, *out: Any) -> Any:
    """The complex conjugate; a real array itself, as in NumPy."""
    if len(out) > 1 or self.dtype.kind not in NATIVE_KINDS:
        return NotImplemented
    if out and out[0] is not None:
        return ufuncs["conjugate"](self, out=out[0])
    return ufuncs["conjugate"](self) if self.dtype.kind == "c" else self


conjugate = conj
