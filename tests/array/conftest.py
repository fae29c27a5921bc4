"""What tests of arrays share."""

import pytest
from dappled import _large


@pytest.fixture
def large(monkeypatch):
    """Every array is large enough for threads."""
    monkeypatch.setattr(_large, "LARGE", 1)
