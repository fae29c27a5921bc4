"""`numpy.linalg`, over our arrays.

```text
_functions   the functions: checks of arguments, choice of the algorithm
_batched     NumPy's functions on stacks of matrices, divided over ranks and threads
```
"""

from dappled._dispatch.registry import with_fast_paths
from dappled._dispatch.submodule import submodule
from dappled.linalg._functions import FUNCTIONS

__getattr__, __dir__, __all__ = submodule(__name__)

globals().update(with_fast_paths(FUNCTIONS, __name__))
