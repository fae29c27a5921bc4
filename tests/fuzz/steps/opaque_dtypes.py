"""Steps of random programs: dates, timedeltas, strings, structures, swapped bytes."""

KINDS = ["M8[D]", "m8[s]", "M8[ns]", "U3", "S2", ">f8", ">i2", "U8"]
FIELDS = [("x", "f8"), ("n", "i4"), ("s", "U2")]


def structured(np, d, a, b):
    """Structures made of the values of an array, and written by field and by row."""
    made = np.zeros(a.shape, FIELDS)
    made["x"] = a.real
    made["n"][...] = d.number()
    made[d.key()] = (1, 2, "z")
    return made, made["x"], made[["n", "s"]]


def of_field(np, d, a, b):
    return a[d.one("x n s")]


def write_field(np, d, a, b):
    a[d.one("x n s")][d.key()] = d.one([3, "2"])


def text(np, d, a, b):
    name = d.one("upper str_len isdigit lower strip isalpha capitalize")
    return getattr(np.strings, name)(a)


ITEMS = {
    "as items": lambda np, d, a, b: a.astype(d.one(KINDS)),
    "as other items": lambda np, d, a, b: a.astype("l").astype(d.one(KINDS)),
    "structure": structured,
    "field": of_field,
    "write field": write_field,
    "text": text,
    "add texts": lambda np, d, a, b: np.strings.add(a, d.one([a, b, "x"])),
    "find text": lambda np, d, a, b: np.strings.find(a, d.one("1 2 x")),
    "multiply text": lambda np, d, a, b: np.strings.multiply(a, d.number()),
    "compare": lambda np, d, a, b: (a == b, a != a[::-1] if a.ndim else a != a),
    "order": lambda np, d, a, b: a < b,
    "later": lambda np, d, a, b: a + d.one([numpy_span(np, 1), numpy_span(np, -3), 1]),
    "between": lambda np, d, a, b: a - b,
    "spans": lambda np, d, a, b: a * d.one([2, 0.5]) // d.number(1, 2),
    "isnat": lambda np, d, a, b: np.isnat(a),
    "as text": lambda np, d, a, b: np.datetime_as_string(a),
    "busday": lambda np, d, a, b: np.is_busday(a),
    "unit": lambda np, d, a, b: a.astype(d.one("M8[M] M8[h] m8[D] m8[ms]")),
    "write item": lambda np, d, a, b: a.__setitem__(d.key(), d.one(["3", "2001-01-01", "NaT"])),
    "new order": lambda np, d, a, b: a.astype(a.dtype.newbyteorder()),
    "objects": lambda np, d, a, b: a.astype(object) + 1,
    "long": lambda np, d, a, b: a.astype("g") / 3,
}


def numpy_span(np, days):
    return np.timedelta64(days, "D")
