"""The type of quantiles of large and distributed arrays."""

import dappled as np
import numpy
import pytest

pytestmark = pytest.mark.ranks(1, 2, 3)
VALUES = numpy.random.default_rng(0).random(100_000)


@pytest.mark.parametrize("q", [[0.05, 0.5], [[0.3]], numpy.array([0.5])])
def test_several_quantiles_are_an_array_of_dappled(q):
    found = np.quantile(np.array(VALUES), q)
    assert isinstance(found, np.ndarray)
    numpy.testing.assert_array_equal(found, numpy.quantile(VALUES, q))


def test_one_quantile_is_a_scalar():
    assert type(np.quantile(np.array(VALUES), 0.3)) is numpy.float64
