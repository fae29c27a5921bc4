"""Functions and methods x dtypes x shapes x views: what NumPy does, Dappled does."""

import itertools

import calls
import pytest
from compare import difference
from values import DTYPES, FEW, NATIVE, SHAPES, VIEWS, maker

SOME_SHAPES = [(7,), (5, 3), (2, 3, 4)]
SOME_VIEWS = [view for view in VIEWS if view != "plain"]


def cases():
    """Every dtype in every shape, and few dtypes in every view of every shape."""
    yield from itertools.product(DTYPES, SHAPES, ["plain"])
    yield from itertools.product(FEW, SOME_SHAPES, SOME_VIEWS)


def differences(program, chosen):
    for dtype, shape, view in chosen:
        if found := difference(program, maker(dtype, shape, view)):
            yield f"{dtype} {shape} {view}\n{found}"


def check(program):
    found = list(differences(program, cases()))
    assert not found, f"{len(found)} differ, the first of them:\n" + "\n".join(found[:3])


@pytest.mark.parametrize("name", calls.SHAPING)
def test_shaping(name):
    check(calls.SHAPING[name])


@pytest.mark.parametrize("name", calls.JOINING)
def test_joining(name):
    check(calls.JOINING[name])


@pytest.mark.parametrize("name", calls.REDUCING)
def test_reducing(name):
    check(calls.REDUCING[name])


@pytest.mark.parametrize("name", calls.WRITING)
def test_writing(name):
    check(calls.WRITING[name])


def test_all_native_dtypes_are_there():
    assert len(NATIVE) == 14
