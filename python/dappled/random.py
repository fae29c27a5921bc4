"""`numpy.random`, over our arrays; without a seed, the same numbers on every rank.

`default_rng(seed, parallel=True)` makes a `ParallelGenerator`.
"""

import numpy

from dappled._entropy import seeded, seeded_class, share_global_state, shared
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
MT19937 = seeded_class(numpy.random.MT19937)
PCG64 = seeded_class(numpy.random.PCG64)
PCG64DXSM = seeded_class(numpy.random.PCG64DXSM)
Philox = seeded_class(numpy.random.Philox)
SFC64 = seeded_class(numpy.random.SFC64)
SeedSequence = seeded_class(numpy.random.SeedSequence)
share_global_state()
