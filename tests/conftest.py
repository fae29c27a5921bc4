"""One profile for all properties: the same examples on every run, no time limits."""

import warnings

import pytest
from hypothesis import HealthCheck, settings
from ranks import (  # noqa: F401  hooks and a fixture
    pytest_configure,
    pytest_generate_tests,
    pytest_runtest_logfinish,
    pytest_runtest_logreport,
    pytest_runtest_protocol,
    pytest_sessionstart,
    ranks,
)

settings.register_profile(
    "dappled",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    print_blob=False,
)
settings.load_profile("dappled")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup():
    """Hides from Dappled that pytest records warnings: it would compute everything eagerly."""
    record = warnings._showwarnmsg_impl
    warnings._showwarnmsg_impl = lambda message: record(message)
