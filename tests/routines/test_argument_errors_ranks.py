"""Errors that do not depend on values: NumPy's, with nothing gathered."""

import pytest

from tests.support.distributed import MANY, check_table, distributed, raised


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
# Shapes that do not fit.
SHAPES = {
    "update": lambda np, a: a[0].__iadd__(a),
    "out": lambda np, a: np.add(a, 1, out=a[0]),
    "out by place": lambda np, a: np.add(a, a, a[:3]),
    "out of two": lambda np, a: np.divmod(a, 3, out=(a, a[0])),
    "dates": lambda np, a: np.add(a.view("M8[s]"), a[:3].view("m8[s]")),
    "dates out": lambda np, a: np.negative(a.view("m8[s]"), out=a[0].view("m8[s]")),
    "where": lambda np, a: np.add(a, 1, out=a, where=a[:3] > 3),
    "concatenate": lambda np, a: np.concatenate([a, a[0]]),
    "concatenate lengths": lambda np, a: np.concatenate([a, a.T], 1),
    "concatenate axis": lambda np, a: np.concatenate([a, a], 2),
    "broadcast_to": lambda np, a: np.broadcast_to(a, (2, 2)),
    "broadcast_to less": lambda np, a: np.broadcast_to(a, (-1, 60, 42)),
    "item": lambda np, a: a.item(),
    "item of words": lambda np, a: a.astype("U5").item(),
}


def misshapen(act):
    return lambda np, a: raised(lambda: act(np, a))


KEPT = {f"kept {name}": kept(act) for name, act in WRITES.items()}
KEPT |= {f"shape {name}": misshapen(act) for name, act in SHAPES.items()}


@distributed
@pytest.mark.parametrize("name", KEPT)
def test_argument_errors(name):
    check_table(KEPT, name, rare=True)
