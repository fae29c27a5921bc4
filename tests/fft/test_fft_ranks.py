"""Fourier transforms of distributed arrays."""

import pytest

from tests.support.distributed import check_table, distributed, raised, warned

TRANSFORMS = {
    "fft": lambda np, a: np.fft.fft(a),
    "fft 0": lambda np, a: np.fft.fft(a, 33, 0, "ortho"),
    "ifft": lambda np, a: np.fft.ifft(a + 2j * a[::-1]),
    "rfft": lambda np, a: np.fft.rfft(a),
    "rfft 0": lambda np, a: np.fft.rfft(a, 71, 0),
    "irfft": lambda np, a: np.fft.irfft(a + 1j * a),
    "irfft 0": lambda np, a: np.fft.irfft(a + 1j * a, 71, axis=0),
    "hfft": lambda np, a: np.fft.hfft(a + 1j * a),
    "ihfft": lambda np, a: np.fft.ihfft(a),
    "fft2": lambda np, a: np.fft.fft2(a),
    "ifft2": lambda np, a: np.fft.ifft2(a - 1j * a, (64, 33)),
    "rfft2": lambda np, a: np.fft.rfft2(a.T[::-1]),
    "irfft2": lambda np, a: np.fft.irfft2(a + 1j),
    "fftn": lambda np, a: np.fft.fftn(a.reshape(12, 5, 42)),
    "fftn twice": lambda np, a: np.fft.fftn(a, axes=(0, 0)),
    "rfftn": lambda np, a: np.fft.rfftn(a.reshape(12, 5, 42), (7, -1), (2, 1)),
    "irfftn": lambda np, a: np.fft.irfftn(a.reshape(2, 30, 42)),
    "fftn lengths": lambda np, a: np.fft.fftn(a, (7, -1)),
    "ifftn lengths": lambda np, a: np.fft.ifftn(a.reshape(12, 5, 42), s=(11,)),
    "rfftn lengths": lambda np, a: warned(lambda: np.fft.rfftn(a, [33, 20])),
    "irfftn lengths": lambda np, a: warned(lambda: np.fft.irfftn(a, (9,))),
    "fftn too many lengths": lambda np, a: raised(lambda: np.fft.fftn(a, (9, 9, 9))),
    "fftn no axes": lambda np, a: (np.fft.fftn(a, axes=()) is a, np.fft.fft2(a, axes=()).sum()),
    "rfftn no axes": lambda np, a: raised(lambda: np.fft.rfftn(a, axes=())),
    "there and back": lambda np, a: np.fft.irfft2(np.fft.rfft2(a), a.shape),
    "one line": lambda np, a: np.fft.fft(a.reshape(-1)),
    "one line back": lambda np, a: np.fft.ifft(a.reshape(-1)[:1024] + 1j),
    "one real line": lambda np, a: np.fft.rfft(a.reshape(-1)),
    "one odd real line": lambda np, a: np.fft.rfft(a.reshape(-1), 2025, norm="ortho"),
    "one short real line": lambda np, a: np.fft.rfft(a.reshape(-1)[:144]),
    "one narrow real line": lambda np, a: np.fft.rfft(a.reshape(-1).astype("f4"), 2000),
    "to one real line": lambda np, a: np.fft.irfft(a.reshape(-1), 2001),
    "a prime line": lambda np, a: np.fft.fft(a.reshape(-1)[:997]),
    "two lines": lambda np, a: np.fft.rfft(a.reshape(2, -1), 2000),
    "narrow": lambda np, a: np.fft.fft2(a.astype("f4")),
    "out": lambda np, a: np.fft.fft2(a, out=np.zeros(a.shape, complex)),
    "fftfreq": lambda np, a: np.fft.fftfreq(1001, 0.5),
    "rfftfreq": lambda np, a: np.fft.rfftfreq(1001),
    "wrong length": lambda np, a: raised(lambda: np.fft.fft(a, 0)),
    "wrong axis": lambda np, a: raised(lambda: np.fft.fft(a, axis=2)),
    "wrong norm": lambda np, a: raised(lambda: np.fft.fft(a, norm="no")),
    "not real": lambda np, a: raised(lambda: np.fft.rfft(a + 1j)),
    "not real, out": lambda np, a: [
        raised(lambda shape=shape: np.fft.ihfft(a + 1j, out=np.zeros(shape, complex)))
        for shape in [(3,), (60, 21), (60, 22), (7, 22)]
    ],
}


@distributed
@pytest.mark.parametrize("name", TRANSFORMS)
def test_fft(name):
    check_table(TRANSFORMS, name)
