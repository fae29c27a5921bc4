"""What tests of arrays share."""

import pytest
from dappled._ndarray import threaded_indexing


@pytest.fixture
def large(monkeypatch):
    """Every array is large enough for threads."""
    monkeypatch.setattr(threaded_indexing, "MIN_PARALLEL_ELEMENTS", 1)
