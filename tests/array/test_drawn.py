"""Programs drawn at random on one rank, half of their steps of one family."""

import dappled
import drawn
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


@pytest.mark.parametrize("family", drawn.FAMILIES)
@settings(max_examples=60, derandomize=True)
@given(seed=st.integers(0, 2**32))
def test_what_numpy_does_ours_does(family, seed):
    found = drawn.difference(seed, 12, family)
    assert found is None, found


@pytest.fixture(autouse=True)
def _quietly():
    before = dappled.config.fallback
    dappled.config.fallback = "quiet"
    yield
    dappled.config.fallback = before
