"""Matrix products and contractions of distributed arrays."""

import pytest

from tests.support.distributed import (
    LAYOUTS,
    ROWS,
    VALUES,
    check,
    distributed,
    laid_out,
    layouts_of,
    raised,
)

KINDS = ["f8", "c16", "i1", "?", "f4", "u2"]
PRODUCTS = {
    "matmul": lambda np, a, b: a @ b,
    "matmul transposed": lambda np, a, b: b.T @ a.T,
    "matmul with a list": lambda np, a, b: a @ ([1, 2] * (a.shape[1] // 2)),
    "reduced together": lambda np, a, b: np.logical_and.reduce([a > 1, a < 4, b.T > 2]),
    "any of several": lambda np, a, b: np.any([a > 10, a < -9], axis=0),
    "gram": lambda np, a, b: a.T @ a,
    "square": lambda np, a, b: (a @ b) @ (a @ b),
    "vector": lambda np, a, b: a @ b[:, 0],
    "vector left": lambda np, a, b: a[:, 0] @ a,
    "vectors": lambda np, a, b: a[0] @ b[:, 1],
    "stack": lambda np, a, b: a.reshape(10, 6, 42) @ b,
    "stacks": lambda np, a, b: a.reshape(10, 6, 42) @ a.reshape(10, 42, 6),
    "few": lambda np, a, b: np.stack([a, a + 1]) @ b,
    "dot": lambda np, a, b: np.dot(a, b),
    "dot 3": lambda np, a, b: np.dot(a, b.reshape(5, 42, 12)),
    "dot method": lambda np, a, b: a.dot(b),
    "inner": lambda np, a, b: np.inner(a, b.T),
    "inner vectors": lambda np, a, b: np.inner(a[1], b[:, 1]),
    "vdot": lambda np, a, b: np.vdot(a, b.T),
    "tensordot": lambda np, a, b: np.tensordot(a, b, 1),
    "tensordot 2": lambda np, a, b: np.tensordot(a, b, axes=([0, 1], [1, 0])),
    "einsum": lambda np, a, b: np.einsum("ij,jk->ik", a, b),
    "einsum transposed": lambda np, a, b: np.einsum("ij,jk->ki", a, b),
    "einsum inner": lambda np, a, b: np.einsum("ij,ji", a, b),
    "einsum each": lambda np, a, b: np.einsum("ij,ji->ij", a, b),
    "einsum rows": lambda np, a, b: np.einsum("ij,ji->i", a, b),
    "einsum outer": lambda np, a, b: np.einsum("i,j->ij", a[:, 0], b[0]),
    "einsum sum": lambda np, a, b: np.einsum("ij->j", a),
    "einsum trace": lambda np, a, b: np.einsum("ii", a @ b),
    "einsum diagonal": lambda np, a, b: np.einsum("ii->i", a @ b),
    "einsum dots": lambda np, a, b: np.einsum("...j,jk->...k", a.reshape(10, 6, 42), b),
    "einsum 3": lambda np, a, b: np.einsum("ij,jk,kl->il", a, b, a),
    "einsum 3 to one": lambda np, a, b: np.einsum("ij,ji,i", a, b, a[:, 0]),
    "einsum 4": lambda np, a, b: np.einsum("ij,jk,k,i->i", a, b, a[:, 0], b[0], optimize=True),
    "einsum 3 each": lambda np, a, b: np.einsum("i,i,i->i", a[0], b[:, 0], a[1]),
    "einsum 3 outer": lambda np, a, b: np.einsum("i,j,k->kij", a[0], b[0], a[1, :3]),
    "einsum lists": lambda np, a, b: np.einsum(a, [0, 1], b, [1, 2], [2, 0]),
    "einsum lists inner": lambda np, a, b: np.einsum(a, [0, 1], b, [1, 0]),
    "einsum out": lambda np, a, b: np.einsum("ij,jk->ik", a, b, out=np.zeros((60, 60), a.dtype)),
    "dot out": lambda np, a, b: np.dot(a, b, out=np.zeros((60, 60), a.dtype)),
    "outer out": lambda np, a, b: np.outer(a[0], b[0], np.zeros((42, 60), a.dtype)),
    "multiply out": lambda np, a, b: np.multiply(a, b.T, np.zeros((60, 42), a.dtype)),
    "trace out": lambda np, a, b: np.trace(
        a.reshape(10, 6, 42), 0, 1, 2, out=np.zeros(10, np.trace(a).dtype)
    ),
    "matmul dtype": lambda np, a, b: np.matmul(a, b, dtype="c16"),
    "matmul wrong dtype": lambda np, a, b: raised(lambda: np.matmul(a + 0.5j, b, dtype="i1")),
    "take out": lambda np, a, b: np.take(a, ROWS, 0, np.zeros((6, 42), a.dtype)),
    "choose out": lambda np, a, b: np.choose(a > 0, [a, b.T], np.zeros((60, 42), a.dtype)),
    "vecdot": lambda np, a, b: np.vecdot(a, b.T) if a.dtype != bool else None,
    "matvec": lambda np, a, b: np.matvec(a, b[:, 3]),
    "vecmat": lambda np, a, b: np.vecmat(a[:, 1], a),
    "in place": lambda np, a, b: (a @ b).__imatmul__(a @ b),
    "out": lambda np, a, b: np.matmul(a, b, out=np.zeros((60, 60), a.dtype)),
    "trace": lambda np, a, b: np.trace(a, 1),
    "trace of stack": lambda np, a, b: a.reshape(10, 6, 42).trace(0, 1, 2),
    "multi_dot": lambda np, a, b: np.linalg.multi_dot([a, b, a]),
}


@distributed
@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name):
    number = list(PRODUCTS).index(name)
    for place, layout in enumerate(LAYOUTS):
        if layout in layouts_of(PRODUCTS, name):
            kind = KINDS[(number + place) % len(KINDS)]
            a = laid_out((VALUES % 5).astype(kind), layout)
            b = laid_out((VALUES % 3).astype(kind).T, LAYOUTS[(place + number) % 5])
            check(PRODUCTS[name], [a, b], about=f"{layout} {kind}")
