"""Steps of random programs: index arrays, masks and selection."""

import numpy

AT = "add subtract maximum multiply negative"


def chosen(np, d, a):
    """For `choose`: numbers that mostly fit."""
    return np.array(numpy.arange(a.size).reshape(a.shape) % d.one([2, 2, 2, 3]))


def at(np, d, a, b):
    """NumPy writes also what may only be read."""
    a = a if a.flags.writeable else a.copy()
    name, key = d.one(AT), d.mixed(a)
    return (
        np.negative.at(a, key) if name == "negative" else getattr(np, name).at(a, key, d.scalar())
    )


def at_array(np, d, a, b):
    a = a if a.flags.writeable else a.copy()
    key = d.mixed(a)
    return np.add.at(a, key, a[key] + d.number())


def write_same(np, d, a, b):
    """As many values as there are places."""
    key = d.mixed(a)
    a[key] = a[key] * 2 + 1


def along_axis(np, d, a, b):
    axis = d.axis(a)
    return np.take_along_axis(a, np.argsort(a, axis=axis, kind="stable"), axis)


def put_along_axis(np, d, a, b):
    axis = d.axis(a)
    return np.put_along_axis(a, np.argmax(a, axis=axis, keepdims=True), d.scalar(), axis)


def take_out(np, d, a, b):
    axis, indices = d.axis(a), d.indices(a.shape[0] if a.ndim else 1)
    out = np.zeros(a.take(indices, axis, mode="clip").shape, a.dtype)
    return np.take(a, indices, axis, out, d.one("raise wrap clip")), out


def outer(np, d, a, b):
    return a[np.ix_(*(d.indices(length) for length in a.shape))]


def mask_like(np, d, a):
    return d.mask(a.shape if d.number(0, 9) else (2,))


INDEXING = {
    "mixed": lambda np, d, a, b: a[d.mixed(a)],
    "mixed of view": lambda np, d, a, b: a.T[::-1][d.mixed(a.T)],
    "write mixed": lambda np, d, a, b: a.__setitem__(d.mixed(a), d.number(0, 7)),
    "write mixed array": lambda np, d, a, b: a.__setitem__(d.mixed(a), b),
    "write mixed same": write_same,
    "update mixed": lambda np, d, a, b: a.__setitem__(k := d.mixed(a), a[k] + d.scalar()),
    "mask all": lambda np, d, a, b: a[mask_like(np, d, a)],
    "write mask all": lambda np, d, a, b: a.__setitem__(mask_like(np, d, a), d.scalar()),
    "mask by another": lambda np, d, a, b: a[b > d.number()],
    "by values": lambda np, d, a, b: a[b],
    "at": at,
    "at array": at_array,
    "at other": lambda np, d, a, b: np.add.at(a if a.flags.writeable else a + 0, d.mixed(a), b),
    "take": lambda np, d, a, b: np.take(
        a, d.indices(a.size), d.axis_or_none(a), mode=d.one("raise wrap clip")
    ),
    "take out": take_out,
    "put": lambda np, d, a, b: np.put(a, d.indices(a.size), d.numbers(2), d.one("raise wrap clip")),
    "put values": lambda np, d, a, b: a.put(d.indices(a.size), b),
    "choose": lambda np, d, a, b: np.choose(
        chosen(np, d, a), [a, b], mode=d.one("raise wrap clip")
    ),
    "choose three": lambda np, d, a, b: chosen(np, d, a).choose([a, d.scalar(), b]),
    "compress": lambda np, d, a, b: np.compress(d.mask(d.one([2, 3, 4])), a, d.axis_or_none(a)),
    "extract": lambda np, d, a, b: np.extract(mask_like(np, d, a), a),
    "select": lambda np, d, a, b: np.select([a > 3, a < 1], [a, b], d.scalar()),
    "place": lambda np, d, a, b: np.place(a, mask_like(np, d, a), d.numbers(d.one([0, 1, 2, 3]))),
    "putmask": lambda np, d, a, b: np.putmask(a, mask_like(np, d, a), b),
    "copyto": lambda np, d, a, b: np.copyto(
        a, b.copy(), d.one("same_kind unsafe safe no"), where=d.one([True, mask_like(np, d, a)])
    ),
    "copyto mask": lambda np, d, a, b: np.copyto(a, d.scalar(), where=mask_like(np, d, a)),
    "take_along_axis": along_axis,
    "put_along_axis": put_along_axis,
    "outer": outer,
    "flat": lambda np, d, a, b: a.flat[d.one([d.bounds(), d.number(), d.indices(a.size)])],
    # What is too far NumPy finds when all before it is written.
    "write flat": lambda np, d, a, b: a.flat.__setitem__(
        d.one([d.bounds(), d.number(), d.indices(max(a.size - 1, 0))]), d.scalar()
    ),
    "write all flat": lambda np, d, a, b: setattr(a, "flat", b.copy()),
    "nonzero": lambda np, d, a, b: a.nonzero(),
    "argwhere": lambda np, d, a, b: np.argwhere(a),
    "flatnonzero": lambda np, d, a, b: np.flatnonzero(a),
    "where one": lambda np, d, a, b: np.where(a > d.number()),
    "unravel": lambda np, d, a, b: np.unravel_index(
        np.array(numpy.arange(a.size).reshape(a.shape)), d.one([(20, 20), (3, 4), 400])
    ),
    "ravel indices": lambda np, d, a, b: np.ravel_multi_index(a.nonzero(), a.shape),
    "piecewise": lambda np, d, a, b: np.piecewise(a, [a < 2, a > 5], [d.number(), lambda x: x * 2]),
    "fill_diagonal": lambda np, d, a, b: np.fill_diagonal(a, d.scalar(), d.one([True, False])),
    "diagonal": lambda np, d, a, b: np.diagonal(a, d.number()),
    "item": lambda np, d, a, b: a.item(d.number()),
    "fill": lambda np, d, a, b: a.fill(d.scalar()),
}
