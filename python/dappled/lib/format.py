"""`numpy.lib.format`, over our arrays."""

from dappled._mapping import open_memmap as open_memmap
from dappled._submodule import submodule

__getattr__, __dir__, __all__ = submodule(__name__)
