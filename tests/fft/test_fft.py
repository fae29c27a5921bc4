"""numpy.fft: every function, over dtypes, shapes, axes, lengths and views, against NumPy.

Two ways to compute a transform differ by roundings: each of the log2(n) stages adds a few units,
relative to the size of the whole result: an element may be a small difference of large numbers.
"""

import itertools
import re
import warnings

import dappled
import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.values import VIEWS

ALONG_ONE = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
ALONG_SEVERAL = ["fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"]
NEED_REAL = {"rfft", "ihfft", "rfftn", "rfft2"}
# Large enough to be done by us, with even, odd and prime lengths.
SHAPES = [(1 << 14,), (20011,), (150, 121), (7, 64, 45), (2, 3, 4099), (12, 1, 2048)]
PLAIN = (lambda np, a: a, VIEWS["transposed"], VIEWS["reversed"], VIEWS["columns"])


def values(dtype, shape, seed=3):
    random = numpy.random.default_rng(seed)
    made = random.normal(size=shape) * 20
    return (made + 1j * random.normal(size=shape) * 20 if dtype in "FD" else made).astype(dtype)


def tolerance(result):
    kind = {"e": "e", "f": "f", "F": "f"}.get(result.dtype.char, "d")
    return 4 * numpy.finfo(kind).eps * numpy.log2(max(result.size, 2))


def assert_like(ours, theirs):
    assert isinstance(ours, dappled.ndarray)
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    found = numpy.asarray(ours)
    scale = numpy.abs(theirs).max(initial=1e-300)
    assert numpy.abs(found - theirs).max(initial=0) <= tolerance(theirs) * scale


def check(name, array, view=PLAIN[0], **kwargs):
    theirs = getattr(numpy.fft, name)(view(numpy, array), **kwargs)
    ours = getattr(dappled.fft, name)(view(dappled, dappled.asarray(array)), **kwargs)
    assert_like(ours, theirs)
    strides = zip(ours.strides, theirs.strides, ours.shape, strict=True)
    assert all(one == other for one, other, length in strides if length > 1)


EVERY = [
    (name, dtype)
    for name, dtype in itertools.product(ALONG_ONE + ALONG_SEVERAL, "?bLefdFD")
    if name not in NEED_REAL or dtype not in "FD"
]


@pytest.mark.parametrize(("name", "dtype"), EVERY)
def test_every_function_of_every_dtype(name, dtype):
    for place, shape in enumerate(SHAPES):
        if len(shape) > 1 or name in ALONG_ONE:
            check(name, values(dtype, shape), PLAIN[place % len(PLAIN)])


@pytest.mark.parametrize("name", ALONG_ONE)
@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
def test_axes_lengths_and_norms(name, norm):
    array = values("d", (40, 30, 20))
    for axis in (0, 1, -1):
        for n in (None, 1, 2, 17, 30, 65):
            check(name, array, n=n, axis=axis, norm=norm)


@pytest.mark.parametrize("name", ALONG_SEVERAL)
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
def test_several_axes_lengths_and_norms(name, norm):
    array = values("f", (40, 30, 20))
    for axes in ((0, 1), (-1, 0), (1, -1), (2, 2)):
        for s in (None, (16, 25), (-1, 33), (50, -1)):
            check(name, array, PLAIN[2], s=s, axes=axes, norm=norm)


@pytest.mark.parametrize("name", ["fft", "rfft", "irfft", "fftn", "rfft2", "ihfft"])
def test_long_lines(name):
    for n in (1 << 19, 3 * 5 * 7 * 11 * 601, 600_011):
        shape = (n,) if name in ALONG_ONE else (1, n)
        check(name, values("f" if n % 2 else "d", shape))


@pytest.mark.parametrize("name", ALONG_ONE + ALONG_SEVERAL)
def test_out(name):
    array = values("d", (128, 144))
    theirs = getattr(numpy.fft, name)(array)
    out = dappled.full(theirs.shape, 7, dtype=theirs.dtype)
    ours = getattr(dappled.fft, name)(dappled.asarray(array), out=out)
    assert_like(ours, theirs)
    ignored = name in ("hfft", "ifft2", "irfft2")  # by NumPy
    assert (ours is out) is not ignored


@pytest.mark.parametrize(
    "call",
    [
        lambda np, a: np.fft.fft(a, 0),
        lambda np, a: np.fft.fft(a, -1),
        lambda np, a: np.fft.fft(a, 2.5),
        lambda np, a: np.fft.fft(a, axis=2),
        lambda np, a: np.fft.fft(a, norm="wrong"),
        lambda np, a: np.fft.ifft(a, norm="wrong"),
        lambda np, a: np.fft.rfft(a + 1j),
        lambda np, a: np.fft.fftn(a, (3, 4, 5), (0, 1)),
        lambda np, a: np.fft.fftn(a, axes=(0, 5)),
        lambda np, a: np.fft.irfft(a[:, :1]),
        lambda np, a: np.fft.fft(a, out=np.zeros((3, 3), complex)),
        lambda np, a: np.fft.fft(a[:0], axis=0),
    ],
)
def test_errors_are_numpys(call):
    array = values("d", (128, 144))
    with pytest.raises(Exception) as theirs:
        call(numpy, array)
    with pytest.raises(theirs.type) as ours:
        call(dappled, dappled.asarray(array))
    assert str(ours.value).replace("dappled", "numpy") == str(theirs.value)


def test_small_ones_and_long_doubles_are_numpys_bits():
    for array in (values("d", (12, 10)), values("g", (128, 144))):
        theirs = numpy.fft.fft2(array)
        ours = dappled.fft.fft2(dappled.asarray(array))
        assert ours.dtype == theirs.dtype
        assert (numpy.asarray(ours) == theirs).all()


def test_frequencies_and_shifts():
    for n in (8, 9, 20_000):
        assert (numpy.asarray(dappled.fft.fftfreq(n, 0.1)) == numpy.fft.fftfreq(n, 0.1)).all()
        assert (numpy.asarray(dappled.fft.rfftfreq(n, 0.1)) == numpy.fft.rfftfreq(n, 0.1)).all()
        array = numpy.arange(n)
        shifted = dappled.fft.ifftshift(dappled.fft.fftshift(dappled.asarray(array)))
        assert (numpy.asarray(shifted) == array).all()


def test_numpys_function_of_our_array_is_ours():
    array = values("d", (128, 144))
    assert_like(numpy.fft.rfft2(dappled.asarray(array)), numpy.fft.rfft2(array))


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_call(data):
    name = data.draw(st.sampled_from(ALONG_ONE + ALONG_SEVERAL))
    ndim = data.draw(st.integers(1 if name in ALONG_ONE else 2, 4))
    longest = data.draw(st.integers(0, ndim - 1))
    rest = [data.draw(st.integers(1, 6)) for _ in range(ndim - 1)]
    shape = [*rest[:longest], -(-(1 << 14) // numpy.prod(rest, dtype=int)), *rest[longest:]]
    dtype = data.draw(st.sampled_from("fdl" if name in NEED_REAL else "fdlFD"))
    array = values(dtype, shape, data.draw(st.integers(0, 9)))
    view = data.draw(st.sampled_from(PLAIN))
    kwargs = {"norm": data.draw(st.sampled_from([None, "ortho", "forward"]))}
    lengths = st.integers(1, 40)
    if name in ALONG_ONE:
        kwargs |= {"axis": data.draw(st.integers(-ndim, ndim - 1))}
        kwargs |= {"n": data.draw(st.none() | lengths)}
    else:
        axes = data.draw(st.permutations(range(ndim)))[:2]
        kwargs |= {"axes": axes, "s": data.draw(st.none() | st.tuples(lengths, lengths))}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            theirs = getattr(numpy.fft, name)(view(numpy, array), **kwargs)
        except ValueError as error:  # half of a spectrum of one element
            with pytest.raises(ValueError, match=re.escape(str(error))):
                getattr(dappled.fft, name)(view(dappled, dappled.asarray(array)), **kwargs)
            return
        ours = getattr(dappled.fft, name)(view(dappled, dappled.asarray(array)), **kwargs)
    assert_like(ours, theirs)
