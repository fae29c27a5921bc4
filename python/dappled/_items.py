"""Arrays of items: dtypes that only NumPy knows (dates, texts, structures, long doubles), where
they may be in pieces.

The core moves their bytes. Views are what NumPy makes of an array that has no memory (`_views`);
what depends on values, NumPy computes on the pieces (`_piecewise`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy

from dappled._array import core, ndarray
from dappled._array import empty as empty_array
from dappled._broadcasting import fitted
from dappled._line import called_by_user
from dappled._native import native
from dappled._order import common_order, flags_of, memory_order, strides_of, turned
from dappled._piecewise import applied, in_pieces
from dappled._views import getfield, viewed


def getitem(array: Any, key: Any) -> Any:
    """A part or an element; NotImplemented if the key is not basic."""
    if (found := _part(array, key)) is NotImplemented or not _is_element(key, found):
        return found
    # A structure is seen through NumPy's scalar of it: writing there would change a copy.
    value = core.unwrap(found).copy()
    value.flags.writeable = False
    return value[()]


def setitem(array: Any, key: Any, value: Any) -> Any:
    """Writes over a part; NotImplemented if the key is not basic, or only NumPy knows the value."""
    if (target := _part(array, key)) is NotImplemented:
        return NotImplemented
    return write(target, value, _is_element(key, target))


def write(target: Any, value: Any, is_element: bool = False) -> Any:
    """Writes a value over all of an array, cast as NumPy casts what is assigned."""
    if not target._items:  # a field that the core computes with
        target[...] = value
        return None
    if is_element and isinstance(value, ndarray) and value.ndim:
        numpy.zeros((), target.dtype)[()] = numpy.zeros(value.shape, value.dtype)  # mostly refused
    if not isinstance(value, ndarray):
        value = called_by_user(_made, value, target.dtype, is_element)
    elif value.dtype != target.dtype:
        value = astype(value, target.dtype)
    if value is NotImplemented or (isinstance(value, ndarray) and value._held is not None):
        return NotImplemented
    text = "could not broadcast input array from shape {} into shape {}"
    value = fitted(value, target.shape, text)
    if _has_holes(target.dtype):
        for name in target.dtype.names:
            target[name][...] = value[name]
    else:
        core.write_items(target, value)
    return None


def _has_holes(dtype: Any) -> bool:
    """Whether between the fields there may be others, which are not to be written."""
    names = dtype.names or ()
    return bool(names) and sum(dtype[name].itemsize for name in names) < dtype.itemsize


def _made(value: Any, dtype: Any, is_element: bool) -> Any:
    """A value of Python's or NumPy's in a dtype."""
    if not is_element:
        return numpy.asarray(value, dtype)
    made = numpy.empty((), dtype)
    made[()] = value
    return made


def _part(array: Any, key: Any) -> Any:
    """The part that a basic key selects: a view."""
    keys = key if isinstance(key, tuple) else (key,)
    if isinstance(key, str) or (type(key) is list and key and all(type(k) is str for k in key)):
        return viewed(operator.getitem, array, key)
    if not all(map(_is_basic, keys)):
        return NotImplemented
    # With an Ellipsis NumPy makes a view of an element, too.
    return viewed(operator.getitem, array, keys if ... in keys else (*keys, ...))


def _is_basic(key: Any) -> bool:
    if key is None or key is ... or isinstance(key, slice):
        return True
    other = isinstance(key, bool | numpy.bool | ndarray | numpy.ndarray)
    return hasattr(key, "__index__") and not other


def _is_element(key: Any, found: Any) -> bool:
    keys = key if isinstance(key, tuple) else (key,)
    return found.ndim == 0 and not any(k is ... or isinstance(k, str | list) for k in keys)


# Of texts, the values say which unit it is.
_UNITS_OF_VALUES = (numpy.dtype("M8"), numpy.dtype("m8"))


def astype(array: Any, dtype: Any, order: str = "K", **options: Any) -> Any:
    """A copy in another dtype, cast on the pieces; NotImplemented if NumPy has to see all of it."""
    options.pop("subok", None)
    to = numpy.dtype(dtype)
    if not options.get("copy", True) and to == array.dtype and order in ("K", "k"):
        return array
    if array._items and to == array.dtype:
        return copy(array, order)
    if not in_pieces(array) or (array.dtype.kind in "SU" and to in _UNITS_OF_VALUES):
        return NotImplemented
    options["copy"] = True
    axes = memory_order(array, array.ndim, order)

    def cast(part: Any) -> Any:
        return called_by_user(part.astype, dtype, **options)

    made = applied(cast, (array.transpose(axes),), {})
    return made if made is NotImplemented else turned(made, axes)


@native(numpy.ndarray.byteswap, "dappled.ndarray")
def byteswap(self: Any, inplace: Any = False) -> Any:
    if not in_pieces(self) or (inplace and not self._writeable):
        return NotImplemented
    axes = memory_order(self, self.ndim, "A")
    made = applied(numpy.ndarray.byteswap, (self.transpose(axes),), {})
    if made is NotImplemented:
        return made
    swapped = turned(made, axes)
    if not inplace:
        return swapped
    self[...] = swapped
    return self


@native(numpy.ndarray.setfield, "dappled.ndarray")
def setfield(self: Any, val: Any, /, dtype: Any, offset: Any = 0) -> Any:
    if not in_pieces(self) or not self._writeable:
        return NotImplemented
    getfield(self, dtype, offset)[...] = val
    return None


MEMBERS = {"byteswap": byteswap, "setfield": setfield}


def copy(array: Any, order: str = "C") -> Any:
    """A copy, its axes in the order that NumPy's letter means."""
    axes = memory_order(array, array.ndim, order)
    return turned(core.copy_items(array.transpose(axes)), axes)


def reshape(array: Any, *shape: Any, order: str = "C", copy: bool | None = None) -> Any:
    """A view where strides can say it, else of a copy."""
    if not copy:
        try:
            return viewed(numpy.ndarray.reshape, array, *shape, order=order, copy=False)
        except ValueError as error:
            if copy is False or "avoid creating a copy" not in str(error):
                raise
    columns = order in ("F", "f") or (order in ("A", "a") and flags_of(array).fnc)
    made = _METHODS["copy"](array, "F" if columns else "C")
    return viewed(numpy.ndarray.reshape, made, *shape, order=order, copy=False)


def _flat_order(array: Any, order: str) -> list[int]:
    """The axes in the order in which NumPy visits them; one that is repeated stays where it is."""
    axes = memory_order(array, array.ndim, order)
    if order in ("K", "k") and 0 in strides_of(array):
        return common_order([array], array.shape)
    return axes


def ravel(array: Any, order: str = "C") -> Any:
    rows = array.transpose(_flat_order(array, order))
    return rows.reshape(-1) if flags_of(rows).c_contiguous else flatten(array, order)


def flatten(array: Any, order: str = "C") -> Any:
    return copy(array.transpose(_flat_order(array, order))).reshape(-1)


def _view(name: str) -> Callable[..., Any]:
    return lambda array, *args: viewed(getattr(numpy.ndarray, name), array, *args)


_METHODS: dict[str, Callable[..., Any]] = {
    "astype": astype,
    "copy": copy,
    "flatten": flatten,
    "ravel": ravel,
    "reshape": reshape,
    **{name: _view(name) for name in ("diagonal", "squeeze", "swapaxes", "transpose")},
}


def method(array: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A method of NumPy's array; NotImplemented if NumPy has to see all of it."""
    return _METHODS[name](array, *args, **kwargs) if name in _METHODS else NotImplemented


def attribute(array: Any, name: str) -> Any:
    """`T`, `real` and `imag`."""
    if name == "T" or array.dtype.kind == "c":
        return viewed(operator.attrgetter(name), array)
    if name == "real":
        return array
    made = _zeros(array.shape, array.dtype)
    made._writeable = False
    return made


def _zeros(shape: tuple[int, ...], dtype: Any) -> Any:
    """On one rank only NumPy makes arrays of items, of which the memory is what it was."""
    return empty_array(shape, dtype) if core.ranks() > 1 else core.wrap(numpy.zeros(shape, dtype))


def item(array: Any, args: tuple[Any, ...]) -> Any:
    """One element as Python has it; NotImplemented if NumPy has words for the index."""
    key = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
    if len(key) == 1 and array.ndim != 1 and -array.size <= operator.index(key[0]) < array.size:
        key = numpy.unravel_index(key[0] % array.size, array.shape)
    if not key and array.size == 1:
        key = (0,) * array.ndim
    return array[tuple(map(int, key))].item() if len(key) == array.ndim else NotImplemented
