"""`numpy.random`, over our arrays; without a seed, the same numbers on every rank.

`default_rng(seed, parallel=True)` makes a `ParallelGenerator`.
"""

from dappled._entropy import seeded, share_global_state, shared
from dappled._parallel_random import ParallelGenerator as ParallelGenerator
from dappled._parallel_random import or_parallel
from dappled._submodule import submodule

__getattr__, __dir__, __all__ = submodule(__name__)

default_rng = seeded(or_parallel(__getattr__("default_rng")))
seed = seeded(__getattr__("seed"))
Generator = __getattr__("Generator")
Generator.__init__ = shared(Generator.__init__)
RandomState = __getattr__("RandomState")
RandomState.__init__ = seeded(RandomState.__init__, 1)
RandomState.seed = seeded(RandomState.seed, 1)
share_global_state()
