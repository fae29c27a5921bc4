"""Iterators over arrays in pieces: elements are fetched as they are read."""

from pieces_values import raised


def walked(iterator, *members):
    """What an iterator gives, with what it says of itself meanwhile."""
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


NDITER = {
    "nditer": lambda np, a: walked(np.nditer(a)),
    "nditer turned": lambda np, a: walked(np.nditer(a.T, ["multi_index"]), "multi_index"),
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
