"""Programs drawn at random on one rank, half of their steps of one family."""

import dappled
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.steps import program


@pytest.mark.parametrize("family", program.FAMILIES)
@settings(max_examples=60)
@given(seed=st.integers(0, 2**32))
def test_what_numpy_does_ours_does(family, seed):
    found = program.difference(seed, 12, family)
    assert found is None, found


@pytest.fixture(autouse=True)
def _quietly():
    before = dappled.config.fallback
    dappled.config.fallback = "quiet"
    yield
    dappled.config.fallback = before
