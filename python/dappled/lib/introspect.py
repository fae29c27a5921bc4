"""`numpy.lib.introspect`, over our arrays."""

from dappled._dispatch.submodule import submodule

__getattr__, __dir__, __all__ = submodule(__name__)
