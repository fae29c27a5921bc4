"""One helper that compares every operation: the same program with NumPy and with Dappled.

A program is a function of the namespace and of arrays made in that namespace. Compared are the
bits of its values, dtypes, shapes, classes, whether results share memory with the arrays, the
warnings, and the exceptions with their texts.
"""

import re
import warnings
from dataclasses import dataclass

import dappled
import numpy

# Something to write into an array of each kind that it does not hold already.
MARKS = {"b": True, "O": "mark", "U": "mark", "S": b"mark", "M": "1999-09-09", "m": 999}


# Mistakes in a test program: equal on both sides, they would pass as the same behaviour.
MISTAKES = (NameError, SyntaxError, ImportError)


@dataclass(frozen=True)
class Outcome:
    """All that can be seen of one run."""

    value: object
    shared: object
    written: object
    warned: tuple
    raised: object


def run(np, program, make):
    """The outcome of a program in a namespace, with the arrays that `make` creates there."""
    value = shared = raised = None
    arrays = make(np)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        stay_deferred()
        try:
            result = program(np, *arrays)
            value = described(np, result)
            shared = [shares(array, part) for array in arrays for part in parts(np, result)]
        except Exception as error:
            check_program(error)
            raised = type(error).__name__, plain(str(error))
    written = [described(np, array) for array in arrays]
    # Ours come when the work is done, each once: order and number mean nothing.
    warned = tuple(sorted({(w.category.__name__, plain(str(w.message))) for w in caught}))
    return Outcome(value, shared, written, warned, raised)


def check_program(error):
    """Raises an error of the test program itself; errors of NumPy and of Dappled are compared."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    is_own = trace is None or "site-packages" not in trace.tb_frame.f_code.co_filename
    if isinstance(error, MISTAKES) and is_own:
        raise AssertionError(f"the test program is wrong: {error}") from error


def stay_deferred():
    """Hides from Dappled that warnings are recorded: it would compute everything eagerly.

    Not on several ranks, where one rank may be warned alone.
    """
    if dappled.comm.size == 1:
        record = warnings._showwarnmsg_impl
        warnings._showwarnmsg_impl = lambda message: record(message)


def difference(program, make):
    """None if both namespaces agree, else a description of the differences."""
    theirs, ours = run(numpy, program, make), run(dappled, program, make)
    if theirs == ours:
        return None
    return "\n".join(
        f"{name}: NumPy {getattr(theirs, name)}\n   Dappled {getattr(ours, name)}"
        for name in ("value", "shared", "written", "warned", "raised")
        if getattr(theirs, name) != getattr(ours, name)
    )


def differing(program, makers):
    """The makers, by name, with which a program differs, and the first of the differences."""
    found = {name: difference(program, make) for name, make in makers.items()}
    wrong = {name: text for name, text in found.items() if text}
    return f"{len(wrong)} differ, the first of them:\n{next(iter(wrong.items()))}" if wrong else ""


def outcome_of(act, *args):
    """The result of a call, or the class and text of its error."""
    try:
        return act(*args)
    except Exception as error:
        check_program(error)
        return type(error), str(error)


def plain(text):
    """A message without addresses and module names, which legitimately differ."""
    text = re.sub(r"0x[0-9a-fA-F]+", "0x", text)
    return re.sub(r"\b(numpy|dappled|standin)\.(_core\.)?", "", text)


def described(np, value):
    """A value as plain data, in which the two namespaces' arrays look the same."""
    if isinstance(value, np.ndarray):
        array = numpy.asarray(value)
        return "array", str(array.dtype), value.shape, bits(array), bool(value.flags.writeable)
    if isinstance(value, numpy.ndarray):
        return "foreign array", str(value.dtype), value.shape, bits(value)
    if isinstance(value, numpy.generic):
        return type(value).__name__, str(value.dtype), bits(numpy.asarray(value))
    if isinstance(value, list | tuple):
        return type(value).__name__, [described(np, item) for item in value]
    if isinstance(value, dict):
        return {key: described(np, item) for key, item in value.items()}
    return type(value).__name__, plain(repr(value))


def bits(array):
    """All values: as bytes where every byte counts, as text where some are padding."""
    if array.dtype.kind in "OVT" or array.dtype.char in "gG":
        return repr(array.tolist())
    if array.dtype.kind in "fc":
        parts = array.copy().reshape(-1).view(f"f{array.real.itemsize}")
        parts[numpy.isnan(parts)] = numpy.nan  # a NaN's sign and payload mean nothing
        return parts.tobytes()
    return array.tobytes()


def parts(np, result):
    """The arrays in a result."""
    if isinstance(result, np.ndarray):
        yield result
    elif isinstance(result, list | tuple):
        for item in result:
            yield from parts(np, item)


def shares(array, part):
    """Whether a result is the array itself, or a view through which the array can be written."""
    if part is array:
        return "itself"
    if not part.size or not part.flags.writeable:
        return "unknown"
    before = bits(numpy.asarray(array))
    kept = part.copy()
    part[...] = mark(part.dtype)
    after = bits(numpy.asarray(array))
    part[...] = kept
    return "view" if before != after else "copy"


def mark(dtype):
    if dtype.names:
        return tuple(mark(dtype[name]) for name in dtype.names)
    return MARKS.get(dtype.kind, 99)
