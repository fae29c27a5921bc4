"""Statistics that need a word more than NumPy's own functions over our arrays."""

from __future__ import annotations

from typing import Any

import numpy

from dappled._array import core
from dappled._fallback import dressed
from dappled._rebind import rebound

_mean = rebound(numpy.mean)


def mean(*args: Any, **kwargs: Any) -> Any:
    result = _mean(*args, **kwargs)
    # For float16, NumPy calls its scalar type with the array, which makes an array of NumPy's.
    return core.wrap(result) if type(result) is numpy.ndarray else result


dressed(mean, numpy.mean, "dappled")
