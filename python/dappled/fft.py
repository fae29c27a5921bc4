"""`numpy.fft`, over our arrays."""

from dappled._fft import FUNCTIONS
from dappled._names import of_own
from dappled._submodule import submodule

__getattr__, __dir__, __all__ = submodule(__name__)

globals().update(of_own(FUNCTIONS, __name__))
