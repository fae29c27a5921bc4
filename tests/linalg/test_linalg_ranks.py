"""Linear algebra of distributed arrays."""

import numpy
import pytest

from tests.support.distributed import (
    LAYOUTS,
    VALUES,
    check,
    distributed,
    laid_out,
    layouts_of,
    raised,
)


def cubes(np, a):
    """A stack of small matrices that are like the large one."""
    return np.stack([a[at : at + 6, at : at + 6] for at in range(0, 30, 3)])


def rebuilt(factors):
    """The product of factors with free signs, and the unique factors."""
    u, values, v = factors
    return [(u * values) @ v, values]


# Of a definite matrix, one with no pattern, and a tall one.
ALGEBRA = {
    "cholesky": lambda np, d, a, t: np.linalg.cholesky(d),
    "cholesky upper": lambda np, d, a, t: np.linalg.cholesky(np.triu(d), upper=True),
    "cholesky of none": lambda np, d, a, t: raised(lambda: np.linalg.cholesky(-d)),
    "cholesky of stack": lambda np, d, a, t: np.linalg.cholesky(np.stack([d, 2 * d])),
    "solve": lambda np, d, a, t: np.linalg.solve(a, d[:, :3]),
    "solve many": lambda np, d, a, t: np.linalg.solve(a, d),
    "solve vector": lambda np, d, a, t: np.linalg.solve(a, d[3]),
    "solve narrow": lambda np, d, a, t: np.linalg.solve(
        d.real.astype("f4"), d[3].real.astype("f4")
    ),
    "solve stack": lambda np, d, a, t: np.linalg.solve(cubes(np, a), cubes(np, d)[..., :2]),
    "solve singular": lambda np, d, a, t: raised(lambda: np.linalg.solve(0 * a, d)),
    "solve wrong": lambda np, d, a, t: raised(lambda: np.linalg.solve(t, t)),
    "inv": lambda np, d, a, t: np.linalg.inv(a),
    "inv of stack": lambda np, d, a, t: np.linalg.inv(cubes(np, a)),
    "inv of few": lambda np, d, a, t: np.linalg.inv(np.stack([a, d])),
    "inv wrong": lambda np, d, a, t: raised(lambda: np.linalg.inv(cubes(np, a * 0))),
    "det": lambda np, d, a, t: np.linalg.det(a / 30),
    "det of stack": lambda np, d, a, t: np.linalg.det(cubes(np, a)),
    "det zero": lambda np, d, a, t: np.linalg.det(0 * a),
    "slogdet": lambda np, d, a, t: [part * 0.7654321 for part in np.linalg.slogdet(a)],
    "slogdet zero": lambda np, d, a, t: np.linalg.slogdet(0 * a),
    "slogdet of stack": lambda np, d, a, t: np.linalg.slogdet(cubes(np, a)),
    "qr": lambda np, d, a, t: np.linalg.qr(t),
    "qr narrow": lambda np, d, a, t: np.linalg.qr(t.real.astype("f4"), mode="r"),
    "qr of stack": lambda np, d, a, t: np.linalg.qr(cubes(np, a)),
    "svd": lambda np, d, a, t: rebuilt(np.linalg.svd(t, full_matrices=False)),
    "svd wide": lambda np, d, a, t: rebuilt(np.linalg.svd(t.T, False)),
    "svd values": lambda np, d, a, t: np.linalg.svd(t, compute_uv=False),
    "svdvals": lambda np, d, a, t: np.linalg.svdvals(t),
    "svd of stack": lambda np, d, a, t: np.linalg.svd(cubes(np, a), compute_uv=False),
    "eigh of stack": lambda np, d, a, t: np.linalg.eigh(cubes(np, d)),
    "eigvalsh of stack": lambda np, d, a, t: np.linalg.eigvalsh(cubes(np, d), "U"),
    "lstsq": lambda np, d, a, t: np.linalg.lstsq(t, t[:, :2] + t[:, 2:4] * t[:, 4:6]),
    "lstsq vector": lambda np, d, a, t: np.linalg.lstsq(t, t[:, 1] * t[:, 0]),
    "lstsq of less": lambda np, d, a, t: np.linalg.lstsq(t * (np.arange(6) > 1), t[:, 0]),
    "lstsq wrong": lambda np, d, a, t: raised(lambda: np.linalg.lstsq(t, t[1:])),
    "pinv": lambda np, d, a, t: np.linalg.pinv(t),
    "polyfit": lambda np, d, a, t: np.polyfit(np.arange(420.0) / 99, t, 3),
    "polyfit full": lambda np, d, a, t: np.polyfit(np.arange(420.0) / 99, t[:, 0], 2, full=True),
    "polyfit cov": lambda np, d, a, t: np.polyfit(np.arange(420.0) / 99, t[:, 0], 2, cov=True),
    "cond": lambda np, d, a, t: np.linalg.cond(t),
    "matrix_rank": lambda np, d, a, t: np.linalg.matrix_rank(t),
    "matrix_power": lambda np, d, a, t: np.linalg.matrix_power(a / 30, 5),
    "matrix_power back": lambda np, d, a, t: np.linalg.matrix_power(a / 30, -2),
    "norm": lambda np, d, a, t: np.linalg.norm(a),
    "norm 1": lambda np, d, a, t: np.linalg.norm(a, 1),
    "norm inf": lambda np, d, a, t: np.linalg.norm(a, -numpy.inf),
    "norm 2": lambda np, d, a, t: np.linalg.norm(t, 2),
    "norm nuc": lambda np, d, a, t: np.linalg.norm(t, "nuc"),
    "norm rows": lambda np, d, a, t: np.linalg.norm(a, 3, axis=1),
    "multi_dot": lambda np, d, a, t: np.linalg.multi_dot([a, d, a]),
    "linalg matmul": lambda np, d, a, t: np.linalg.matmul(a, d),
    "linalg outer": lambda np, d, a, t: np.linalg.outer(a[0], t[0]),
    "linalg trace": lambda np, d, a, t: np.linalg.trace(cubes(np, a)),
    "linalg diagonal": lambda np, d, a, t: np.linalg.diagonal(a, offset=1),
    "linalg tensordot": lambda np, d, a, t: np.linalg.tensordot(a, d, axes=1),
    "linalg vecdot": lambda np, d, a, t: np.linalg.vecdot(a, d),
    "kron": lambda np, d, a, t: np.kron(t[:30], d[:3, :3]),
}


@distributed
@pytest.mark.parametrize("name", ALGEBRA)
def test_linalg(name):
    number = list(ALGEBRA).index(name)
    for place, layout in enumerate(LAYOUTS):
        if layout in layouts_of(ALGEBRA, name):
            matrices = operands(1j if (place + number) % 3 == 2 else 0)
            arrays = [laid_out(values, layout) for values in matrices]
            check(ALGEBRA[name], arrays, about=layout)


def operands(imaginary):
    """A positive definite matrix, a regular one and a tall one; complex or real."""
    part, factor = VALUES[:42], 1 + imaginary
    definite = part @ part.T + 100 * numpy.eye(42)
    skewed = numpy.tri(42, 42, -1) - numpy.tri(42).T + numpy.eye(42)
    square = part + numpy.diag(numpy.arange(42)) + 1e-3
    tall = VALUES.reshape(-1, 6) * factor + numpy.arange(6)
    return definite + imaginary * skewed, square * factor, tall
