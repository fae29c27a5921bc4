"""NumPy programs, unchanged, on every core and every node.

Every public name of NumPy is here, found when it is first asked for, and makes our arrays.
`__version__` is NumPy's, which programs compare; `importlib.metadata.version("dappled")` is ours.
"""

from typing import Any

import numpy as _numpy

from dappled import _job, _methods, _numba
from dappled import protocol as protocol
from dappled._array import ndarray
from dappled._names import complete_for_vars as _complete_for_vars
from dappled._names import lazily as _lazily
from dappled._names import of_numpy as _of_numpy

_EXTRAS = ["explain", "from_distarray", "init", "memory_stats", "sync"]
_OURS = [
    "FallbackError",
    "FallbackWarning",
    "comm",
    "config",
    "init",
    "local",
    "protocol",
    *_EXTRAS,
]
# What the array API standard asks a namespace to say of itself.
_STANDARD = ("__array_api_version__", "__array_namespace_info__")

__all__ = sorted({*_numpy.__all__, *_OURS})
__version__ = _numpy.__version__

_methods.attach(ndarray)
_numba.watch()
_job.join()
_found = _lazily(__name__, _of_numpy)


def __getattr__(name: str) -> Any:
    return getattr(_numpy, name) if name in _STANDARD else _found(name)


def __dir__() -> list[str]:
    return __all__


_complete_for_vars(__name__, _numpy, _OURS)
