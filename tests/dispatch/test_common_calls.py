"""Calls whose common case the core computes, with all their other arguments."""

import operator

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.compare import difference
from tests.support.values import FLOATS, NUMBERS, VIEWS, maker

SHAPES = [3, (2, 3), [2, 3], (), True, 0, (0, 2), -1, (2, -1), 2.5, None, "a", numpy.int64(2)]
SHAPES += [(2**40, 2**40), 2**70, (numpy.int8(2), 3)]
KINDS = [None, float, int, bool, complex, "f4", "int8", "<f8", ">f8", "M8[D]", "nothing", "O"]
KINDS += [numpy.uint8, numpy.dtype("c8"), numpy.floating, numpy.dtype("f8").newbyteorder()]
VALUES = [0, 2, 2.5, -1, 300, 2**63, 2**70, True, 1j, "a", None, [1, 2, 3], numpy.float32(1.5)]
VALUES += [numpy.float64(2.5), numpy.int8(3), float("nan"), float("inf"), numpy.bool(True)]
VALUES += [numpy.int16(570), numpy.uint8(190), numpy.uint64(2**63 + 5), numpy.int64(-(2**40))]
VALUES += [numpy.float64(1e300), numpy.float32(1e-30), numpy.complex128(1e300 - 1e-300j)]
VALUES += [1e300, -1e300j, 70000, 1e-300]
OBJECTS = [
    *([1, 2], [1.5, 2], (1, 2), [[1, 2], [3, 4]], [[1], [2, 3]], [], [[]], [True, 2], [None], "ab"),
    *([1, [2]], [numpy.float32(1), 2], [numpy.ones(2), [1, 2]], 5, 2.5, range(3), {1: 2}),
    *([[[[1]]]], [[[[[1]]]]], numpy.arange(3), numpy.arange(6.0).reshape(2, 3).T, [2**70], [1j]),
]
RANGES = [
    (5,),
    (5.5,),
    (1, 9, 2),
    (0, 1, 0.1),
    (3, 0),
    (0, 1, 0),
    ("a",),
    (None,),
    (numpy.int8(4),),
]
KEYS = [
    0,
    -1,
    5,
    99,
    -99,
    True,
    numpy.int64(1),
    (0,),
    (0, 1),
    (1, -1),
    (0, 99),
    (),
    (0, 1, 2),
    None,
]
KEYS += [2**70, 1.0, "a", slice(1, None), [1, 0], (slice(None), 1), Ellipsis]
OPTIONS = [{}, {"axis": 0}, {"axis": -1, "keepdims": True}, {"axis": (0, 1)}, {"ddof": 1}]
OPTIONS += [{"keepdims": True}, {"axis": None}, {"axis": 7}, {"dtype": "f4"}, {"nothing": 1}]
REDUCTIONS = ["sum", "prod", "max", "min", "any", "all", "mean", "std", "var", "amax", "amin"]


def same(program, make=lambda np: []):
    found = difference(program, make)
    assert found is None, found


@pytest.mark.parametrize("name", ["zeros", "ones"])
def test_filled(name):
    for shape in SHAPES:
        same(lambda np, shape=shape: getattr(np, name)(shape))
        same(lambda np, shape=shape: getattr(np, name)(shape=shape, order="F"))
    for kind in KINDS:
        same(lambda np, kind=kind: getattr(np, name)((2, 3), kind))
        same(lambda np, kind=kind: getattr(np, name)(2, dtype=kind))
    same(lambda np: getattr(np, name)())
    same(lambda np: getattr(np, name)(2, nothing=1))
    same(lambda np: getattr(np, name)(2, shape=2))


def test_empty_has_the_shape_and_dtype():
    for kind in KINDS:
        same(lambda np, kind=kind: np.empty((2, 3), kind).dtype)
    for shape in SHAPES:
        same(lambda np, shape=shape: np.empty(shape).shape)


def test_full():
    for value in VALUES:
        same(lambda np, value=value: np.full(3, value))
        for kind in KINDS:
            same(lambda np, value=value, kind=kind: np.full((2, 3), value, dtype=kind))


def test_ranges():
    for given_ in RANGES:
        same(lambda np, given_=given_: np.arange(*given_))
        same(lambda np, given_=given_: np.arange(*given_, dtype="f4"))
    same(lambda np: np.linspace(0, 1, 5))
    same(lambda np: np.linspace(0, 1, 5, retstep=True))
    same(lambda np: np.linspace(0, 1, -1))
    same(lambda np: (np.eye(3), np.eye(2, 3, 1), np.eye(N=2), np.identity(3), np.eye(100)[7, 7]))


@pytest.mark.parametrize("name", ["array", "asarray"])
def test_from_objects(name):
    for each in OBJECTS:
        same(lambda np, each=each: getattr(np, name)(each))
        same(lambda np, each=each: getattr(np, name)(each, "f4"))
        same(lambda np, each=each: getattr(np, name)(each, dtype=None))


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_like_and_as_it_is(dtype):
    for view in VIEWS:
        make = maker(dtype, (5, 3), view)
        same(lambda np, a: (np.zeros_like(a), np.ones_like(a), np.empty_like(a).strides), make)
        same(lambda np, a: (np.array(a), np.asarray(a), np.asarray(a) is a), make)
        same(lambda np, a: (np.zeros_like(a, "i4"), np.array(a, "c16"), np.asarray(a, "c16")), make)


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
@pytest.mark.parametrize("shape", [(), (7,), (5, 3)])
def test_elements(dtype, shape):
    for view in ("plain", "step", "reversed", "transposed"):
        make = maker(dtype, shape, view)
        for key in KEYS:
            same(lambda np, a, key=key: a[key], make)
            same(lambda np, a, key=key: operator.setitem(a, key, 3), make)
        for value in VALUES:
            same(lambda np, a, value=value: operator.setitem(a, (1,) * a.ndim, value), make)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name):
    for options in OPTIONS:
        for dtype in NUMBERS:
            make = maker(dtype, (4, 5))
            same(lambda np, a, o=options: getattr(np, name)(a, **o), make)
            same(lambda np, a, o=options: getattr(a, name.removeprefix("a"))(**o), make)
            same(lambda np, a: getattr(np, name)(a, 1), make)
        same(lambda np, o=options: getattr(np, name)([[1.5, 2], [3, 4]], **o))


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["f4", "f8", "i4", "u1", "?"]),
    st.sampled_from([(1,), (100,), (1000,), (5000,), (37, 23), (3, 400), (400, 3), (4, 5, 60)]),
    st.sampled_from(["mean", "std", "var", "sum"]),
    st.sampled_from([None, 0, -1]),
    st.sampled_from(["plain", "transposed", "reversed", "step"]),
    st.integers(0, 99),
)
def test_bits_of_sums_and_moments(kind, shape, name, axis, view, seed):
    values = (numpy.random.default_rng(seed).normal(size=shape) * 100).astype(kind)
    make = lambda np: [VIEWS[view](np, np.array(values))]  # noqa: E731
    same(lambda np, a: getattr(a, name)(axis=axis), make)
    same(lambda np, a: getattr(np, name)(a, axis), make)


MODES = ["raise", "warn", "ignore"]


@pytest.mark.parametrize("mode", MODES)
def test_floating_point_errors(mode):
    def program(np, values, name):
        with np.errstate(all=mode):
            return getattr(np, name)(np.array(values, "f8"))

    for name in ("mean", "std", "var", "sum", "prod", "sqrt", "max"):
        for values in ([1e308, 1e308], [numpy.inf, -numpy.inf], [5e-324, 0.0], [], [-1.0, 2.0]):
            same(lambda np, v=values, n=name: program(np, v, n))


@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "itruediv", "iand"])
def test_in_place(name):
    update = getattr(operator, name)
    for dtype in NUMBERS:
        for view in ("plain", "step", "transposed"):
            make = maker(dtype, (5, 3), view, 2)
            for value in (2.5, 2, -1, True, numpy.float32(2)):
                same(lambda np, a, b, v=value: update(a, v), make)
            same(lambda np, a, b: (update(a, b), update(a[1:], a[:-1]), update(a, a)), make)


def test_squares_in_place():
    # Other powers have NumPy's bits but for the last.
    for dtype in FLOATS:
        for view in ("plain", "step", "transposed"):
            same(lambda np, a: operator.ipow(a, 2), maker(dtype, (5, 3), view))


def test_choosing():
    for dtype in NUMBERS:
        make = maker(dtype, (5, 3), "plain", 3)
        same(lambda np, a, b, c: np.where(a > 1, b, c), make)
        same(lambda np, a, b, c: np.where(a, b, 2.5), make)
        same(lambda np, a, b, c: (np.where(a > 1, 1, 2), np.where(a[0, 0] > 1, b, c)), make)
        same(lambda np, a, b, c: np.where(a != 0, b[0], c[:, :1]), make)
        for limits in ((-1, 2.5), (0.0, 1.0), (None, 2), (1, None), (3, -3), (float("nan"), 1.0)):
            same(lambda np, a, b, c, ends=limits: (np.clip(a, *ends), a.clip(*ends)), make)


def test_functions_are_methods_where_numpys_are():
    class Holder:
        here = None

    def bound(np, name):
        Holder.here = getattr(np, name)
        return type(Holder().here).__name__ == "method"

    for name in ("sum", "zeros", "where", "arange", "mean"):
        assert bound(numpy, name) == bound(__import__("dappled"), name)
