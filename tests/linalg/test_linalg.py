"""numpy.linalg on one process: NumPy's LAPACK, so NumPy's bits, on any number of threads.

Distributed arrays are in test_linalg_ranks.py.
"""

import multiprocessing

import dappled
import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.compare import difference

DTYPES = list("?bLfdFD")
# One matrix, and stacks: small ones for NumPy alone, larger ones for all threads.
SHAPES = [(5, 5), (3, 4, 4), (700, 5, 5), (2, 300, 6, 6)]
CALLS = {
    "cholesky": lambda np, a: np.linalg.cholesky(definite(np, a)),
    "cholesky upper": lambda np, a: np.linalg.cholesky(definite(np, a), upper=True),
    "cholesky wrong": lambda np, a: np.linalg.cholesky(-definite(np, a)),
    "det": lambda np, a: np.linalg.det(a),
    "slogdet": lambda np, a: np.linalg.slogdet(a),
    "inv": lambda np, a: np.linalg.inv(definite(np, a)),
    "inv singular": lambda np, a: np.linalg.inv(a * 0),
    "solve": lambda np, a: np.linalg.solve(definite(np, a), a[..., :2]),
    "solve vector": lambda np, a: np.linalg.solve(definite(np, a), np.arange(a.shape[-1])),
    "solve wrong": lambda np, a: np.linalg.solve(definite(np, a), np.arange(99)),
    "qr": lambda np, a: np.linalg.qr(a),
    "qr r": lambda np, a: np.linalg.qr(a[..., :3], mode="r"),
    "qr complete": lambda np, a: np.linalg.qr(a[..., :3], "complete"),
    "qr wrong": lambda np, a: np.linalg.qr(a, "sideways"),
    "svd": lambda np, a: np.linalg.svd(a),
    "svd reduced": lambda np, a: np.linalg.svd(a[..., :3], full_matrices=False),
    "svd values": lambda np, a: np.linalg.svd(a, compute_uv=False),
    "svd hermitian": lambda np, a: np.linalg.svd(definite(np, a), hermitian=True),
    "svdvals": lambda np, a: np.linalg.svdvals(a),
    "eigh": lambda np, a: np.linalg.eigh(definite(np, a)),
    "eigh upper": lambda np, a: np.linalg.eigh(definite(np, a), "U"),
    "eigh wrong": lambda np, a: np.linalg.eigh(a, "X"),
    "eigvalsh": lambda np, a: np.linalg.eigvalsh(definite(np, a)),
    "eig": lambda np, a: np.linalg.eig(definite(np, a)),
    "pinv": lambda np, a: np.linalg.pinv(a),
    "pinv limit": lambda np, a: np.linalg.pinv(a, rtol=0.1),
    "pinv both": lambda np, a: np.linalg.pinv(a, 0.1, rtol=0.1),
    "lstsq": lambda np, a: np.linalg.lstsq(a.reshape(-1, a.shape[-1]), a.reshape(-1, a.shape[-1])),
    "cond": lambda np, a: np.linalg.cond(a),
    "cond 1": lambda np, a: np.linalg.cond(definite(np, a), 1),
    "matrix_rank": lambda np, a: np.linalg.matrix_rank(a),
    "matrix_power": lambda np, a: np.linalg.matrix_power(a, 3),
    "matrix_power back": lambda np, a: np.linalg.matrix_power(definite(np, a), -2),
    "norm": lambda np, a: np.linalg.norm(a, axis=(-2, -1)),
    "norm 2": lambda np, a: np.linalg.norm(a, 2, axis=(-2, -1)),
    "not square": lambda np, a: np.linalg.inv(a[..., :2]),
    "no matrix": lambda np, a: np.linalg.inv(a.reshape(-1)),
    "of lists": lambda np, a: np.linalg.inv(definite(np, a).tolist()),
    "half": lambda np, a: np.linalg.inv(a.astype("e")),
    "long double": lambda np, a: np.linalg.det(a.astype("g")),
    "transposed": lambda np, a: np.linalg.inv(np.swapaxes(definite(np, a), -1, -2)),
    "nothing": lambda np, a: np.linalg.inv(a[..., :0, :0]),
}


def definite(np, a):
    """Matrices with positive eigenvalues."""
    size = a.shape[-1]
    return np.asarray(a / 8 + np.conj(np.swapaxes(a, -1, -2)) / 8 + size * 9 * np.eye(size))


def numbers(dtype, shape, seed=1):
    random = numpy.random.default_rng(seed)
    made = random.integers(0, 9, shape) + (
        1j * random.integers(-9, 9, shape) if dtype in "FD" else 0
    )
    return made.astype(dtype)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_function_is_numpys(name, dtype):
    for shape in SHAPES:
        made = numbers(dtype, shape)
        found = difference(CALLS[name], lambda np, made=made: [np.asarray(made)])
        assert found is None, f"{shape}: {found}"


@settings(max_examples=40, deadline=None)
@given(
    name=st.sampled_from(["det", "slogdet", "inv", "qr", "svd", "eigh", "cholesky"]),
    batch=st.lists(st.integers(1, 40), min_size=1, max_size=3),
    size=st.integers(1, 12),
    dtype=st.sampled_from("fdFD"),
)
def test_any_stack(name, batch, size, dtype):
    made = numbers(dtype, (*batch, size, size), size)
    found = difference(CALLS[name], lambda np: [np.asarray(made)])
    assert found is None, found


def in_a_child(queue, stack):
    queue.put(numpy.asarray(dappled.linalg.inv(dappled.asarray(stack))))


def test_stacks_after_a_fork():
    stack = numbers("d", (700, 5, 5)) + 50 * numpy.eye(5)
    expected = numpy.asarray(dappled.linalg.inv(dappled.asarray(stack)))
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=in_a_child, args=(queue, stack))
    child.start()
    try:
        assert (queue.get(timeout=60) == expected).all()
    finally:
        child.kill()
        child.join()
