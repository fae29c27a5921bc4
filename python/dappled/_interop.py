"""Our arrays as other libraries want them: as NumPy's."""

from __future__ import annotations

import sys
from typing import Any

from dappled._array import core, is_gathered
from dappled._comm import together
from dappled._tables import GATHERED


def numpy(self: Any) -> Any:
    """The array as NumPy's, for libraries that take no other.

    On one rank it is the array's own memory: each sees what is written through the other. So it is
    on several ranks where every rank has all elements, but to be read only. An array in pieces is
    gathered on every rank, into a copy that is to be read only; then it is collective.

    >>> import dappled as np
    >>> a = np.zeros(3)
    >>> n = a.numpy()
    >>> n[0] = 1
    >>> type(n).__module__, a
    ('numpy', array([1., 0., 0.]))
    """
    gathers = is_gathered(self)
    if gathers:
        together("ndarray.numpy")
    values = core.unwrap(self, writeable=True)
    if gathers:
        values.flags.writeable = False
    return values


def to_numpy(
    self: Any, dtype: Any = None, copy: bool = False, na_value: Any = None, **options: Any
) -> Any:
    """A copy as NumPy's array. pandas asks for it, and the values of its objects are their own."""
    return self.__array__(dtype, copy=True)


def _arrow_stream(self: Any, requested_schema: Any = None) -> Any:
    """The values in Arrow's C interface, made by the library that the program uses for it."""
    if polars := sys.modules.get("polars"):
        make = polars.Series if self.ndim == 1 else polars.DataFrame
        return make(numpy(self)).__arrow_c_stream__(requested_schema)
    if (arrow := sys.modules.get("pyarrow")) and self.ndim == 1:
        values = arrow.chunked_array([arrow.array(numpy(self))])
        return values.__arrow_c_stream__(requested_schema)
    raise TypeError("an array is handed over as Arrow's by polars or pyarrow alone: a.numpy()")


METHODS: dict[str, Any] = {
    # pandas tells array classes apart by this name. The one it has for its wrapper of NumPy's
    # arrays lets it take ours for masks, and unwrap them by `to_numpy`.
    "_typ": "npy_extension",
    "__arrow_c_stream__": _arrow_stream,
    "numpy": numpy,
    "to_numpy": to_numpy,
}
for _function in (numpy, to_numpy, _arrow_stream):
    _function.__dict__["__way__"] = GATHERED
