"""Functions that NumPy computes on small arrays: arguments stay, results are new."""

import dappled
import numpy
import pytest
from dappled._dispatch.numpy_facts import SMALL, SMALL_METHODS

from tests.support.compare import difference


class Pair(tuple):
    """Not one of named items."""


CALLS = {
    "concatenate": lambda np, a, b: np.concatenate([a, b]),
    "concatenate out": lambda np, a, b: np.concatenate([a, b], out=np.zeros((8, 4))),
    "stack tuple": lambda np, a, b: np.stack((a, b), axis=-1),
    "dot": lambda np, a, b: np.dot(a, b),
    "dot out by place": lambda np, a, b: np.dot(a, b, np.zeros((4, 4))),
    "method dot": lambda np, a, b: a.dot(b),
    "norm": lambda np, a, b: np.linalg.norm(a - b),
    "qr": lambda np, a, b: np.linalg.qr(a),
    "svd named": lambda np, a, b: np.linalg.svd(a).S,
    "solve wrong": lambda np, a, b: np.linalg.solve(a, b[:3]),
    "inv singular": lambda np, a, b: np.linalg.inv(a * 0),
    "nonzero": lambda np, a, b: np.nonzero(a > 0.5),
    "where": lambda np, a, b: np.where(a > 0.5),
    "unique counts": lambda np, a, b: np.unique_counts(np.round(a)),
    "histogram": lambda np, a, b: np.histogram(a, bins=3),
    "sort": lambda np, a, b: np.sort(a, axis=0),
    "argsort method": lambda np, a, b: a.argsort(axis=None),
    "cumsum out": lambda np, a, b: np.cumsum(a, axis=0, out=np.zeros((4, 4))),
    "take": lambda np, a, b: np.take(a, [[0, 1]], axis=1),
    "nan_to_num in place": lambda np, a, b: np.nan_to_num(a.copy(), copy=False),
    "tile": lambda np, a, b: np.tile(a, 2),
    "cross": lambda np, a, b: np.cross(a[:, :3], b[:, :3]),
    "outer": lambda np, a, b: np.outer(a, b),
    "einsum": lambda np, a, b: np.einsum("ij,jk", a, b),
    "fft": lambda np, a, b: np.fft.rfft(a),
    "matmul": lambda np, a, b: np.matmul(a, b),
    "matmul wrong": lambda np, a, b: np.matmul(a, b[:3]),
    "scalars": lambda np, a, b: (np.sqrt(2.0), np.hypot(np.float32(3), 4), np.add(1, True)),
    "a scalar before": lambda np, a, b: numpy.float64(2) * a - numpy.float32(1) / b,
    "NumPy's ufunc": lambda np, a, b: numpy.maximum(a, 0.5),
    "median": lambda np, a, b: np.median(a, axis=1),
    "over input": lambda np, a, b: (
        np.median(a.copy(), overwrite_input=True),
        np.nanmedian(a.copy(), 0, None, True),
        np.percentile(a.copy(), 30, overwrite_input=True),
        np.nanquantile(a.copy(), 0.3, None, None, True),
    ),
    "interp": lambda np, a, b: np.interp(0.5, [0, 1], [2, 3]),
    "described": lambda np, a, b: (np.shape(a), np.ndim(a), np.size(a, 0), np.iterable(a)),
    "mean of a list": lambda np, a, b: (np.mean([1.0, 2.0]), np.max([a, b]), np.prod((2, 3))),
    "sum of parts": lambda np, a, b: np.sum(a, axis=1, where=a > 0.5, initial=1),
    "clip method": lambda np, a, b: a.clip(0, 1, out=np.zeros((4, 4))),
    "argmax method": lambda np, a, b: a.argmax(axis=1, keepdims=True),
    "mixed key": lambda np, a, b: (a[:, [1, 2]], a[[0, 1], ..., None], a[[[True] * 4] * 4]),
    "key beyond": lambda np, a, b: a[:, [9]],
    "bytes": lambda np, a, b: a.tobytes("F"),
    "a tuple of another class": lambda np, a, b: np.sum(Pair((1, 2))),
    "diag": lambda np, a, b: np.diag(a[0]),
    "item": lambda np, a, b: (a.item(3), a.item(1, 2)),
    "item beyond": lambda np, a, b: a.item(99),
    "percentile wrong": lambda np, a, b: np.percentile(a, 101),
}
WRITES = {
    "by numbers": lambda a, b: a.__setitem__(([3, 0, 3], 1), b[:3, 0]),
    "by an array": lambda a, b: a.__setitem__(b.argsort(axis=None)[:2] % 4, 7),
    "by a mask": lambda a, b: a.__setitem__(b > 0.5, -1),
    "of itself": lambda a, b: a.__setitem__([0, 1, 2], a[[1, 2, 3]]),
    "beyond": lambda a, b: a.__setitem__([9], 1),
    "sort": lambda a, b: a.sort(axis=0),
    "sort wrong": lambda a, b: a.sort(axis=7),
    "partition": lambda a, b: a.partition(1),
    "put": lambda a, b: a.put([0, 5], [1, 2]),
    "put beyond": lambda a, b: a.put([0, 99], [1, 2]),
    "view": lambda a, b: a.view().__setitem__((1, 1), 3),
    "too many": lambda a, b: a.__setitem__(b > 0.5, [1, 2, 3]),
}


FUNCTIONS = {
    "copyto": lambda np, a, b: np.copyto(a, b, where=b > 0.5),
    "copyto of another kind": lambda np, a, b: np.copyto(a, 1j),
    "place": lambda np, a, b: np.place(a, a > 0.5, [1, 2]),
    "putmask": lambda np, a, b: np.putmask(a, b > 0.5, a[::-1]),
    "fill_diagonal": lambda np, a, b: np.fill_diagonal(a, 7),
    "put_along_axis": lambda np, a, b: np.put_along_axis(a, b.argsort(axis=1), 1, axis=1),
    "put of a view": lambda np, a, b: np.put(a[1], [0], b[2]),
}


# What is seen in an array: the same places, as NumPy lets them be written.
VIEWS = {
    "diag": lambda np, a: np.diag(a),
    "diag above": lambda np, a: np.diag(a, 2),
    "diag by name": lambda np, a: np.diag(v=a, k=-1),
    "diag of no number": lambda np, a: np.diag(a, 1.5),
    "diag of a number": lambda np, a: np.diag(a, numpy.int8(1)),
    "diag of a cube": lambda np, a: np.diag(a.reshape(2, 2, 4)),
    "diag of too many": lambda np, a: np.diag(a, 0, 1),
    "diagonal": lambda np, a: np.diagonal(a, -1),
    "diagonal of axes": lambda np, a: np.diagonal(a.reshape(2, 2, 4), 1, 2, 0),
    "diagonal of no axis": lambda np, a: np.diagonal(a, 0, 0, 2),
    "diagonal of a row": lambda np, a: np.diagonal(a[0]),
    "diagonal of truth": lambda np, a: np.diagonal(a, True),
    "einsum": lambda np, a: np.einsum("ij->ji", a),
    "einsum of three": lambda np, a: np.einsum("ijk->kij", a.reshape(2, 2, 4)),
    "einsum as it is": lambda np, a: np.einsum("ij->ij", a),
    "einsum of spaces": lambda np, a: np.einsum("i j -> j i", a),
    "einsum diagonal": lambda np, a: np.einsum("ii->i", a),
    "einsum of fewer": lambda np, a: np.einsum("ij->ji", a[0]),
    "einsum of others": lambda np, a: np.einsum("ij->jk", a),
    "einsum twice": lambda np, a: np.einsum("ij->jj", a),
    "einsum sum": lambda np, a: np.einsum("ij->j", a),
    "einsum of nothing": lambda np, a: np.einsum("->", a[0, 0]),
    "einsum of no letters": lambda np, a: np.einsum("é1->1é", a),
    "einsum order": lambda np, a: np.einsum("ij->ji", a, order="C"),
}


def operands(np):
    random = numpy.random.default_rng(5)
    return [np.array(random.random((4, 4))), np.array(random.random((4, 4)))]


def parts(value):
    return value if isinstance(value, (tuple, list)) else [value]


@pytest.mark.parametrize("name", CALLS)
def test_small_arrays_do_as_numpys(name):
    assert difference(CALLS[name], operands) is None


@pytest.mark.parametrize("name", CALLS)
def test_results_are_new_and_writeable(name):
    given = operands(dappled)
    try:
        made = CALLS[name](dappled, *given)
    except (ValueError, IndexError, numpy.linalg.LinAlgError):
        made = ()
    for part in parts(made):
        if isinstance(part, dappled.ndarray):
            assert part.flags.writeable
            part[...] = 9
    for ours, theirs in zip(given, operands(numpy), strict=True):
        numpy.testing.assert_array_equal(numpy.asarray(ours), theirs)


@pytest.mark.parametrize("name", VIEWS)
def test_views_of_small_arrays_are_written_as_numpys(name):
    def written(np, a, b):
        seen = VIEWS[name](np, a)
        flags = seen.flags
        if flags.writeable:
            seen[...] = 9
        return seen, a, [flags.writeable, bool(np.shares_memory(seen, a)), *seen.strides]

    assert difference(written, operands) is None


@pytest.mark.parametrize("name", WRITES)
def test_small_arrays_are_written_as_numpys(name):
    def written(np, a, b):
        row = a[1]
        WRITES[name](a, b)
        return row.copy()

    assert difference(written, operands) is None


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_write_as_numpys(name):
    assert difference(FUNCTIONS[name], operands) is None


def test_copies_are_independent():
    a, b = operands(dappled)
    copied = a.copy()
    a.sort()
    a[[0]] = 3
    numpy.copyto(a, b)
    numpy.testing.assert_array_equal(numpy.asarray(copied), operands(numpy)[0])


def test_an_array_that_may_not_be_written_is_not():
    a, b = operands(dappled)
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        a[b > 0.5] = 1


@pytest.mark.parametrize("path", sorted(SMALL))
def test_the_table_names_functions_of_numpys(path):
    found = dappled
    for name in path.split("."):
        found = getattr(found, name)
    assert isinstance(found, type(dappled.sum)) and found.__name__ == path.split(".")[-1]


def test_the_table_names_methods_of_numpys():
    assert all(callable(getattr(numpy.ndarray, name)) for name in SMALL_METHODS)
