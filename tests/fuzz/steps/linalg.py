"""Steps of random programs: products, linear algebra, FFT, random numbers."""

import numpy

EINSUMS = "ij->ji ij->i ij-> ii ii->i i->i ...->... ij->j ijk->kji i...->..."
EINSUMS_OF_TWO = "ij,jk ij,jk->ki i,i i,j->ij ij,ij->j ...i,...i->... ij,j->i ij,kj->ik ,-> i,->i"
TRANSFORMS = "fft ifft rfft irfft hfft ihfft"
PLANES = "fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn"
NORMS = [None, 1, 2, numpy.inf, -1, "fro", "nuc", 0]
MATRIX = "inv det slogdet eigvalsh svdvals pinv matrix_rank cond cholesky"
STACKS = "matmul dot inner vdot outer tensordot vecdot kron"


def definite(np, a):
    """A matrix, or a stack of them, that can be inverted, made of the values."""
    a = np.nan_to_num(np.abs(a) % 5, posinf=1, neginf=1)
    return a @ a.mT + 3 * np.eye(a.shape[-2])


def algebra(np, d, a, b):
    return getattr(np.linalg, d.one(MATRIX))(definite(np, a))


def refused(np, d, a, b):
    """Of whatever there is: mostly an error."""
    return getattr(np.linalg, d.one("inv det eigvalsh cholesky"))(a).shape


def solved(np, d, a, b):
    m = definite(np, a)
    return np.linalg.solve(m, d.one([m[..., :1], m, np.arange(m.shape[-1])]))


def factors(np, d, a, b):
    """Signs are free, the product is not."""
    q, r = np.linalg.qr(definite(np, a))
    return q @ r, abs(r)


def product_into(np, d, a, b):
    shape = np.matmul(a, b).shape
    out = np.zeros(shape, d.one([a.dtype, d.dtype()]), d.one([*"CF"]))
    return np.matmul(a, b, out=out) is out, out


def planes(np, d, a, b):
    axes = d.one([None, (0,), (0, 1), (-1, 0), ()])
    name = d.one(PLANES)
    axes = (-2, -1) if axes is None and name.endswith("2") else axes
    return getattr(np.fft, name)(a, axes=axes, norm=d.one([None, "ortho", "forward"]))


def lines(np, d, a, b):
    """Of no values to real ones NumPy's are whatever there was in memory."""
    n, norm = d.one([None, None, 1, 4, 9]), d.one([None, "ortho", "forward"])
    a = a if a.size else np.ones((2, 3), a.dtype)
    return getattr(np.fft, d.one(TRANSFORMS))(a, n, d.axis(a), norm)


def drawn_numbers(np, d, a, b):
    """The stream goes on alike after each call."""
    rng = np.random.default_rng(d.number(0, 9))
    size = d.one([None, 3, (4, 6), (0, 2), a.shape])
    calls = [
        lambda: rng.normal(a.real, size=None),
        lambda: rng.normal(size=size),
        lambda: rng.integers(0, 9, size, dtype=d.one("i8 u1 i4")),
        lambda: rng.random(size, d.one("f4 f8")),
        lambda: rng.permutation(a, d.axis(a)),
        lambda: rng.permuted(a, axis=d.axis_or_none(a)),
        lambda: rng.choice(a, d.one([2, (2, 2)]), replace=d.one([True, False])),
        lambda: rng.exponential(2, size),
    ]
    return d.one(calls)(), rng.integers(0, 99, 2), rng.random()


def shuffled(np, d, a, b):
    rng = d.one([np.random.default_rng, np.random.RandomState])(3)
    rng.shuffle(a)
    return rng.normal(size=2)


ALGEBRA = {
    "product": lambda np, d, a, b: a @ b,
    "gram": lambda np, d, a, b: a @ a.T,
    "named product": lambda np, d, a, b: getattr(np, d.one(STACKS))(a, b),
    "product into": product_into,
    "tensordot": lambda np, d, a, b: np.tensordot(a, b, d.one([0, 1, ([0], [0]), ([-1], [0])])),
    "einsum": lambda np, d, a, b: np.einsum(d.one(EINSUMS), a),
    "einsum two": lambda np, d, a, b: np.einsum(d.one(EINSUMS_OF_TWO), a, b),
    "cross": lambda np, d, a, b: np.cross(a, b),
    "algebra": algebra,
    "algebra of anything": refused,
    "solve": solved,
    "qr": factors,
    "power": lambda np, d, a, b: np.linalg.matrix_power(a, d.number(0, 3)),
    "multi_dot": lambda np, d, a, b: np.linalg.multi_dot([a, a.T, a]),
    "norm": lambda np, d, a, b: np.linalg.norm(
        a, d.one(NORMS), d.one([None, d.axis(a), (0, 1)]), d.one([True, False])
    ),
    "lines": lines,
    "planes": planes,
    "shift": lambda np, d, a, b: getattr(np.fft, d.one("fftshift ifftshift"))(a, d.axes(a)),
    "polyval": lambda np, d, a, b: np.polyval(d.numbers(3), a),
    "corrcoef": lambda np, d, a, b: np.corrcoef(a),
    "random": drawn_numbers,
    "shuffle": shuffled,
}
