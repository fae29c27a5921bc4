"""Random programs of steps on one rank and on several; half of the steps belong to one family."""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.steps import program
from tests.support.rank_arrays import allgather

pytestmark = pytest.mark.usefixtures("quiet_fallback")
TIMES = int(os.environ.get("DAPPLED_TEST_TIMES", "1"))


@pytest.mark.parametrize("family", program.FAMILIES)
@settings(max_examples=60)
@given(seed=st.integers(0, 2**32))
def test_steps(family, seed):
    found = program.difference(seed, 12, family)
    assert found is None, found


@pytest.mark.ranks(1, 2, 3, 4, 7, sample={3: 2, 4: 4, 7: 8})
@pytest.mark.parametrize("seed", range(42 * TIMES))
def test_steps_on_ranks(seed):
    found = program.difference(seed, 20, None, allgather)
    assert found is None, found


@pytest.mark.ranks(2, replicated_below=1_000_000, sample={2: 2})
@pytest.mark.parametrize("seed", range(42 * TIMES))
def test_steps_on_replicated_arrays(seed):
    found = program.difference(seed, 20, None, allgather)
    assert found is None, found
