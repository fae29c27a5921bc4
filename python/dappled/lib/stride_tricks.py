"""`numpy.lib.stride_tricks`, over our arrays."""

from dappled._dispatch.submodule import submodule
from dappled._ndarray.views import as_strided as as_strided
from dappled._ndarray.views import sliding_window_view as sliding_window_view

__getattr__, __dir__, __all__ = submodule(__name__)
