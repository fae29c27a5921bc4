"""A program that uses NumPy only; it prints the same with Dappled."""

import dataclasses
import io
import typing

import numpy as np
import numpy.ma as ma
import numpy.typing as npt
from numpy import linalg as LA
from numpy import ndarray, pi, sin
from numpy.fft import fft2, ifft2
from numpy.lib.stride_tricks import sliding_window_view
from numpy.polynomial import Polynomial
from numpy.random import Generator, default_rng, normal
from numpy.testing import assert_allclose
from numpy.typing import ArrayLike, NDArray


@dataclasses.dataclass
class State:
    x: npt.NDArray[np.float64]
    rng: Generator


def shifted(a: NDArray[np.float64], by: ArrayLike = 3) -> np.ndarray:
    return a + by


@np.vectorize
def doubled(x):
    return 2 * x


def classes():
    state = State(np.zeros(3), default_rng(0))
    assert isinstance(shifted(state.x), np.ndarray) and isinstance(state.rng, np.random.Generator)
    assert typing.get_type_hints(shifted)["return"] is np.ndarray is ndarray
    print(
        state.x,
        str(state.rng),
        np.dtype("f4"),
        np.issubdtype(np.float32, np.floating),
        repr(np.float64(3)),
    )


def settings():
    with np.errstate(divide="ignore"):
        print(np.ones(3) / 0)
    with np.printoptions(precision=2):
        print(np.array([1 / 3]), np.get_printoptions()["precision"])
    print(np.finfo(float).eps, np.iinfo("i4").max, np.inf, np.newaxis, np.s_[1:2], np.e, pi)


def arrays():
    x, y = np.meshgrid(np.arange(3), np.arange(2), indexing="ij")
    print((x * y).sum(), np.c_[x, x].shape, np.r_[1:4], doubled([1, 2]))
    print(np.einsum("ij,jk", np.ones((2, 2)), np.eye(2)), sliding_window_view(np.arange(4), 2))
    print([(place, int(value)) for place, value in np.ndenumerate(np.arange(2))])
    assert_allclose(ifft2(fft2(np.ones((4, 4)))).real, 1)
    print(abs(LA.norm(np.ones(4))), sin(np.zeros(2)), np.fromiter(range(3), float))


def others():
    print(ma.masked_array([1, 2, 3], mask=[0, 1, 0]).mean(), Polynomial([1, 2, 3])(np.arange(3.0)))
    file = io.BytesIO()
    np.save(file, np.arange(4))
    file.seek(0)
    print(np.load(file), np.frombuffer(b"\x01\x02", np.uint8), np.array2string(np.arange(3)))
    np.random.seed(3)
    print(np.random.rand(2), normal(size=2), default_rng(5).integers(9, size=3))
    print(np.datetime64("2020-01-01") + np.timedelta64(1, "D"), np.char.upper(["a"]))
    print(np.rec.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]).a, np.emath.sqrt(-1))
    try:
        np.linalg.inv(np.zeros((2, 2)))
    except np.linalg.LinAlgError as error:
        print(error)


if __name__ == "__main__":
    for part in (classes, settings, arrays, others):
        part()
