"""NumPy programs, unchanged, on every core and every node.

Every public name of NumPy is here, looked up on first use, and creates our arrays. `__version__` is
NumPy's, which programs compare; `importlib.metadata.version("dappled")` is ours.
"""

from typing import Any

import numpy as _numpy

from dappled import protocol as protocol
from dappled._dispatch.registry import complete_for_vars as _complete_for_vars
from dappled._dispatch.registry import lazy_getattr as _lazily
from dappled._dispatch.registry import lookup as _of_numpy
from dappled._interop import numba
from dappled._ndarray import methods
from dappled._ndarray.core import ndarray
from dappled._ranks import lifecycle

_EXTRAS = ["explain", "from_distarray", "init", "memory_stats", "sync"]
_OWN_NAMES = [
    "FallbackError",
    "FallbackWarning",
    "comm",
    "config",
    "init",
    "local",
    "protocol",
    *_EXTRAS,
]
# Attributes that the array API standard requires of a namespace.
_ARRAY_API_ATTRIBUTES = ("__array_api_version__", "__array_namespace_info__")

__all__ = sorted({*_numpy.__all__, *_OWN_NAMES})
__version__ = _numpy.__version__

methods.attach(ndarray)
numba.watch()
lifecycle.install_hooks()
_lookup_name = _lazily(__name__, _of_numpy)


def __getattr__(name: str) -> Any:
    return getattr(_numpy, name) if name in _ARRAY_API_ATTRIBUTES else _lookup_name(name)


def __dir__() -> list[str]:
    return __all__


_complete_for_vars(__name__, _numpy, _OWN_NAMES)
