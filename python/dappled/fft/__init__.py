"""`numpy.fft`, over our arrays. The core transforms distributed arrays.

```text
_functions  the functions: arguments to a list of one-dimensional transforms
_local      transforms of one process, on all threads
```
"""

from dappled._dispatch.registry import with_fast_paths
from dappled._dispatch.submodule import submodule
from dappled.fft._functions import FUNCTIONS

__getattr__, __dir__, __all__ = submodule(__name__)

globals().update(with_fast_paths(FUNCTIONS, __name__))
