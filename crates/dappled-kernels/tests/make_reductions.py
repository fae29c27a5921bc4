"""Writes the table of NumPy's own reductions and scans that `reductions.rs` compares with.

    python make_reductions.py        # needs NumPy 2.4 on x86-64 with AVX2

A line is a fold, the dtypes before and of it, what the values are, the layout (shape, order of the
axes in memory, steps), the folded axes, the start, the result: its bytes in hexadecimal, or where
they are many a hash of them; and what NumPy's error state is told.
"""

import pathlib
import random

import numpy as np

np.seterr(all="ignore")
CONDITIONS = ["divide", "overflow", "underflow", "invalid"]
REALS = ["float16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
FLOATS = REALS + COMPLEX
WHOLE = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FOLDS = {
    f.__name__: f
    for f in (
        np.add,
        np.multiply,
        np.minimum,
        np.maximum,
        np.fmin,
        np.fmax,
        np.logical_and,
        np.logical_or,
        np.bitwise_and,
        np.bitwise_or,
        np.bitwise_xor,
    )
}
DTYPES = {"logical_and": ["bool"], "logical_or": ["bool"]} | {
    f"bitwise_{op}": ["bool", *WHOLE] for op in ("and", "or", "xor")
}
EXTREMES = ["minimum", "maximum", "fmin", "fmax"]
SMALL = [(), (0,), (1,), (7,), (3, 0), (0, 4), (1, 1)]
# Several tiles, several threads' parts, longer than NumPy's buffer, nearly its half.
LARGE = [
    (513,),
    (8193,),
    (40_009,),
    (100_003,),
    (300, 301),
    (5, 20_001),
    (20_001, 5),
    (9, 4097),
    (9, 4095),
    (40, 41, 43),
    (2, 70, 600),
    (6, 700, 20),
    (1, 9000, 7),
]


def bits(n):
    """The same numbers as `bits` of the Rust test."""
    i = np.arange(n, dtype=np.uint64)
    return (i * np.uint64(0x9E3779B97F4A7C15)) ^ (i * i) ^ (i >> np.uint64(3))


def spread(n):
    return (bits(n) >> np.uint64(11)).astype(np.float64) / 2.0**53 - 0.5


def values(kind, n, dtype):
    if kind == "whole":
        return bits(n).view(np.int64).astype(dtype)
    if kind == "few":
        return (bits(n) % np.uint64(997) != 3).astype(dtype)
    if kind == "zeros":
        few = np.array([-1.0, -0.0, -1.0, 0.0, -1.0, -1.0, -2.0, -0.0])
        real = few[(bits(n) >> np.uint64(7)) % np.uint64(8)]
    elif kind == "nans":
        real = np.where(bits(n) % np.uint64(41) == 5, np.nan, spread(n))
    elif kind == "near":
        real = 1.0 + spread(n) / 8.0
    elif kind == "large":
        real = spread(n) * float(np.finfo(dtype).max)
    elif kind == "tiny":
        real = spread(n) * float(np.finfo(dtype).smallest_normal) * 8.0
    elif kind == "infinite":
        some = np.array([np.inf, -np.inf, 0.0, np.inf])[(bits(n) >> np.uint64(9)) % np.uint64(4)]
        real = np.where(bits(n) % np.uint64(1009) == 5, some, 1.0 + spread(n) / 8.0)
    else:
        real = spread(n)
    if np.dtype(dtype).kind != "c":
        return real.astype(dtype)
    turned = np.empty(n, np.complex128)
    opposite = {"zeros": -real, "large": real, "tiny": real}.get(kind, spread(n))
    turned.real, turned.imag = real, opposite[::-1]
    return turned.astype(dtype)


def layout(shape, order, steps, kind, dtype):
    base = [shape[axis] * abs(steps[axis]) for axis in order]
    memory = values(kind, int(np.prod(base, dtype=int)), dtype).reshape(base)
    view = memory.transpose(np.argsort(order)) if order else memory
    return view[tuple(slice(None, None, step) for step in steps)]


def kinds(fold, dtype):
    if dtype in WHOLE:
        return ["whole"]
    if dtype == "bool":
        return ["few"]
    if fold in ("fmin", "fmax"):
        # A zero's sign depends on its place: NumPy's vectors keep the last, its scalars the first.
        return ["nans"]
    if fold in EXTREMES:
        return ["zeros", "nans"]
    usual = "near" if fold == "multiply" else "spread"
    return [usual, usual, usual, "large", "tiny", "infinite"]


def shown(result):
    result = np.ascontiguousarray(result)
    if result.dtype.kind in "fc":
        parts = result.view(result.real.dtype)
        parts[np.isnan(parts)] = np.nan
        result = np.abs(parts, where=np.isnan(parts), out=parts)
    data = result.tobytes()
    if len(data) <= 32:
        return data.hex() or "-"
    mixed = 0xCBF29CE484222325
    for byte in data:
        mixed = (mixed ^ byte) * 0x100000001B3 % 2**64
    return f"#{mixed:016x}"


def flagged(fold, *args, **kwargs):
    """The result, and what was signalled."""
    told = []
    with np.errstate(all="call", call=lambda _, flags: told.append(flags)):
        result = fold(*args, **kwargs)
    told = int(np.bitwise_or.reduce(told, dtype=int))
    return shown(result), text(name for at, name in enumerate(CONDITIONS) if told & 1 << at)


def text(numbers):
    return ",".join(map(str, numbers)) or "-"


def any_layout(shape):
    order = list(range(len(shape)))
    if random.random() < 0.5:
        random.shuffle(order)
    steps = [random.choice([1, 1, 1, 1, 2, -1, -2]) for _ in shape]
    return order, steps


def any_shape():
    sizes = [1, 2, 3, 5, 8, 17, 33, 70]
    shape = [random.choice(sizes) for _ in range(random.choice([1, 2, 2, 3, 3, 4]))]
    while np.prod(shape) > 20_000:
        shape[random.randrange(len(shape))] = 2
    return tuple(shape)


def reduction(fold, dtype, shape, source=None):
    order, steps = any_layout(shape)
    axes = [axis for axis in range(len(shape)) if random.random() < 0.6]
    if fold in EXTREMES and 0 in shape:
        axes = []
    kind = random.choice(kinds(fold, source or dtype))
    start = random.choice(["identity", "identity", "identity", "first", "3"])
    if start == "first" and 0 in shape:
        start = "identity"
    start = "identity" if dtype == "bool" else start
    initial = {
        "identity": {},
        "first": {"initial": None},
        "3": {"initial": np.array(3).astype(dtype)[()]},
    }
    a = layout(shape, order, steps, kind, source or dtype)
    options = {"axis": tuple(axes), "dtype": dtype, "keepdims": True, **initial[start]}
    result = flagged(FOLDS[fold].reduce, a, **options)
    head = [fold, source or dtype, dtype, kind, text(shape), text(order), text(steps)]
    return " ".join([*head, text(axes), start, *result])


def scan(fold, dtype, shape):
    order, steps = any_layout(shape)
    kind, axis = random.choice(kinds(fold, dtype)), random.randrange(len(shape))
    if dtype == "complex64" and shape[axis] == 2:
        # NumPy's last bit depends on the direction here.
        steps[axis] = 1
    a = layout(shape, order, steps, kind, dtype)
    result = flagged(FOLDS[fold].accumulate, a, axis=axis, dtype=dtype)
    head = [fold, dtype, dtype, kind, text(shape), text(order), text(steps)]
    return " ".join([*head, str(axis), "scan", *result])


def argument(name, dtype, shape):
    order, steps = any_layout(shape)
    kind = random.choice(["zeros", "nans"] if dtype in FLOATS else kinds(name, dtype))
    axis = random.choice([None, *range(len(shape))])
    a = layout(shape, order, steps, kind, dtype)
    result = flagged(getattr(np, name), a, axis=axis, keepdims=True)
    head = [name, dtype, dtype, kind, text(shape), text(order), text(steps)]
    return " ".join([*head, "-" if axis is None else str(axis), "argument", *result])


def lines():
    for fold in FOLDS:
        for dtype in DTYPES.get(fold, ["bool", *WHOLE, *FLOATS]):
            exact = dtype in WHOLE or dtype == "bool"
            shapes = SMALL + [any_shape() for _ in range(4 if exact else 16)]
            shapes += random.sample(LARGE, 2) if exact else LARGE
            yield from (reduction(fold, dtype, shape) for shape in shapes)
            solid = [shape for shape in shapes if shape and 0 not in shape]
            yield from (scan(fold, dtype, shape) for shape in solid[::3])
    for source, dtype in [
        ("float32", "float64"),
        ("int32", "float64"),
        ("float16", "float32"),
        ("float64", "complex128"),
        ("float64", "float32"),
        ("float32", "float16"),
    ]:
        kinds_of = [any_shape() for _ in range(30)] + LARGE * 2
        yield from (reduction("add", dtype, shape, source) for shape in kinds_of)
    for dtype in ["bool", *WHOLE, *FLOATS]:
        for name in ("argmin", "argmax"):
            shapes = [any_shape() for _ in range(4)] + random.sample(LARGE, 2)
            yield from (argument(name, dtype, shape) for shape in shapes)


if __name__ == "__main__":
    random.seed(2026)
    table = "\n".join([f"# NumPy {np.__version__}", *lines()]) + "\n"
    (pathlib.Path(__file__).parent / "tables" / "reductions.txt").write_text(table)
