"""Runs a call with NumPy and with Dappled, and compares the outcomes.

Compared are classes, dtypes, shapes, flags and values of results, what they share with the
arguments, all arrays afterwards, warnings, and the class of what is raised.
"""

import re
import warnings
from dataclasses import dataclass, field

import dappled
import numpy

from tests.fuzz.calls.arrays import names
from tests.support.compare import check_program, parts, plain, shares, stay_deferred

# Whose results lie in memory in an order that NumPy's way through a table gives them.
FREE = re.compile(r"unravel_index|histogram2d|histogramdd|reduceat")
# What memory held, which NumPy 2.4.6 looks at before it raises: `at` by a mask of nothing.
GARBAGE = re.compile(r"cannot reshape .*\d{12}")


@dataclass
class Outcome:
    before: dict
    value: object = None
    raised: str = ""
    arrays: dict = field(default_factory=dict)
    shared: list = field(default_factory=list)
    warned: set = field(default_factory=set)


def outcome(np, call):
    """All that can be seen of a call in one of the namespaces."""
    known = names(np)
    exec("; ".join(call.setup) or "None", known)
    made = {name: known[name] for name in known if len(name) < 3 and name != "np"}
    done = Outcome({name: seen(np, array) for name, array in made.items()})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        stay_deferred()
        try:
            result = evaluated(call.text, known)
            done.value = seen(np, result)
            done.arrays = {name: seen(np, array) for name, array in made.items()}
            found = [part for part in parts(np, result) if part.size]
            done.shared = [shares(array, part) for array in made.values() for part in found]
        except Exception as error:
            check_program(error)
            done.raised = f"{type(error).__name__}: {plain(str(error)).strip()}"
            done.arrays = {name: seen(np, array) for name, array in made.items()}
    done.warned = {warned(warning) for warning in caught} - {None}
    return done


def warned(warning):
    """The class of a warning and what it says, but for the operation; None of what is free: what a
    cast signals is the CPU's, and that views were repeated is said when they are looked at.
    """
    text = plain(str(warning.message))
    if text.endswith("in cast") or "broadcast_array" in text:
        return None
    return warning.category.__name__, text.partition(" encountered")[0]


def signalled(call, found):
    """Warnings that count: what casts signal that arguments ask for is said in several ways, and
    that they leave something out is said at times though nothing is cast. What products and
    transforms signal of NaN and infinity depends on the CPU, and on where rows are cut.
    """
    if any(text in call.text for text in ("dtype=", "out=", ".at(")) or call.mark == "*":
        return set()
    return {one for one in found if call.is_plain or one[0] != "ComplexWarning"}


def evaluated(text, known):
    try:
        code = compile(text, "call", "eval")
    except SyntaxError:
        return exec(text, known)
    return eval(code, known)


@dataclass
class Seen:
    """A snapshot of an array: its values and attributes."""

    values: numpy.ndarray
    about: tuple


def seen(np, value):
    """A result as plain data, in which the two namespaces' arrays look the same."""
    if isinstance(value, np.ndarray):
        flags = getattr(value, "_flags", None) or value.flags  # ours as NumPy's
        about = flags.c_contiguous, flags.f_contiguous, flags.writeable
        return Seen(numpy.array(value), ("array", str(value.dtype), value.shape, *about))
    if isinstance(value, numpy.ndarray):
        return Seen(value.copy(), ("foreign array",))
    if isinstance(value, numpy.generic):
        return Seen(numpy.asarray(value), (type(value).__name__,))
    if isinstance(value, list | tuple):
        return [type(value).__name__, *(seen(np, item) for item in value)]
    return f"{type(value).__name__} {plain(repr(value))}"


def differences(call, theirs, ours):
    """What is different, on this rank; warnings are compared when those of all are known. Texts
    of errors are compared where nothing is in pieces: of two errors, either may be found first.
    """
    plain_call = call.is_plain and dappled.comm.size == 1
    if ours.raised and GARBAGE.search(theirs.raised):
        return ""
    raised = [one.raised if plain_call else one.raised.partition(":")[0] for one in (theirs, ours)]
    if raised[0] != raised[1]:
        return f"raised: NumPy {theirs.raised or None}, Dappled {ours.raised or None}"
    made = not {*theirs.shared} & {"view", "itself"}
    # In one process a piece that does not lie as NumPy's arrays do comes to NumPy as a copy.
    if not plain_call and made and (dappled.comm.size == 1 or FREE.search(call.text)):
        unordered(theirs.value), unordered(ours.value)
    if text := unlike(theirs.value, ours.value, call.units):
        return f"result: {text}"
    for name, array in theirs.arrays.items():
        # NumPy may have written some elements when it raises; ours may have written none.
        kept = theirs.raised and not unlike(theirs.before[name], ours.arrays[name], None)
        if not kept and (text := unlike(array, ours.arrays[name], call.units)):
            return f"array {name}: {text}"
    if theirs.shared != ours.shared:
        return f"shared: NumPy {theirs.shared}, Dappled {ours.shared}"
    return ""


def unordered(value):
    """Forgets the order of memory."""
    if isinstance(value, list):
        any(map(unordered, value))
    elif isinstance(value, Seen) and value.about[0] == "array":
        value.about = (*value.about[:3], value.about[-1])


def unlike(one, other, units):
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        found = (unlike(*pair, units) for pair in zip(one, other, strict=True))
        return next(filter(None, found), "")
    if not isinstance(one, Seen) or not isinstance(other, Seen):
        return "" if one == other else f"NumPy {shown(one)}, Dappled {shown(other)}"
    if one.about != other.about:
        return f"NumPy {one.about}, Dappled {other.about}"
    if same_bits(one.values, other.values) or nearly(one.values, other.values, units):
        return ""
    return f"NumPy {shown(one)}, Dappled {shown(other)}"


def shown(value):
    return " ".join(repr(value.values.tolist() if isinstance(value, Seen) else value).split())


def same_bits(one, other):
    """Signs of zeros included; a NaN's sign and payload mean nothing."""
    if one.dtype.kind not in "fc":
        return repr(one.tolist()) == repr(other.tolist())
    pairs = (
        [(one.real, other.real), (one.imag, other.imag)]
        if one.dtype.kind == "c"
        else [(one, other)]
    )
    return all(numpy.array_equal(a, b, True) and same_signs(a, b) for a, b in pairs)


def same_signs(one, other):
    numbers = ~numpy.isnan(one)
    return numpy.array_equal(numpy.signbit(one)[numbers], numpy.signbit(other)[numbers])


def nearly(one, other, units):
    """Whether values agree to rounding, relative to the largest: cancellation differs. Of complex
    numbers that are not finite it is chance which of their parts is.
    """
    if one.dtype.kind not in "fc" or units is None:
        return False
    finite = numpy.isfinite(one)
    if not numpy.array_equal(finite, numpy.isfinite(other)):
        return False
    if one.dtype.kind == "f" and not numpy.array_equal(one[~finite], other[~finite], True):
        return False
    one, other = one[finite], other[finite]
    allowed = units * numpy.finfo(one.dtype).eps * max(1, numpy.abs(one).max(initial=0))
    return bool(numpy.all(numpy.abs(one.astype("D") - other.astype("D")) <= allowed))


def compared(call, agreed=lambda found: [found]):
    """The difference on some rank, or ""."""
    theirs, ours = outcome(numpy, call), outcome(dappled, call)
    found = agreed((differences(call, theirs, ours), ours.warned))
    wrong = [f"rank {rank}: {text}" for rank, (text, _) in enumerate(found) if text]
    warned = set().union(*(warned for _, warned in found))
    if not wrong and signalled(call, warned) != signalled(call, theirs.warned):
        wrong = [f"warned: NumPy {theirs.warned}, Dappled {warned}"]
    return wrong[0] if wrong else ""
