"""One profile for all properties: the same examples on every run, no time limits."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "dappled",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    print_blob=False,
)
settings.load_profile("dappled")
