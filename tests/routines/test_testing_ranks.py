"""`numpy.testing` with distributed arrays: the outcomes and messages of NumPy."""

import dappled as np
import numpy
import pytest

from tests.support.compare import outcome_of

VALUES = numpy.arange(2520.0).reshape(60, 42) + 1
HOLES = numpy.where(VALUES == 7, numpy.nan, VALUES)
CALLS = {
    "close": lambda t, a, h: t.assert_allclose(a, a * (1 + 1e-12)),
    "not close": lambda t, a, h: t.assert_allclose(a, a + 1),
    "tolerance": lambda t, a, h: t.assert_allclose(a, a + 1, atol=2),
    "number": lambda t, a, h: t.assert_allclose(a, 3),
    "equal": lambda t, a, h: t.assert_array_equal(a, VALUES),
    "one differs": lambda t, a, h: t.assert_array_equal(a, (a > 2518) * 1 + a, err_msg="one"),
    "shapes": lambda t, a, h: t.assert_array_equal(a, a[:3]),
    "strict": lambda t, a, h: t.assert_array_equal(a[:1, 0], 1, strict=True),
    "holes": lambda t, a, h: t.assert_array_equal(h, h.copy()),
    "holes are close": lambda t, a, h: t.assert_allclose(h, h.copy()),
    "no holes": lambda t, a, h: t.assert_allclose(h, h.copy(), equal_nan=False),
    "holes there": lambda t, a, h: t.assert_allclose(h, a),
    "less": lambda t, a, h: t.assert_array_less(a, a + 1),
    "not less": lambda t, a, h: t.assert_array_less(a, a),
    "almost": lambda t, a, h: t.assert_array_almost_equal(a, a + 0.001, 2),
    "not almost": lambda t, a, h: t.assert_array_almost_equal(a, a + 0.1, 2),
    "list": lambda t, a, h: t.assert_array_equal(a[0], a[0].tolist()),
    "whole": lambda t, a, h: t.assert_equal(a, a.copy()),
}


@pytest.mark.ranks(3, replicated_below=2000)
@pytest.mark.usefixtures("quiet_fallback")
@pytest.mark.parametrize("name", CALLS)
def test_assertions(name):
    arrays = np.asarray(VALUES, dist="bb"), np.asarray(HOLES, dist="cn")
    found = outcome_of(CALLS[name], np.testing, *arrays)
    assert found == outcome_of(CALLS[name], numpy.testing, VALUES, HOLES)
