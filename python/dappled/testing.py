"""`numpy.testing`, over our arrays."""

from dappled._asserting import assert_allclose as assert_allclose
from dappled._asserting import assert_array_almost_equal as assert_array_almost_equal
from dappled._asserting import assert_array_equal as assert_array_equal
from dappled._asserting import assert_array_less as assert_array_less
from dappled._submodule import submodule

__getattr__, __dir__, __all__ = submodule(__name__)
