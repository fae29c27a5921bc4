"""Conversions that other libraries call: `a.numpy()`, pandas, Arrow."""

from __future__ import annotations

import sys
from typing import Any

from dappled._dispatch.numpy_facts import GATHERED
from dappled._ndarray.core import core, needs_gather
from dappled._ranks.comm import check_collective


def numpy(self: Any) -> Any:
    """The array as a NumPy array, for libraries that accept no other.

    On one rank it shares the array's memory. On several ranks a replicated array shares its memory,
    read-only; a distributed array is gathered on every rank into a read-only copy, and the call is
    collective.

    >>> import dappled as np
    >>> a = np.zeros(3)
    >>> n = a.numpy()
    >>> n[0] = 1
    >>> type(n).__module__, a
    ('numpy', array([1., 0., 0.]))
    """
    gathers = needs_gather(self)
    if gathers:
        check_collective("ndarray.numpy")
    values = core.unwrap(self, writeable=True)
    if gathers:
        values.flags.writeable = False
    return values


def to_numpy(
    self: Any, dtype: Any = None, copy: bool = False, na_value: Any = None, **options: Any
) -> Any:
    """A copy as a NumPy array, for pandas."""
    return self.__array__(dtype, copy=True)


def _arrow_stream(self: Any, requested_schema: Any = None) -> Any:
    """The values through Arrow's C interface, by polars or pyarrow."""
    if polars := sys.modules.get("polars"):
        make = polars.Series if self.ndim == 1 else polars.DataFrame
        return make(numpy(self)).__arrow_c_stream__(requested_schema)
    if (arrow := sys.modules.get("pyarrow")) and self.ndim == 1:
        values = arrow.chunked_array([arrow.array(numpy(self))])
        return values.__arrow_c_stream__(requested_schema)
    raise TypeError("Arrow export needs polars or pyarrow; convert with a.numpy() first")


METHODS: dict[str, Any] = {
    # pandas distinguishes array classes by this attribute. The value of its wrapper of NumPy arrays
    # makes it accept ours as masks, and unwrap them with `to_numpy`.
    "_typ": "npy_extension",
    "__arrow_c_stream__": _arrow_stream,
    "numpy": numpy,
    "to_numpy": to_numpy,
}
for _function in (numpy, to_numpy, _arrow_stream):
    _function.__dict__["__execution__"] = GATHERED
