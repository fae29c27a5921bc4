"""Distributions of results, replicated arrays, and pieces of other libraries."""

import dappled as np
import numpy
import pytest
from scipy import ndimage

from tests.support.rank_arrays import ITEMS, VALUES, allgather, array

pytestmark = [pytest.mark.ranks(1, 3, 4), pytest.mark.usefixtures("quiet_fallback")]


def test_reinterpreting_views_stay_views():
    a = array()
    a.view("u1")[0, :8] = numpy.array([7.0]).view("u1")
    np.lib.stride_tricks.as_strided(a, (2, 2), (64, 8))[1] = 9
    windows = np.lib.stride_tricks.sliding_window_view(a, 2, 1)
    a.mT[3] = 3
    expected = VALUES.copy()
    expected[0, 0], expected.reshape(-1)[8:10], expected[:, 3] = 7, 9, 3
    assert a.tolist() == expected.tolist() and windows[0, 2].tolist() == [-3, 3]
    assert not windows.flags.writeable


def test_nonzero_returns_columns_of_one_array():
    for places in (array().nonzero(), np.where(array() > 0), np.nonzero(array())):
        before = places[0].tolist()
        places[0].ravel()[...] = 9
        assert places[0].tolist() == before and places[1]._strides == (16,)
        assert not places[0]._flags.c_contiguous


def test_ufunc_at_casts_values():
    for values in ([1.5, 2.5], 2.5, np.asarray([1.5, 2.5])):
        for key in ([0, 1], slice(2)):
            ours, theirs = np.asarray([1, 2, 3]), numpy.array([1, 2, 3])
            np.multiply.at(ours, key, values)
            numpy.multiply.at(theirs, key, numpy.asarray(values))
            assert ours.tolist() == theirs.tolist()
    wrong = lambda numpys: numpys.bitwise_or.at(numpys.zeros(3), [7], 1)  # noqa: E731
    assert error_of(lambda: wrong(np)) == error_of(lambda: wrong(numpy))


def test_take_and_compress_of_no_rows():
    mask = [False, True, True, True]
    assert np.compress(mask, np.zeros((0, 2)), axis=1).shape == (0, 3)
    assert np.take(np.zeros((0, 2)), [7], axis=1).shape == (0, 1)


def test_printoptions_of_distributed_arrays():
    with np.printoptions(formatter={"float": lambda value: f"<{value:.0f}>"}, threshold=5):
        assert str(np.ones(50)) == str(numpy.ones(50))


def test_invalid_axes_raise():
    for axis in (True, [0], 1.0, (True,)):
        for fold in (lambda a, axis=axis: a.sum(axis), lambda a, axis=axis: a.argmax(axis)):
            assert error_of(lambda: fold(array())) == error_of(lambda: fold(VALUES))  # noqa: B023
    assert np.nansum(np.asarray([1.0, 2.0, 4.0]), dtype=object) == 7


def test_libraries_write_into_distributed_outputs():
    made = np.zeros((4, 4))
    ndimage.uniform_filter(numpy.ones((4, 4)), 3, output=made)
    assert made.tolist() == numpy.ones((4, 4)).tolist()


def test_from_distarray_shares_memory():
    shape = (2 * np.comm.size, 3)
    distribution = np.protocol.Distribution(shape, "cn", nprocs=np.comm.size)
    memory = numpy.full((2, 3), float(np.comm.rank))
    offered = np.protocol.Piece(memory, distribution.dim_data(np.comm.rank))
    a = np.from_distarray(offered)
    assert a[:, 0].tolist() == [*range(np.comm.size)] * 2
    a += 1
    assert memory[0, 0] == np.comm.rank + 1


def error_of(call):
    try:
        call()
    except (TypeError, ValueError) as error:
        return type(error).__name__, str(error)
    return None


def test_invalid_distributions_raise_on_all_ranks():
    other = np.protocol.Distribution((3, 5), "bn", nprocs=np.comm.size)
    calls = [
        lambda: np.zeros((3, 4), dist="bx"),
        lambda: np.ones((3, 4), dist="b"),
        lambda: np.arange(5, dist="u"),
        lambda: np.full((3, 4), 1, dist=3),
        lambda: np.asarray(VALUES, dist=other),
        lambda: np.zeros((3, 4), dist=np.protocol.Distribution((3, 4), "bn", nprocs=11)),
        lambda: np.array(["text"], dtype=object, dist="b"),
        lambda: array().redistribute("bbb"),
    ]
    errors = [error_of(call) for call in calls]
    assert all(errors), errors
    assert allgather(errors) == [errors] * np.comm.size
    assert [name for name, _ in errors].count("TypeError") == 2


def test_results_keep_the_distribution_of_operands():
    a = np.asarray(VALUES, dist="cn")
    for result in (
        a + 1,
        2 * a,
        np.sqrt(abs(a)),
        a > 0,
        a.astype("f4"),
        a.copy(),
        np.zeros_like(a),
    ):
        assert result.distribution == a.distribution
    b = np.asarray(numpy.arange(60.0).reshape(20, 3), dist="bn")
    parts = b[1:] - b[:-1]
    assert np.comm.size == 1 or parts.distribution == b.distribution.slice(slice(-1))


def test_fortran_order_is_kept():
    for values in (VALUES, VALUES.tolist(), ITEMS["dates"]):
        for make in (lambda xp, v: xp.array(v, order="F"), lambda xp, v: xp.asfortranarray(v)):
            ours, theirs = make(np, values), make(numpy, values)
            assert ours._strides == theirs.strides and ours.tolist() == theirs.tolist()
            ours.reshape(-1)[0] = ours[2, 3]
            assert ours.tolist() == theirs.tolist(), "a copy was written"
            ours.T.reshape(-1)[1] = ours[2, 3]
            assert ours[1, 0] == theirs[2, 3], "a view was written"


def replicated(values=VALUES):
    distribution = np.protocol.Distribution(values.shape, "n" * values.ndim, nprocs=np.comm.size)
    return np.array(values).redistribute(distribution)


def test_numpy_views_of_replicated_arrays_are_read_only():
    for values in (VALUES, ITEMS["dates"]):
        a = replicated(values)
        shown = numpy.asarray(a)
        assert shown.flags.writeable == (np.comm.size == 1)
        a[1] = values[0, 0]
        assert shown[1].tolist() == [values[0, 0].item()] * 4, "writes are seen"
        before = a.copy()
        a[2] = values[0, 0]
        assert before[2].tolist() == values[2].tolist() and a[2, 1] == values[0, 0]


def test_numpy_view_on_one_rank_does_not_affect_others():
    a, in_parts, kept = replicated(), array(), []
    pending = a + in_parts
    for step in range(6):
        if np.comm.rank == step % np.comm.size:
            kept.append(numpy.asarray(a))  # local: the array is whole
        pending = pending + a
        a[step % 3] += in_parts[0]
        a[...] = a + 1
        copy = a.copy()
        copy[0] = in_parts[1]
        if step % 2:
            kept.clear()
    b, expected = VALUES.copy(), VALUES + VALUES
    for step in range(6):
        expected = expected + b
        b[step % 3] += VALUES[0]
        b += 1
    assert pending.tolist() == expected.tolist() and a.tolist() == b.tolist()


def test_local_distributes_a_replicated_array():
    for values in (VALUES, ITEMS["structures"]):
        a = replicated(values)
        view = a[1:]
        local = a.local
        assert a.__distarray__()["buffer"] is not None
        if np.comm.size > 1:
            assert not a._whole and a.distribution == np.array(VALUES).distribution
            assert local.shape == a.distribution.local_shape(np.comm.rank)
        view[0] = values[2]
        assert a[1].tolist() == values[2].tolist()


def test_from_distarray_of_our_array_shares_memory():
    a = array()
    b = np.from_distarray(a)
    b[1] = 7
    own, back = a.local, b.local
    assert a[1].tolist() == [7] * 4 and (numpy.shares_memory(own, back) or not own.size)


def test_masked_arrays_own_copies():
    for make in (np.array, replicated):
        for kind in (np.ma.masked_array, np.ma.MaskedArray, np.ma.array):
            a, hidden = make(numpy.arange(6.0)), make(numpy.arange(6) % 3 == 0)
            masked = kind(a, mask=hidden)
            masked[1], masked[2], masked.mask[4] = np.ma.masked, 7, True
            assert masked.tolist() == [None, None, 7, None, None, 5]
            if np.comm.size > 1:
                assert a.tolist() == list(range(6)) and hidden.sum() == 2
