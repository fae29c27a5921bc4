"""Fusion of operations on small arrays is not observable."""

import contextlib
import dis
import functools
import itertools
import operator
import warnings

import dappled
import numpy
import pytest
from dappled._dispatch.temporaries import may_run_code_before_use
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.compare import difference, stay_deferred

SIZES = [1, 1999, 2000, 2001, 5000, 16384, 16385]

# May other code run before what is computed first is used? None: it may be kept.
USES = {
    "a * b + c": False,
    "c + a * b": False,
    "-(a * b)": False,
    "~(a < b)": False,
    "a * b > c": False,
    "(a * b) ** 2": False,
    "np.sqrt(a * b)": False,
    "np.add(a * b, c)": False,
    "a * b + np.f(c)": True,
    "a * b + c[1:]": True,
    "a * b + c.real": True,
    "f(a * b)": None,
    "x.append(a * b)": None,
    "(a * b).sum()": None,
    "(a * b) @ c": None,
    "c[a * b]": None,
    "c[a * b:]": None,
    "[a * b, c]": None,
    "(a * b, c) + d": None,
    "(t := a * b) + t": None,
    "a * b if c else d": None,
    "a * b and c": None,
    "not a * b": None,
    "a < b < c": None,
    "f'{a * b}'": None,
    "lambda: a": None,
}


@pytest.mark.parametrize("source", USES)
def test_casts_of_values(source):
    code = compile(source, "a program", "eval")
    names = ["BINARY_OP", "COMPARE_OP"]
    first = next((i.offset for i in dis.get_instructions(code) if i.opname in names), 0)
    assert may_run_code_before_use(code, first) is USES[source]


def test_unknown_versions_of_python_are_not_analysed(monkeypatch):
    code = compile("a * b + c", "a program", "eval")
    first = next(i.offset for i in dis.get_instructions(code) if i.opname == "BINARY_OP")
    assert may_run_code_before_use(code, first) is not None
    monkeypatch.setattr("dappled._dispatch.temporaries.IS_KNOWN_VERSION", False)
    assert may_run_code_before_use(code, first) is None


def operands(np, dtype, size):
    generator = numpy.random.default_rng(size)
    values = [generator.integers(1, 50, size).astype(dtype) for _ in range(3)]
    return [np.array(value) for value in values]


LEAVES = ["a", "b", "c", "2", "b[::-1]", "a[:1]", "d", "3.5"]
BINARY = ["+", "-", "*", "/", "//", "%", "<", ">=", "==", "&"]
CALLS = ["np.sqrt", "np.abs", "np.negative", "np.square", "np.floor", "abs", "-", "np.logical_not"]


def expressions(leaves):
    def more(inner):
        binary = st.tuples(inner, st.sampled_from(BINARY), inner).map(lambda t: f"({' '.join(t)})")
        called = st.tuples(st.sampled_from(CALLS), inner).map(lambda t: f"{t[0]}({t[1]})")
        squared = inner.map(lambda t: f"({t} ** 2)")
        pairs = st.tuples(inner, inner).map(lambda t: f"np.maximum({t[0]}, {t[1]})")
        return binary | called | squared | pairs

    return st.recursive(st.sampled_from(leaves), more, max_leaves=9)


def same(ours, theirs):
    """The same bits in the same dtype."""
    ours = numpy.asarray(ours)
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    assert ours.tobytes() == theirs.tobytes()


@settings(deadline=None, max_examples=150)
@given(
    expressions(LEAVES),
    st.sampled_from(["float64", "float32", "int64", "int8", "uint8", "bool", "complex128"]),
    st.sampled_from(SIZES),
)
def test_drawn_expressions(source, dtype, size):
    def make(np):
        a, b, c = operands(np, dtype, size)
        return a, b, c, c.real.astype("float32")

    code = compile(source, "an expression", "eval")

    def program(np, a, b, c, d):
        return eval(code, {"np": np, "a": a, "b": b, "c": c, "d": d})

    assert difference(program, make) is None, source


def test_when_compiled_as_before():
    a, b, c = operands(dappled, "float64", 16384)
    x, y, z = (numpy.asarray(each).copy() for each in (a, b, c))
    expected = x * y + z * 2.0 - numpy.sqrt(numpy.abs(x)) / (y + 0.5)
    for _ in range(60):
        same(a * b + c * 2.0 - dappled.sqrt(dappled.abs(a)) / (b + 0.5), expected)


def changed(a):
    a[:] = -1
    return a


def lent(a):
    numpy.asarray(a)[:] = -2
    return a


@pytest.mark.parametrize("change", [changed, lent])
def test_operands_are_read_as_they_were(change):
    a, b, _ = operands(dappled, "float64", 1000)
    x, y, _ = operands(numpy, "float64", 1000)
    same(a * b + change(a), x * y + change(x))
    same(a, x)
    a += a * b + 1
    x += x * y + 1
    same(a, x)
    a[1:] = a[:-1] * 2 + a[1:]
    x[1:] = x[:-1] * 2 + x[1:]
    same(a, x)


def test_values_that_others_keep():
    """Functions in C compute at the instruction that called them, and keep what they like."""
    arrays = operands(dappled, "float64", 1000)
    theirs = operands(numpy, "float64", 1000)
    add = operator.add
    same(sum(arrays) + 1, sum(theirs) + 1)
    same(functools.reduce(add, arrays) * 2, functools.reduce(add, theirs) * 2)
    kept, expected = list(itertools.accumulate(arrays)), list(itertools.accumulate(theirs))
    for own, known in zip(kept, expected, strict=True):
        same(own, known)
    boxes, other_boxes = (numpy.empty(2, object) for _ in range(2))
    for at in range(2):
        boxes[at], other_boxes[at] = arrays[at], theirs[at]
    ours = (boxes[:1] * 2.0 + boxes) * boxes[:1] + boxes[:1]
    expected = (other_boxes[:1] * 2.0 + other_boxes) * other_boxes[:1] + other_boxes[:1]
    for own, known in zip(ours, expected, strict=True):
        same(own, known)


def test_signals_name_their_line_and_raise_there():
    a = dappled.zeros(1000)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        stay_deferred()
        result = (
            1.0 / a  # here
            + a * 2
            - dappled.log(a)  # and here
        )
    first = test_signals_name_their_line_and_raise_there.__code__.co_firstlineno
    found = [(str(each.message), each.lineno - first) for each in caught]
    assert found == [
        ("divide by zero encountered in divide", 6),
        ("divide by zero encountered in log", 8),
    ]
    assert numpy.isinf(numpy.asarray(result)).all()
    seen = []
    with dappled.errstate(divide="raise"), pytest.raises(FloatingPointError, match="in divide"):
        1.0 / a + (seen.append(1) or a)
    assert seen == []
    with dappled.errstate(divide="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        1.0 / a + a


# Expressions of which the first operation signals, and what NumPy does not come to then.
UNREACHED = {
    "a call": lambda np, a, act: 1.0 / a + act(a),
    "an operator": lambda np, a, act: 1.0 / a + (Acting(act) * 2),
    "a name": lambda np, a, act: 1.0 / a + nowhere,  # noqa: F821
    "a function": lambda np, a, act: np.sqrt(np.log(a) + act(a)),
    "deep": lambda np, a, act: (1.0 / a + a * 2 - a) * act(a),
}
MODES = {
    "raise": lambda: numpy.errstate(divide="raise"),
    "error": lambda: _filtered("error"),
    "call": lambda: numpy.errstate(divide="call", call=_refuse),
}


class Acting:
    """An object whose operator acts."""

    def __init__(self, act):
        self.act = act

    def __mul__(self, other):
        return self.act(other)


@contextlib.contextmanager
def _filtered(action):
    with warnings.catch_warnings():
        warnings.simplefilter(action)
        yield


def _refuse(*signal):
    raise KeyError(*signal)


def _outcome(np, expression):
    seen = []
    try:
        expression(np, np.zeros(1000), lambda value: seen.append(1) or value)
    except Exception as error:
        return seen, type(error)
    return seen, None


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", [name for name in UNREACHED if name != "a name"])
def test_statements_after_an_error_do_not_run(name, mode):
    with MODES[mode]():
        theirs, ours = (_outcome(np, UNREACHED[name]) for np in (numpy, dappled))
    assert ours == theirs


@pytest.mark.parametrize("name", UNREACHED)
def test_unused_results_warn(name):
    def act(value):
        raise LookupError

    told = []
    for np in (numpy, dappled):
        a = np.zeros(1000)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            stay_deferred()
            with pytest.raises((LookupError, NameError)):
                UNREACHED[name](np, a, act)
        told.append([(str(each.message), each.lineno) for each in caught])
    assert told[0] == told[1] != []
