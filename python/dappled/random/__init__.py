"""`numpy.random`, over our arrays; without a seed, the same numbers on every rank.

`default_rng(seed, parallel=True)` makes a `ParallelGenerator`.

```text
_stream             NumPy's random stream, of which each rank keeps its piece
_array_parameters   draws with array parameters
_narrow_integers    8- and 16-bit integers, several per word; _narrow_bounds: with array bounds
_permutation        permutation, shuffle, choice; _weighted_choice: choice(p=)
_seeding            unseeded generators: the state of rank 0 on every rank
_state              snapshot of a generator's state
_parallel           ParallelGenerator: a counter-based generator
```
"""

import numpy

from dappled._dispatch.submodule import submodule
from dappled.random._parallel import ParallelGenerator as ParallelGenerator
from dappled.random._parallel import with_parallel_option
from dappled.random._seeding import (
    class_with_shared_seed,
    share_global_state,
    with_shared_seed,
    with_shared_state,
)

__getattr__, __dir__, __all__ = submodule(__name__)

default_rng = with_shared_seed(with_parallel_option(__getattr__("default_rng")))
seed = with_shared_seed(__getattr__("seed"))
Generator = __getattr__("Generator")
Generator.__init__ = with_shared_state(Generator.__init__)
RandomState = __getattr__("RandomState")
RandomState.__init__ = with_shared_seed(RandomState.__init__, 1)
RandomState.seed = with_shared_seed(RandomState.seed, 1)
MT19937 = class_with_shared_seed(numpy.random.MT19937)
PCG64 = class_with_shared_seed(numpy.random.PCG64)
PCG64DXSM = class_with_shared_seed(numpy.random.PCG64DXSM)
Philox = class_with_shared_seed(numpy.random.Philox)
SFC64 = class_with_shared_seed(numpy.random.SFC64)
SeedSequence = class_with_shared_seed(numpy.random.SeedSequence)
share_global_state()
