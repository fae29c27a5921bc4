"""Iterators over distributed arrays: elements are fetched as they are read."""

import pytest

from tests.support.distributed import VALUES, check_table, distributed, raised


def walked(iterator, *members):
    """The values of an iterator, with its attributes at each step."""
    found = []
    for value in iterator:
        values = value if isinstance(value, tuple) else (value,)
        found += [*map(float, values), *(getattr(iterator, name) for name in members)]
    return found


def stepped(np, a):
    found = []
    with np.nditer(a, ["multi_index"], ["readonly"]) as it:
        while not it.finished:
            found += [float(it[0]), it.multi_index]
            it.iternext()
        it.reset()
        return [*found, float(it.value), it.iterindex, len(it), it.nop, it.itersize]


def past_the_end(np, a):
    it = np.nditer(a[0, :2])
    return walked(it), it.finished, raised(lambda: it.value), raised(lambda: next(it))


def rows(iterator):
    """The rows that an iterator gives, with where it is."""
    found = []
    for value in iterator:
        each = value if isinstance(value, tuple) else (value,)
        found += [[row.shape, row.dtype, row.flags.writeable, row.copy()] for row in each]
        found.append(iterator.iterindex)
    return found


def in_rows(*names, **options):
    """An iterator over rows of results."""
    return lambda np, a: rows(np.nditer([name(a) for name in names], ["external_loop"], **options))


NDITER = {
    "nditer rows": lambda np, a: rows(np.nditer(a, ["external_loop"])),
    "nditer rows transposed": in_rows(lambda a: a.T),
    "nditer rows across": in_rows(lambda a: a, order="F"),
    "nditer rows of a part": in_rows(lambda a: a[:, 1:5]),
    "nditer rows of steps": in_rows(lambda a: a[::2], op_flags=[["readonly"]]),
    "nditer rows backwards": in_rows(lambda a: a[::-1], order="C"),
    "nditer rows of several": in_rows(lambda a: a, lambda a: a[0], lambda a: 3),
    "nditer rows of a cube": in_rows(lambda a: a.reshape(3, -1, 7)[:, 1:]),
    "nditer rows wrong": lambda np, a: raised(
        lambda: np.nditer(a, ["external_loop", "multi_index"])
    ),
    "nditer": lambda np, a: walked(np.nditer(a)),
    "nditer transposed": lambda np, a: walked(np.nditer(a.T, ["multi_index"]), "multi_index"),
    "nditer order": lambda np, a: walked(np.nditer(a, ["c_index"], order="F"), "index"),
    "nditer backwards": lambda np, a: walked(
        np.nditer(a[::-1, ::2], ["f_index"], order="C"), "index"
    ),
    "nditer several": lambda np, a: walked(np.nditer([a, a[0], 3]), "iterindex"),
    "nditer steps": stepped,
    "nditer past the end": past_the_end,
    "nditer no index": lambda np, a: [
        raised(lambda: np.nditer(a).multi_index),
        raised(lambda: np.nditer(a, ["multi_index"]).index),
    ],
    "nditer describes": lambda np, a: (lambda it: (it.dtypes, it.has_index, it.has_multi_index))(
        np.nditer(a, ["c_index"])
    ),
    "nditer value": lambda np, a: next(np.nditer(a)),
    "ndenumerate": lambda np, a: [(at, float(x)) for at, x in np.ndenumerate(a)],
}


@distributed
@pytest.mark.parametrize("name", NDITER)
def test_nditer(name):
    check_table(NDITER, name, rare=True, values=VALUES[:9], gathered=10 * VALUES.nbytes)
