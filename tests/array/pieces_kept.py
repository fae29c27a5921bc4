"""Arrays in pieces that may only be read: NumPy's error, with nothing brought together."""

from pieces_values import MANY, raised


def kept(act):
    """The error of a program that writes an array which it may only read."""

    def program(np, a):
        b = a.copy()
        b.flags.writeable = False
        return raised(lambda: act(np, b))

    return program


def _updated(np, b):
    b += 1


WRITES = {
    "update": _updated,
    "out": lambda np, b: np.sqrt(b, out=b),
    "out of three": lambda np, b: np.clip(b, 1, 3, b),
    "out of a fold": lambda np, b: np.cumsum(b, 0, out=b),
    "out of two": lambda np, b: np.divmod(b, 3, out=(b, b)),
    "out of random": lambda np, b: np.random.default_rng(3).random(b.shape, out=b),
    "dates": lambda np, b: _updated(np, b.view("m8[s]")),
    "repeated": lambda np, b: _updated(np, np.broadcast_to(b, (2, *b.shape))),
    "diagonal": lambda np, b: _updated(np, b.diagonal()),
    "put": lambda np, b: np.put(b, MANY, 3),
    "putmask": lambda np, b: np.putmask(b, b > 3, b),
    "place": lambda np, b: np.place(b, b > 3, [1, 2]),
    "copyto": lambda np, b: np.copyto(b, b[::-1]),
    "sort": lambda np, b: b.sort(),
    "partition": lambda np, b: b.partition(3, axis=0),
    "shuffle": lambda np, b: np.random.default_rng(3).shuffle(b),
    "byteswap": lambda np, b: b.byteswap(True),
    "setfield": lambda np, b: b.setfield(3, "f4"),
    "flat": lambda np, b: b.flat.__setitem__(slice(3), 1),
    "flat all": lambda np, b: setattr(b, "flat", b),
    "fill diagonal": lambda np, b: np.fill_diagonal(b, 1),
    "numbers": lambda np, b: np.nan_to_num(b, copy=False),
}
KEPT = {f"kept {name}": kept(act) for name, act in WRITES.items()}
