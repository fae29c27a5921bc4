"""Functions and methods by dtype, shape and view, against NumPy."""

import itertools

import pytest

from tests.support import programs
from tests.support.compare import difference
from tests.support.values import DTYPES, FEW, NATIVE, SHAPES, VIEWS, maker

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


@pytest.mark.parametrize("name", programs.SHAPING)
def test_shaping(name):
    check(programs.SHAPING[name])


@pytest.mark.parametrize("name", programs.JOINING)
def test_joining(name):
    check(programs.JOINING[name])


@pytest.mark.parametrize("name", programs.REDUCING)
def test_reducing(name):
    check(programs.REDUCING[name])


@pytest.mark.parametrize("name", programs.WRITING)
def test_writing(name):
    check(programs.WRITING[name])


def test_all_native_dtypes_are_there():
    assert len(NATIVE) == 14
