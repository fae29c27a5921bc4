"""`numpy.fft`, over our arrays.

```text
_functions        the functions: arguments to a list of one-dimensional transforms
_local            transforms of one process, on all threads
_pencils          transforms along the axes of a distributed array (pencil decomposition)
_row_transforms   row transforms, pipelined with the transpose
_one_dimensional  a one-dimensional transform over ranks; Bluestein's algorithm
_four_step        the matrix of Bailey's four-step algorithm
```
"""

from dappled._dispatch.registry import with_fast_paths
from dappled._dispatch.submodule import submodule
from dappled.fft._functions import FUNCTIONS

__getattr__, __dir__, __all__ = submodule(__name__)

globals().update(with_fast_paths(FUNCTIONS, __name__))
