"""`order=None` is each function's default, as in NumPy."""

import dappled
import numpy
import pytest

ARRAYS = {
    "rows": numpy.arange(12.0).reshape(3, 4),
    "columns": numpy.asfortranarray(numpy.arange(12.0).reshape(3, 4)),
    "steps": numpy.arange(48.0).reshape(6, 8)[::2, ::2],
    "texts": numpy.arange(12).reshape(3, 4).astype("U3"),
    "large": numpy.arange(40_000.0).reshape(200, 200).T,
}
CALLS = {
    "a.reshape": lambda np, a: a.reshape((a.size // 2, 2), order=None),
    "a.ravel": lambda np, a: a.ravel(order=None),
    "a.ravel by place": lambda np, a: a.ravel(None),
    "a.flatten": lambda np, a: a.flatten(order=None),
    "a.flatten by place": lambda np, a: a.flatten(None),
    "a.copy": lambda np, a: a.copy(order=None),
    "a.copy by place": lambda np, a: a.copy(None),
    "a.astype": lambda np, a: a.astype("U9", order=None),
    "a.astype float": lambda np, a: a.astype("f4", order=None),
    "a.tobytes": lambda np, a: a.tobytes(order=None),
    "reshape": lambda np, a: np.reshape(a, (a.size // 2, 2), order=None),
    "ravel": lambda np, a: np.ravel(a, order=None),
    "copy": lambda np, a: np.copy(a, order=None),
    "array": lambda np, a: np.array(a, order=None),
    "asarray": lambda np, a: np.asarray(a, order=None),
    "asanyarray": lambda np, a: np.asanyarray(a, order=None),
    "zeros": lambda np, a: np.zeros((2, 3), order=None),
    "full": lambda np, a: np.full((2, 3), 4.0, order=None),
    "zeros_like": lambda np, a: np.zeros_like(a, order=None),
    "full_like": lambda np, a: np.full_like(a, 3, order=None),
    "eye": lambda np, a: np.eye(3, order=None),
    "ufunc": lambda np, a: np.add(a, a, order=None),
    "einsum": lambda np, a: np.einsum("ij->ji", a.astype("f8"), order=None),
    "clip": lambda np, a: np.clip(a.astype("f8"), 1, 3, order=None),
    "sort": lambda np, a: np.sort(a, order=None),
    "nditer": lambda np, a: np.nditer(a, order=None).itersize,
    "indices": lambda np, a: np.ravel_multi_index(([1], [2]), (3, 4), order=None),
}


def outcome(np, call, given):
    try:
        found = call(np, np.array(given))
    except (TypeError, ValueError) as error:
        return type(error), str(error)
    if not isinstance(found, np.ndarray):
        return found
    flags = found.flags.c_contiguous, found.flags.f_contiguous
    return found.dtype, found.shape, flags, numpy.asarray(found).tobytes()


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.ranks(1, 2)
def test_no_order_is_the_default(name):
    for given in ARRAYS.values():
        theirs = outcome(numpy, CALLS[name], given)
        assert outcome(dappled, CALLS[name], given) == theirs
