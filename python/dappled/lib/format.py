"""`numpy.lib.format`, over our arrays."""

from dappled._dispatch.submodule import submodule
from dappled._routines.io.memmap import open_memmap as open_memmap

__getattr__, __dir__, __all__ = submodule(__name__)
