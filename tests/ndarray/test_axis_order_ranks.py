"""Memory order of `array`, `einsum` and ufuncs on several ranks."""

import itertools

import dappled as np
import numpy
import pytest

from tests.dispatch.test_complex_rounding import test_bits_written_in_every_direction as written
from tests.ranks.test_distributions_ranks import replicated
from tests.support.rank_arrays import ITEMS, VALUES

pytestmark = [pytest.mark.ranks(1, 3, 4), pytest.mark.usefixtures("quiet_fallback")]


def test_memory_order_is_kept():
    cube = numpy.arange(24.0).reshape(2, 3, 4).transpose(1, 2, 0)
    for values in (
        VALUES.copy("F"),
        cube,
        ITEMS["dates"].copy("F"),
        VALUES.T[::-1],
        VALUES[:, ::2],
    ):
        for make in (lambda xp, v: xp.array(v), lambda xp, v: xp.array(v, "U40", order="A")):
            ours, theirs = make(np, values), make(numpy, values)
            assert ours._strides == theirs.strides and ours.tolist() == theirs.tolist()
            for order in "CFKA":
                assert ours.ravel(order).tolist() == theirs.ravel(order).tolist(), order
        assert np.array(values).ravel("K").tolist() == values.copy("K").ravel("K").tolist()


def test_einsum_views_are_writeable():
    for make in (np.array, replicated):
        a = make(numpy.ones((4, 4)))
        np.einsum("ii->i", a)[:] = 5
        np.einsum("ij->ji", a)[0] = 7
        assert a.tolist() == [[7, 1, 1, 1], [7, 5, 1, 1], [7, 1, 5, 1], [7, 1, 1, 5]]
        assert type(np.einsum("...->...", a[1:2, 1].sum(keepdims=True)[0])) is numpy.float64


SUMS = [
    *("ij,kj->ik", "ij,jk->ik", "ij,kj->ki", "ij,kj->ijk", "ij,ij->ij", "ij,kl->ijkl"),
    *("ij,ik->kj", "ij,j->ij", "ij,i->ji", "ij,kj->kij", "ij,jk,kl->li", "ijk->kj", "jik->ij"),
]


def _in_orders(subscripts):
    """Operands for subscripts, each in rows and in columns."""
    names = subscripts.partition("->")[0].split(",")
    shapes = [["ijkl".index(label) + 3 for label in one] for one in names]
    given = [numpy.arange(numpy.prod(shape), dtype=float).reshape(shape) for shape in shapes]
    for orders in itertools.product("CF", repeat=len(given)):
        yield [values.copy(order) for values, order in zip(given, orders, strict=True)]


def test_einsum_memory_order():
    options = {}, {"order": "C"}, {"order": "F"}, {"optimize": True}
    every = [(one, given) for one in SUMS for given in _in_orders(one)]
    for (subscripts, given), named in itertools.product(every, options):
        expected = numpy.einsum(subscripts, *given, **named)
        ours = [np.array(values) for values in given]
        for operands in (ours, [given[0], *ours[1:]], [*ours[:-1], given[-1]]):  # or one whole
            if any(isinstance(one, np.ndarray) for one in operands):
                found = np.einsum(subscripts, *operands, **named)
                assert found._strides == expected.strides, (subscripts, named)
                assert found.tolist() == expected.tolist()


def test_shuffling_empty_arrays_draws_nothing():
    for make in ("default_rng", "RandomState"):
        for shape in [(3, 0, 2), (0, 3), (0,)]:
            ours, theirs = (getattr(xp.random, make)(3) for xp in (np, numpy))
            ours.shuffle(np.ones(shape)), theirs.shuffle(numpy.ones(shape))
            assert ours.permutation(np.ones(shape)).shape == shape
            theirs.permutation(numpy.ones(shape))
            assert ours.normal() == theirs.normal()


def test_digitize_with_nan_bins():
    for bins in ([1, numpy.nan, 3], [numpy.nan, 2, 1], [1, 2, numpy.nan]):
        found = np.digitize(np.array([0.0, 1, 2, 5]), np.array(bins))
        assert found.tolist() == numpy.digitize([0.0, 1, 2, 5], bins).tolist()


def test_complex_bits_on_ranks():
    for shape in [(900,), (6, 8), (3, 3000)]:
        written(shape, "complex64")


def test_ufunc_order_of_distributed_arrays():
    values, mask = numpy.arange(24.0).reshape(2, 3, 4), numpy.arange(24).reshape(2, 3, 4) % 3 > 0
    programs = [
        *[lambda np, a, m, order=order: np.add(a, a, order=order) for order in "CFAK"],
        lambda np, a, m: np.hypot.reduce(a, axis=1),
        lambda np, a, m: np.hypot.reduce(a, axis=(0,), keepdims=True, where=m),
        lambda np, a, m: np.any(a, axis=2, where=m),
        lambda np, a, m: np.arctan2.accumulate(a, axis=1),
        lambda np, a, m: np.nonzero(a)[1],
    ]
    for given in (values, values.copy("F"), values.transpose(1, 2, 0).copy("K")):
        fits = mask if given.shape == mask.shape else mask.reshape(given.shape)
        for number, program in enumerate(programs):
            ours = program(np, np.array(given), np.array(fits))
            theirs = program(numpy, given, fits)
            flags = [
                (flags.c_contiguous, flags.f_contiguous) for flags in (ours._flags, theirs.flags)
            ]
            assert flags[0] == flags[1], (number, flags, given.strides)
            assert ours.tolist() == theirs.tolist(), number
    assert not np.nonzero(replicated(values))[1]._flags.c_contiguous
    assert np.random.default_rng(3).permutation(np.array(values[:1]), axis=-1).flags.f_contiguous
