"""Indices and scalars far out of range, where NumPy is no usable reference."""

import dappled as np
import numpy
import pytest

from tests.support.rank_arrays import VALUES, array

pytestmark = [pytest.mark.ranks(1, 3, 4), pytest.mark.usefixtures("quiet_fallback")]

FAR = [2**62, -(2**62), 1, 5, -(2**63)]
COMPARED = "equal not_equal less less_equal greater greater_equal"


def test_wrap_mode_far_out_of_range():
    far, values = np.array(FAR), np.arange(3) * 2
    places = [number % 3 for number in FAR]
    wanted = [place * 2 for place in places]
    assert far.choose([0, 2, 4], mode="wrap").tolist() == wanted
    assert np.choose(FAR, [0, values[1], 4], None, "wrap").tolist() == wanted
    assert numpy.choose(far, [0, 2, 4], mode="wrap").tolist() == wanted
    assert values.take(far, mode="wrap").tolist() == wanted
    assert np.take(values[:, None], far, 0, None, "wrap").ravel().tolist() == wanted
    np.put(values, far, 7, mode="wrap")
    assert values.tolist() == [7 if place in places else 2 * place for place in range(3)]


def test_wrap_and_clip_of_narrow_index_dtypes():
    for mode in ("wrap", "clip"):
        for places in (numpy.array([5, -3], "b"), numpy.array([5, 2**64 - 1], "L")):
            ours, theirs = np.arange(300), numpy.arange(300)
            found = ours.take(np.array(places), mode=mode)
            assert found.tolist() == theirs.take(places, mode=mode).tolist()
    ours.put(np.array([5, -3], "b"), 7, "wrap")
    assert [place for place in range(300) if ours[place] == 7] == [5, 7, 297]


def test_masked_comparison_with_scalars_out_of_range():
    mask = numpy.array([1, 1, 0, 1], "?")
    for dtype in "bBhHiIlL":
        limits = numpy.iinfo(dtype)
        values = numpy.array([limits.min, limits.max, 3, 0], dtype)
        for number in (limits.min - 1, limits.max + 1, 3):
            for name in COMPARED.split():
                out = np.zeros(4, "?")
                getattr(np, name)(np.array(values), number, out=out, where=np.array(mask))
                wanted = getattr(numpy, name)(values, number) & mask
                assert out.tolist() == wanted.tolist(), (dtype, number, name)


def test_broadcast_to_is_read_only():
    view = np.broadcast_to(array()[0, 0:1], 7)
    assert view.shape == (7,) and not view.flags.writeable
    assert np.broadcast_to(array(), [2, 3, 4]).shape == (2, 3, 4)


def test_histogram_edges_of_float32():
    for bins in ("auto", 5, 7):
        ours = np.histogram(array("f4"), bins, (-1, 2))
        theirs = numpy.histogram(VALUES.astype("f4"), bins, (-1, 2))
        assert [one.tolist() for one in ours] == [one.tolist() for one in theirs], bins


def test_arange_of_unsigned_with_negative_ends():
    assert np.arange(-1, 0, -1, dtype="I").tolist() == []
    assert np.arange(2, -1, -1, dtype="I").tolist() == [2, 1, 0]


def test_ufunc_at_casts_one_element():
    ours, theirs = np.array([1, -128], "b"), numpy.array([1, -128], "b")
    np.copysign.at(ours, 1, numpy.float32(2)), numpy.copysign.at(theirs, 1, numpy.float32(2))
    assert ours.tolist() == theirs.tolist()
