"""Results of small operations: scalars, and arrays that are built on demand."""

import pickle
import weakref
from collections.abc import Callable
from typing import Any

import numpy
import pytest

from tests.support.compare import difference
from tests.support.values import NUMBERS, maker


def write(np, r, a):
    r[1:3] = 5
    return r + a


def write_through_a_view(np, r, a):
    part = r[::2]
    part[...] = 7
    return r * 1, r + a, part + part


def write_after_reading(np, r, a):
    before = r + a
    view = r.reshape(-1)
    r[0] = 1
    return before, r + a, view + 1, r is not view


def update(np, r, a):
    kept = r
    r += r
    return r + a, kept + 0, r is kept


def lend(np, r, a):
    lent = numpy.asarray(r)
    lent[...] = 3
    return r + a, numpy.shares_memory(lent, numpy.asarray(r))


def give_shape(np, r, a):
    with numpy.testing.suppress_warnings() as quiet:
        quiet.filter(DeprecationWarning)
        r.shape = (2, -1)
    return r + 1, r.ravel() + a, r.base is None


def be_the_target(np, r, a):
    return np.add(r, a, out=r) is r, r + 0


def describe(np, r, a):
    return r.dtype, r.shape, r.flags.c_contiguous, r.flags.owndata, r.base is None, len(r), r.nbytes


def pickle_it(np, r, a):
    return pickle.loads(pickle.dumps(r)) + a


def be_referred_to(np, r, a):
    refer = weakref.ref(r)
    return refer() is r, refer() + a


def be_an_index(np, r, a):
    return a[(r != r) | (a == a)] + 1


def be_repeated(np, r, a):
    return r + np.ones((3, 1), r.dtype), np.ones((3, 1), r.dtype) + r, r[:, None] + r


USES: list[Callable[..., Any]] = [
    write,
    write_through_a_view,
    write_after_reading,
    update,
    lend,
    give_shape,
    be_the_target,
    describe,
    pickle_it,
    be_referred_to,
    be_an_index,
    be_repeated,
]


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
@pytest.mark.parametrize("use", USES, ids=lambda use: use.__name__)
def test_a_result_is_an_array(use, dtype):
    for size in (4, 100, 1000):

        def program(np, a):
            return use(np, np.add(a, a), a), use(np, a + a, a), use(np, a.astype(dtype) * a, a)

        found = difference(program, maker(dtype, (size,)))
        assert found is None, found


def test_memory_goes_from_result_to_result_and_is_never_two():
    """Held results keep their values while others are dropped."""

    def program(np, a):
        held, sums = [], []
        for step in range(200):
            fresh = a + step
            if step % 3 == 0:
                held.append(fresh)
            if step % 5 == 0:
                fresh[0] = -step
            if step % 7 == 0:
                held = held[1:]
            sums.append(fresh * 2 - a)
        return held, sums[::9]

    found = difference(program, maker(numpy.dtype("f8"), (50,)))
    assert found is None, found
