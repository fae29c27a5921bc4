"""Fourier transforms of distributed arrays with rare arguments."""

import pytest

from tests.support.distributed import check_table, distributed, raised, warned


def into(np, name, a, shape, kind):
    return getattr(np.fft, name)(a, out=np.zeros(shape, kind))


FFT = {
    "fftn None": lambda np, a: warned(lambda: np.fft.fftn(a, (None, 20), axes=(0, 1))),
    "ifft2 None": lambda np, a: warned(lambda: np.fft.ifft2(a, (20, None))),
    "rfftn None": lambda np, a: warned(lambda: np.fft.rfftn(a, (33, None), axes=(1, 0))),
    "irfftn None": lambda np, a: warned(lambda: np.fft.irfftn(a, (None, None), axes=(0, 1))),
    "irfft2 None": lambda np, a: warned(lambda: np.fft.irfft2(a, (-1, None))),
    "fftn no axes, None": lambda np, a: warned(lambda: np.fft.fftn(a, (None,))),
    "fftn too many None": lambda np, a: raised(lambda: np.fft.fftn(a, (None,) * 3, axes=(0, 1))),
    "fft narrow out": lambda np, a: into(np, "fft", a, (60, 42), "c8"),
    "irfft narrow out": lambda np, a: into(np, "irfft", a, (60, 82), "f4"),
    "rfft2 narrow out": lambda np, a: into(np, "rfft2", a, (60, 22), "c8"),
    **{
        f"{name} wrong out": lambda np, a, name=name: [
            raised(lambda shape=shape, kind=kind: into(np, name, a, shape, kind))
            for shape in [(3, 3), (60, 22), (60, 42), (60, 82), (1, 22), (2, 60, 22)]
            for kind in ("f8", "i4")
        ]
        for name in ("fft", "rfft", "ihfft")
    },
    "irfft wrong out": lambda np, a: [
        raised(lambda shape=shape: into(np, "irfft", a, shape, "i4"))
        for shape in [(3, 3), (60, 42), (60, 82)]
    ],
}


@distributed
@pytest.mark.parametrize("name", FFT)
def test_fft_arguments(name):
    check_table(FFT, name)
