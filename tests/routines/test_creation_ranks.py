"""Creation of distributed arrays."""

import dappled
import numpy
import pytest

from tests.support.distributed import VALUES, check, distributed

MATRICES = {
    "zeros": lambda np, d: np.zeros((40, 30), **d),
    "ones": lambda np, d: np.ones((40, 30), "i4", **d),
    "empty": lambda np, d: filled(np.empty((40, 30), **d)),
    "full": lambda np, d: np.full((40, 30), 7, **d),
    "zeros_like": lambda np, d: np.zeros_like(np.ones((40, 30)), **d),
    "ones_like": lambda np, d: np.ones_like(np.ones((40, 30)), **d),
    "full_like": lambda np, d: np.full_like(np.ones((40, 30)), 3, **d),
    "eye": lambda np, d: np.eye(40, 30, 1, **d),
    "identity": lambda np, d: np.identity(40, **d),
    "tri": lambda np, d: np.tri(40, 30, 2, **d),
    "array": lambda np, d: np.array(VALUES, **d),
    "asarray": lambda np, d: np.asarray(VALUES.tolist(), **d),
    "fromfunction": lambda np, d: np.fromfunction(lambda i, j: i * 3 + j, (40, 30), **d),
}
VECTORS = {
    "arange": lambda np, d: np.arange(1000, **d),
    "arange step": lambda np, d: np.arange(3.5, -200, -0.3, **d),
    "arange dtype": lambda np, d: np.arange(3, 4000, 7, dtype="f4", **d),
    "arange small dtype": lambda np, d: np.arange(100, dtype="i1", **d),
    "arange half": lambda np, d: np.arange(0, 60, 0.1, dtype="f2", **d),
    "arange numpy": lambda np, d: np.arange(numpy.float32(0.5), numpy.int8(90), **d),
    "arange empty": lambda np, d: np.arange(5, 1, **d),
    "arange complex": lambda np, d: np.arange(0, 500, dtype="c16", **d),
    "linspace": lambda np, d: np.linspace(-1, 2, 777, **d),
    "linspace open": lambda np, d: np.linspace(3, 2, 777, endpoint=False, dtype="i4", **d),
    "logspace": lambda np, d: np.logspace(0, 3, 500, **d),
    "geomspace": lambda np, d: np.geomspace(1, 512, 500, **d),
}
CUBES = {
    "indices": lambda np, d: np.indices((40, 30), **d),
    "linspace of arrays": lambda np, d: np.linspace(VALUES, VALUES + 1, 4, **d),
}


def filled(array):
    array[...] = 3
    return array


@distributed
@pytest.mark.parametrize("name", MATRICES)
def test_matrices(name):
    check_creation(MATRICES[name], [None, "bb", "cn", "nn"])


@distributed
@pytest.mark.parametrize("name", VECTORS)
def test_vectors(name):
    check_creation(VECTORS[name], [None, "b", "c"])


@distributed
@pytest.mark.parametrize("name", CUBES)
def test_cubes(name):
    check_creation(CUBES[name], [None, "nbc"])


def check_creation(program, layouts):
    for layout in layouts:
        options = {"dist": layout}
        check(
            lambda xp, options=options: program(xp, {} if xp is numpy else options),
            [],
            gathered=10**6 if layout == "nn" else 0,
            about=layout,
        )
        found = program(dappled, options).distribution.dist
        assert dappled.comm.size == 1 or layout in (None, found)
