"""Writes whose sources, masks or indices overlap the target.

A write has one meaning on any number of ranks: as if every source, mask and index had been read
before anything is written. NumPy gives that result when it gets copies of them.
"""

import dappled
import numpy
import pytest

SIZES = [12, 1000, 20_000]

# Targets and sources of one shape: two views of the same array, which has one axis.
ROWS = {
    "itself": lambda a: (a, a),
    "forwards": lambda a: (a[1:], a[:-1]),
    "backwards": lambda a: (a[:-1], a[1:]),
    "reversed": lambda a: (a, a[::-1]),
    "unequal steps": lambda a: (a[::2], a[: len(a) // 2]),
    "unequal steps, later": lambda a: (a[: len(a) // 2], a[::2]),
    "unequal steps, reversed": lambda a: (a[::-2], a[1 : 1 + len(a) // 2]),
    "interleaved": lambda a: (a[::2], a[1::2]),
    "halves": lambda a: (a[len(a) // 4 : -len(a) // 4], a[: len(a) // 2]),
}

# The same of an array with two axes of one length.
SQUARES = {
    "transposed": lambda a: (a, a.T),
    "rows": lambda a: (a[1:], a[:-1]),
    "corner": lambda a: (a[1:, 1:], a[:-1, :-1]),
    "rows, reversed": lambda a: (a, a[::-1]),
    "one row for all": lambda a: (a, a[1:2]),
    "one column for all": lambda a: (a, a[:, 1:2]),
}


def every(length, parity):
    """A mask that is true for more than half of the elements."""
    return numpy.arange(length) % 3 != parity


def spread(length):
    """Indices of all elements in another order, some of them twice."""
    return (numpy.arange(length) * 7 + 3) % length


# Functions of the namespace, of what copies a source in the oracle, of a target and of a source.
WRITES = {
    "basic": lambda np, c, t, s: t.__setitem__(..., c(s)),
    "basic, slice": lambda np, c, t, s: t[1:].__setitem__(slice(None), c(s[:-1])),
    "in place": lambda np, c, t, s: t.__iadd__(c(s)),
    "expression": lambda np, c, t, s: t.__setitem__(..., c(s) + c(s)[::-1]),
    "out": lambda np, c, t, s: np.add(c(s), c(t), out=t),
    "out, reversed": lambda np, c, t, s: np.subtract(c(t[::-1]), c(s), out=t),
    "out, where": lambda np, c, t, s: np.add(c(s), c(s[::-1]), out=t, where=every(t.size, 0)),
    "copyto": lambda np, c, t, s: np.copyto(t, c(s)),
    "copyto, where": lambda np, c, t, s: np.copyto(t, c(s), where=every(t.size, 1)),
    "mask": lambda np, c, t, s: t.__setitem__(m := every(t.size, 2), c(s[: numpy.sum(m)])),
    "mask of ours": lambda np, c, t, s: t.__setitem__(
        np.asarray(m := every(t.size, 2)), c(s[: numpy.sum(m)])
    ),
    "index": lambda np, c, t, s: t.__setitem__(spread(t.size), c(s)),
    "index of ours": lambda np, c, t, s: t.__setitem__(np.asarray(spread(t.size)), c(s)),
    "place": lambda np, c, t, s: np.place(t, every(t.size, 0), c(s)),
    "place, few": lambda np, c, t, s: np.place(t, every(t.size, 0), c(s[2:5])),
    "putmask": lambda np, c, t, s: np.putmask(t, every(t.size, 1), c(s)),
    "putmask, few": lambda np, c, t, s: np.putmask(t, every(t.size, 1), c(s[2:5])),
    "put": lambda np, c, t, s: np.put(t, spread(t.size), c(s)),
    "put, method": lambda np, c, t, s: t.put(spread(t.size), c(s)),
    "put_along_axis": lambda np, c, t, s: np.put_along_axis(t, spread(t.size), c(s), 0),
    "flat": lambda np, c, t, s: setattr(t, "flat", c(s)),
    "flat, index": lambda np, c, t, s: t.flat.__setitem__(spread(t.size), c(s)),
    "flat, slice": lambda np, c, t, s: t.flat.__setitem__(slice(1, None), c(s[:-1])),
    "accumulate": lambda np, c, t, s: np.add.accumulate(c(s), out=t),
    "cumsum": lambda np, c, t, s: np.cumsum(c(s), out=t),
    "maximum.accumulate": lambda np, c, t, s: np.maximum.accumulate(c(s)[::-1], out=t),
    "at": lambda np, c, t, s: np.add.at(t, spread(t.size), c(s)),
    "take": lambda np, c, t, s: np.take(c(s), spread(t.size), out=t),
    "take, clip": lambda np, c, t, s: np.take(c(s), spread(t.size), out=t, mode="clip"),
    "compress": lambda np, c, t, s: np.compress(
        every(t.size, 0), c(s), out=t[: numpy.sum(every(t.size, 0))]
    ),
    "choose": lambda np, c, t, s: np.choose(every(t.size, 0), [c(s), c(s[::-1])], out=t),
    "clip": lambda np, c, t, s: np.clip(c(s), 2, c(s[::-1]), out=t),
    "round": lambda np, c, t, s: np.round(c(s), out=t),
    "concatenate": lambda np, c, t, s: np.concatenate([c(s[3:]), c(s[:3])], out=t),
    "roll": lambda np, c, t, s: t.__setitem__(..., np.roll(c(s), 2)),
    "reduce": lambda np, c, t, s: np.add.reduce([c(s), c(s[::-1])], out=t),
    "divmod": lambda np, c, t, s: np.divmod(
        c(s[: len(t) // 2]), 4, out=(t[: len(t) // 2], t[-(len(t) // 2) :])
    ),
}

# The same for arrays with two axes.
WRITES_OF_SQUARES = {
    "basic": lambda np, c, t, s: t.__setitem__(..., c(s)),
    "in place": lambda np, c, t, s: t.__imul__(c(s)),
    "out, where": lambda np, c, t, s: np.add(c(s), 1, out=t, where=every(t.shape[1], 0)),
    "copyto, where": lambda np, c, t, s: np.copyto(t, c(s), where=every(t.shape[1], 1)),
    "mask of rows": lambda np, c, t, s: t.__setitem__(every(len(t), 0), c(s)[:1]),
    "index of rows": lambda np, c, t, s: t.__setitem__([2, 0, 2], c(s)[:1]),
    "index of columns": lambda np, c, t, s: t.__setitem__((slice(None), [1, 0]), c(s)[:, :1]),
    "accumulate": lambda np, c, t, s: np.add.accumulate(np.broadcast_to(c(s), t.shape), 1, out=t),
    "max into a row": lambda np, c, t, s: np.max(c(t), axis=0, out=t[1]),
    "sum into a column": lambda np, c, t, s: np.sum(c(t), axis=1, out=t[:, 0]),
    "diagonal": lambda np, c, t, s: np.fill_diagonal(t, c(s[0])),
    "sort": lambda np, c, t, s: t.T.sort(0),
    "matmul": lambda np, c, t, s: np.matmul(c(a := t[-3:, -3:]), c(a), out=t[:3, -3:]),
}

# Here masks overlap the target: the arrays are of truth values.
MASKS = {
    "mask": lambda np, c, t, m: t.__setitem__(c(m), False),
    "mask of values": lambda np, c, t, m: t.__setitem__(c(m), c(m)[: int(m.sum())]),
    "in place": lambda np, c, t, m: t.__setitem__(c(m), ~c(t)[c(m)]),
    "out, where": lambda np, c, t, m: np.logical_not(c(t), out=t, where=c(m)),
    "copyto": lambda np, c, t, m: np.copyto(t, c(t[::-1]), where=c(m)),
    "place": lambda np, c, t, m: np.place(t, c(m), [False, True, False]),
    "putmask": lambda np, c, t, m: np.putmask(t, c(m), c(m[::-1])),
    "choose": lambda np, c, t, m: np.choose(c(m), [c(t[::-1]), c(t)], out=t),
    "compress": lambda np, c, t, m: np.compress(c(m), c(t), out=t[: int(m.sum())]),
    "where": lambda np, c, t, m: t.__setitem__(..., np.where(c(m), c(t[::-1]), False)),
}

# Here indices do: the arrays are of indices.
INDICES = {
    "index": lambda np, c, t, i: t.__setitem__(c(i), 0),
    "index of values": lambda np, c, t, i: t.__setitem__(c(i), c(i[::-1])),
    "index twice": lambda np, c, t, i: t.__setitem__(c(i), c(t)[c(i)] + 1),
    "put": lambda np, c, t, i: np.put(t, c(i), c(i[::-1])),
    "put_along_axis": lambda np, c, t, i: np.put_along_axis(t, c(i), 1, 0),
    "flat": lambda np, c, t, i: t.flat.__setitem__(c(i), 2),
    "at": lambda np, c, t, i: np.add.at(t, c(i), c(i)),
    "take": lambda np, c, t, i: np.take(c(t[::-1]), c(i), out=t),
    "take, clip": lambda np, c, t, i: np.take(c(t), c(i), out=t, mode="clip"),
}


def check(write, overlap, values, views):
    """Compares a write of Dappled's with one of NumPy's that gets copies."""
    expected, found = values.copy(), dappled.asarray(values.copy())
    write(numpy, numpy.copy, *views(expected))
    write(dappled, lambda value: value, *views(found))
    found = numpy.asarray(found)
    assert numpy.array_equal(found, expected), (overlap, values.dtype, values.shape)


@pytest.fixture(autouse=True)
def _quietly():
    before = dappled.config.fallback
    dappled.config.fallback = "quiet"
    yield
    dappled.config.fallback = before


@pytest.mark.ranks(1, 2, 3)
@pytest.mark.parametrize("kind", WRITES)
def test_sources(kind):
    for dtype in "dlU" if kind in ("basic", "mask", "index", "copyto, where") else "dl":
        for size in SIZES:
            values = (numpy.arange(size) * 5 % 17).astype(dtype)
            for overlap, views in ROWS.items():
                check(WRITES[kind], overlap, values, views)


@pytest.mark.ranks(1, 2, 3)
@pytest.mark.parametrize("kind", WRITES_OF_SQUARES)
def test_sources_of_squares(kind):
    for length in (5, 30, 130):
        values = (numpy.arange(length * length) * 5 % 17).astype("l").reshape(length, length)
        for overlap, views in SQUARES.items():
            check(WRITES_OF_SQUARES[kind], overlap, values, views)
            check(WRITES_OF_SQUARES[kind], overlap, numpy.asfortranarray(values), views)


@pytest.mark.ranks(1, 2, 3)
@pytest.mark.parametrize("kind", MASKS)
def test_masks(kind):
    for size in SIZES:
        values = numpy.arange(size) * 5 % 17 > 6
        for overlap, views in ROWS.items():
            check(MASKS[kind], overlap, values, views)


@pytest.mark.ranks(1, 2, 3)
@pytest.mark.parametrize("kind", INDICES)
def test_indices(kind):
    for size in SIZES:
        values = numpy.arange(size) * 5 % (size // 3)
        for overlap, views in ROWS.items():
            check(INDICES[kind], overlap, values, views)


def test_through_numpy_memory():
    """Sources that are NumPy's arrays, over the memory of the target."""
    for size in SIZES:
        values = numpy.arange(size) * 5 % 17
        for overlap, views in ROWS.items():
            for kind, write in WRITES.items():
                if kind in ("expression", "clip"):
                    continue

                def seen(array, views=views):
                    target, source = views(array)
                    return target, numpy.asarray(source)

                check(write, (kind, overlap), values, seen)


def test_two_arrays_over_one_memory():
    for size in SIZES:
        for overlap, views in ROWS.items():
            expected = numpy.arange(size) * 5 % 17
            memory = expected.copy()
            target, source = views(expected)
            target[...] = source.copy()
            target, source = views(memory)
            dappled.asarray(target)[...] = dappled.asarray(source)
            assert numpy.array_equal(memory, expected), (overlap, size)
