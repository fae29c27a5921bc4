"""Writes the tables of NumPy's own answers that the Rust tests compare with.

    python make_tables.py            # needs NumPy 2.4 or newer on x86-64

Values are written as the hexadecimal bytes of their memory, little-endian.
"""

import pathlib
import warnings

import numpy as np

warnings.simplefilter("ignore")
np.seterr(all="ignore")
HERE = pathlib.Path(__file__).parent / "tables"
NAMES = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
WEAK = {"bool": True, "int": 1, "float": 1.0, "complex": 1j}
FLOATS = [0.0, -0.0, 1.0, -1.5, 0.1, 7.0, -3.0, np.inf, -np.inf, np.nan]
EDGES = [
    2.5,
    -2.5,
    127.9,
    -128.9,
    128.0,
    255.5,
    256.0,
    300.7,
    32768.0,
    -32769.0,
    65504.0,
    65519.9,
    65520.0,
    7e4,
    2.0**31 - 1,
    2.0**31,
    -(2.0**31) - 1,
    2.0**32 + 3,
    3e9,
    -3e9,
    2.0**53 + 2,
    2.0**62,
    2.0**63,
    -(2.0**63),
    1.5e19,
    2.0**64,
    3e38,
    1e39,
    1e300,
    5.960464477539063e-08,
    2.98e-08,
    6.1e-05,
    1e-45,
    1e-310,
    2049.0,
    1.00048828125,
    1.000488281250001,
]


def write(name, lines):
    text = "\n".join([f"# NumPy {np.__version__}", *lines]) + "\n"
    (HERE / f"{name}.txt").write_text(text)


def values(name, edges=False):
    kind = np.dtype(name).kind
    if kind == "b":
        return np.array([False, True])
    if kind in "iu":
        info = np.iinfo(name)
        few = [0, 1, 2, 3, 7, 10, info.max, info.max - 1, info.max // 2 + 1]
        few += [-1, -2, -3, -7, -10, info.min, info.min + 1] if kind == "i" else []
        if edges:
            few += [
                x
                for x in (
                    200,
                    2049,
                    4099,
                    65519,
                    65520,
                    70001,
                    2**24 + 1,
                    2**31,
                    2**53 + 1,
                    2**53 + 3,
                )
                if x <= info.max
            ]
        return np.array(few, name)
    if kind == "f":
        return np.array(FLOATS + (EDGES if edges else []), name)
    parts = (FLOATS + EDGES) if edges else [0.0, -0.0, 1.0, -1.5, 0.1, np.inf, np.nan]
    if edges:
        return np.array([complex(x, y) for x in parts for y in (0.0, 2.0)], name)
    return np.array([complex(x, y) for x in parts for y in parts], name)


def pairs(name):
    """All pairs of values, for complex numbers every seventh, for size; then ordinary numbers."""
    v = values(name)
    a, b = np.repeat(v, len(v)), np.tile(v, len(v))
    if v.dtype.kind in "biu":
        return a, b
    (c, d), step = ordinary(name), 7 if v.dtype.kind == "c" else 1
    return np.concatenate([a[::step], c]), np.concatenate([b[::step], d])


def ordinary(name):
    """Two lines of random numbers, so that rounding is seen."""
    re, im = np.random.default_rng(7).normal(0, 30, (2, 2, 50))
    return (re + 1j * im if np.dtype(name).kind == "c" else re).astype(name)


def promotion():
    yield from (f"{a} {b} {np.result_type(a, b).name}" for a in NAMES for b in NAMES)


def weak():
    for a in NAMES:
        array = np.zeros(1, a)
        yield from (f"{a} {w} {np.result_type(array, value).name}" for w, value in WEAK.items())


def casting():
    for rule in ("no", "equiv", "safe", "same_kind", "unsafe"):
        yield from (f"{a} {b} {rule} {int(np.can_cast(a, b, rule))}" for a in NAMES for b in NAMES)


def casts():
    for a in NAMES:
        v = values(a, edges=True)
        yield from (f"{a} {b} {v.tobytes().hex()} {cast(v, b).tobytes().hex()}" for b in NAMES)


def cast(v, name):
    """One element at a time: out of range, NumPy's float to uint32 depends on the place."""
    return np.concatenate([v[i : i + 1].astype(name) for i in range(len(v))])


def mixed(n, dtype):
    """The same numbers as `mixed` of the Rust test, by the same whole-number arithmetic."""
    i = np.arange(n, dtype=np.uint64)
    bits = (i * np.uint64(0x9E3779B97F4A7C15)) ^ (i * i)
    return ((bits >> np.uint64(11)).astype(np.float64) / 2.0**53 - 0.5).astype(dtype)


def sums():
    for dtype in ("float32", "float64"):
        for n in [
            0,
            1,
            2,
            7,
            8,
            9,
            15,
            127,
            128,
            129,
            255,
            256,
            257,
            511,
            513,
            1000,
            1023,
            4097,
            10_000,
            65_537,
            100_003,
            1_000_001,
        ]:
            yield f"{dtype} {n} {np.sum(mixed(n, dtype)).tobytes().hex()}"


if __name__ == "__main__":
    for table in (promotion, weak, casting, casts, sums):
        write(table.__name__, table())
