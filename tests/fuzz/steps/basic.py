"""Steps of random programs: views, writes, operations, distributions."""

import operator

UNARY = "negative absolute square invert sqrt conjugate isnan sign rint floor signbit logical_not"
BINARY = "add subtract multiply maximum less bitwise_xor true_divide equal floor_divide fmin"
IN_PLACE = "iadd imul isub itruediv ifloordiv iand"


def laid(np, d, a):
    return d.layout(a.copy())


BASIC = {
    "index": lambda np, d, a, b: a[d.key()],
    "pick": lambda np, d, a, b: a[[0, d.number(), -1]],
    "mask": lambda np, d, a, b: a[a > d.number()],
    "turn": lambda np, d, a, b: a.T,
    "part": lambda np, d, a, b: getattr(a, d.one("real imag")),
    "reshape": lambda np, d, a, b: a.reshape(-1, d.number(1, 3), order=d.one([*"CFA"])),
    "ravel": lambda np, d, a, b: a.ravel(d.one([*"CFKA"])),
    "copy": lambda np, d, a, b: a.copy(d.one([*"CFKA"])),
    "cast": lambda np, d, a, b: a.astype(d.dtype()),
    "unary": lambda np, d, a, b: getattr(np, d.one(UNARY))(a),
    "binary": lambda np, d, a, b: getattr(np, d.one(BINARY))(a, b),
    "shifted": lambda np, d, a, b: a[1:] * 2 + a[:-1],
    "scale": lambda np, d, a, b: a * d.scalar() + d.scalar(),
    "sum": lambda np, d, a, b: a.sum(axis=d.axis_or_none(a)),
    "max": lambda np, d, a, b: a.max(axis=d.axis_or_none(a)),
    "cumsum": lambda np, d, a, b: a.cumsum(axis=d.axis_or_none(a)),
    "where": lambda np, d, a, b: np.where(a > b, a, b),
    "join": lambda np, d, a, b: np.concatenate([a, b], axis=d.axis_or_none(a)),
    "roll": lambda np, d, a, b: np.roll(a, d.number(), axis=d.axis_or_none(a)),
    "repeat": lambda np, d, a, b: np.repeat(a, 2, axis=d.axis_or_none(a)),
    "spread": lambda np, d, a, b: np.broadcast_to(a, (2, *a.shape)),
    "divmod": lambda np, d, a, b: np.divmod(a, 3)[1],
    "lay out": laid,
    "write": lambda np, d, a, b: a.__setitem__(d.key(), d.scalar()),
    "write array": lambda np, d, a, b: a.__setitem__(d.key(), b),
    "write picked": lambda np, d, a, b: a.__setitem__([d.number(), 0], d.scalar()),
    "write mask": lambda np, d, a, b: a.__setitem__(a == b, d.scalar()),
    "write over": lambda np, d, a, b: a.__setitem__(slice(1, None), a[:-1][:: d.one([1, 2, -1])]),
    "update": lambda np, d, a, b: getattr(operator, d.one(IN_PLACE))(a, b),
    "update part": lambda np, d, a, b: getattr(operator, d.one(IN_PLACE))(a[1:], a[:-1]),
    "into": lambda np, d, a, b: getattr(np, d.one(BINARY))(a, b, out=a),
}
