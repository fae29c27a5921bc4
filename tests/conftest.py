"""Hypothesis profiles, fixtures for all tests, and the plugin that runs tests on several ranks."""

import os
import warnings

import dappled
import pytest
from dappled._ndarray import threaded_indexing
from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.support.ranks_plugin"]

COMMON = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}
# `make test` runs the same examples every time; `make fuzz` sets DAPPLED_TEST_SEEDS=new.
settings.register_profile("fixed", **COMMON, derandomize=True, print_blob=False)
settings.register_profile("new", **COMMON, derandomize=False, print_blob=True)
settings.load_profile(os.environ.get("DAPPLED_TEST_SEEDS", "fixed"))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup():
    """Hides from Dappled that pytest records warnings: it would compute everything eagerly."""
    record = warnings._showwarnmsg_impl
    warnings._showwarnmsg_impl = lambda message: record(message)


@pytest.fixture
def quiet_fallback(monkeypatch):
    """No warning when NumPy computes with a gathered array."""
    monkeypatch.setattr(dappled.config, "fallback", "quiet")


@pytest.fixture
def large(monkeypatch):
    """Every array is large enough for threads."""
    monkeypatch.setattr(threaded_indexing, "MIN_PARALLEL_ELEMENTS", 1)
