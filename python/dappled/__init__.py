"""NumPy programs, unchanged, on every core and every node."""

from importlib.metadata import version as _version

from dappled import protocol

__all__ = ["protocol"]
__version__ = _version("dappled")
