"""What the core hands to NumPy: operations, keys and dtypes that are not native."""

import numpy

from . import _core
from ._fallback import unwrapped, wrapped

_PLAIN = (numpy.ndarray, numpy.generic)


def ufunc(name, args):
    """Do an operator by NumPy's ufunc of that name."""
    return call(getattr(numpy, name), args, None)


def call(function, args, kwargs):
    """Call a ufunc, ours or NumPy's, with all that NumPy allows."""
    numpy_function = getattr(function, "_numpy", function)
    return _through(numpy_function, args, kwargs or {})


def _through(function, args, kwargs):
    given = kwargs.get("out")
    outs = given if isinstance(given, tuple) else (given,)
    outs += tuple(args[getattr(function, "nin", len(args)) :])
    result = function(*unwrapped(args, outs), **unwrapped(kwargs, outs))
    return wrapped(result, outs)


def getitem(array, key):
    """Take what a key that is not basic selects: always a copy, but for fields."""
    return wrapped(unwrapped(array)[unwrapped(key)])


def setitem(array, key, value):
    """Write through a key that is not basic, or a value that may not fit."""
    memory = _core.unwrap(array, True)
    memory[unwrapped(key)] = unwrapped(value)
    write_back(array, memory)


def write_back(array, memory):
    """Give back what was changed in a gathered copy."""
    if _core.ranks() > 1 and array._held is None:
        array[...] = memory


def store(name, array, value):
    """`array op= value` where the shapes or dtypes do not fit as they are."""
    memory = _core.unwrap(array, True)
    getattr(numpy, "copyto")
    if not memory.flags.writeable:
        raise ValueError("output array is read-only")
    memory = numpy.positive(unwrapped(value), out=memory) if False else _stored(name, memory, unwrapped(value))
    write_back(array, memory)


def _stored(name, memory, value):
    value = numpy.asarray(value)
    if not numpy.can_cast(value.dtype, memory.dtype, "same_kind"):
        raise numpy._core._exceptions._UFuncOutputCastingError(
            getattr(numpy, name), "same_kind", value.dtype, memory.dtype, 0
        )
    if numpy.broadcast_shapes(value.shape, memory.shape) != memory.shape:
        raise ValueError(
            f"non-broadcastable output operand with shape {_shape(memory.shape)} "
            f"doesn't match the broadcast shape {_shape(value.shape)}"
        )
    memory[...] = value
    return memory


def _shape(lengths):
    return str(tuple(lengths)).replace(" ", "")


def method(array, name, args, kwargs=None):
    """Call a method of NumPy's array."""
    return wrapped(getattr(unwrapped(array), name)(*unwrapped(args), **unwrapped(kwargs or {})))


def attribute(array, name):
    """Read an attribute of NumPy's array."""
    return wrapped(getattr(unwrapped(array), name))


def item(array, args):
    """`item` by an index, or NumPy's error."""
    return unwrapped(array).item(*args)
