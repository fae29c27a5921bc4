"""`numpy.ctypeslib`, over our arrays."""

import functools
from typing import Any

import numpy

from dappled._dispatch.fallback import with_numpy_metadata
from dappled._dispatch.submodule import submodule
from dappled._ndarray.core import core, ndarray
from dappled._ndarray.exports import contiguous_memory

__getattr__, __dir__, __all__ = submodule(__name__)


def ndpointer(*args: Any, **kwargs: Any) -> Any:
    return _over_ours(numpy.ctypeslib.ndpointer(*args, **kwargs))


with_numpy_metadata(ndpointer, numpy.ctypeslib.ndpointer, __name__)


@functools.cache
def _over_ours(kind: Any) -> Any:
    """A class of pointers that takes the memory of our arrays, too, and shows its own as one."""

    def from_param(cls: Any, obj: Any) -> Any:
        return kind.from_param.__func__(
            cls, contiguous_memory(obj) if isinstance(obj, ndarray) else obj
        )

    members: dict[str, Any] = {"from_param": classmethod(from_param)}
    if hasattr(kind, "contents"):
        members["contents"] = property(lambda self: core.share(kind.contents.fget(self)))
    return type(kind)(kind.__name__, (kind,), members)
