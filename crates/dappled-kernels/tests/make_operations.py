"""Writes the tables of NumPy's own answers for every operation: loops, values, flags.

    python make_operations.py        # needs NumPy 2.4 or newer on x86-64

Values are written as the hexadecimal bytes of their memory, little-endian. Where the table has no
arguments of its own, they are those of `operands`.
"""

import numpy as np
from make_tables import NAMES, ordinary, pairs, values, write

EXACT = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "floor_divide",
    "remainder",
    "fmod",
    "minimum",
    "maximum",
    "fmin",
    "fmax",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "left_shift",
    "right_shift",
    "gcd",
    "lcm",
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
    "copysign",
    "nextafter",
    "heaviside",
    "negative",
    "positive",
    "absolute",
    "fabs",
    "sign",
    "square",
    "sqrt",
    "reciprocal",
    "conjugate",
    "invert",
    "bitwise_count",
    "logical_not",
    "isnan",
    "isinf",
    "isfinite",
    "signbit",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "spacing",
    "deg2rad",
    "rad2deg",
]
FUNCTIONS = [
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "arcsin",
    "arccos",
    "arctan",
    "sinh",
    "cosh",
    "tanh",
    "arcsinh",
    "arccosh",
    "arctanh",
    "cbrt",
    "power",
    "float_power",
    "hypot",
    "arctan2",
    "logaddexp",
    "logaddexp2",
]
ALL = [getattr(np, name) for name in EXACT + FUNCTIONS]
FLAGS = {"divide by zero": 1, "overflow": 2, "underflow": 4, "invalid value": 8}
FLOATS = ["float16", "float32", "float64"]


def loop_of(f, name):
    """The dtype of the loop that NumPy picks for arguments of this dtype."""
    try:
        return f.resolve_dtypes((np.dtype(name),) * f.nin + (None,))[0].name
    except TypeError:
        return None


def has_loop(f, name):
    return loop_of(f, name) == name


def loops():
    for f in ALL:
        yield from (f"{f.__name__} {name} {loop_of(f, name) or '-'}" for name in NAMES)


def operands():
    yield from operand_rows(arguments, NAMES)


def singles(name):
    return np.concatenate([values(name, edges=np.dtype(name).kind != "c"), ordinary(name)[0][:20]])


def exact():
    for f in ALL:
        for name in NAMES:
            if f.__name__ in EXACT and has_loop(f, name):
                out = f(*arguments(f.nin, name))
                yield f"{f.__name__} {name} {out.tobytes().hex()}"


def arguments(count, name):
    return pairs(name) if count == 2 else [singles(name)]


def integer_powers():
    for name in NAMES:
        if np.dtype(name).kind in "iu":
            a, b = pairs(name)
            a, b = a[b >= 0], b[b >= 0]
            yield " ".join([name, *(x.tobytes().hex() for x in (a, b, np.power(a, b)))])


def functions():
    """Special values, then ordinary ones, then those of all sizes."""
    for f in ALL:
        for name in FLOATS:
            if f.__name__ in FUNCTIONS and has_loop(f, name):
                out = f(*function_arguments(f.nin, name))
                yield f"{f.__name__} {name} {out.tobytes().hex()}"


def function_operands():
    yield from operand_rows(function_arguments, FLOATS)


def flag_operands():
    yield from operand_rows(flag_arguments, NAMES)


def operand_rows(arguments, names):
    """The two arguments of the operations that take two, and the one of those that take one."""
    for name in names:
        columns = (*arguments(2, name), *arguments(1, name))
        yield " ".join([name, *(x.tobytes().hex() for x in columns)])


def function_arguments(count, name):
    rng, info = np.random.default_rng(11), np.finfo(name)
    if count == 2:
        a, b = pairs(name)
        some = rng.normal(0, 3, (2, 300))
        wide = rng.normal(0, 1, (2, 100)) * 10.0 ** rng.uniform(-4, 4, (2, 100))
        more = np.concatenate([some, abs(some), wide, abs(wide)], axis=1).astype(name)
        return np.concatenate([a, more[0]]), np.concatenate([b, more[1]])
    top = np.log(np.float64(info.max))
    special = np.concatenate([values(name, edges=True), limits(info)])
    some = [rng.normal(0, 1, 200), rng.uniform(-1, 1, 100), rng.uniform(-top, top, 100)]
    some += [1 + rng.normal(0, 0.01, 100), 10.0 ** rng.uniform(-8, 4, 100)]
    some += [rng.integers(-40, 40, 50) * np.pi / 4, 2.0 ** rng.uniform(-1000, 1000, 100)]
    return [np.concatenate([special, np.concatenate(some).astype(name)])]


def limits(info):
    """Around the ends of the range, and where `exp` leaves it."""
    ends = [info.max, info.tiny, info.smallest_subnormal, info.tiny / 2]
    edges = [np.log(np.float64(x)) for x in ends] + [np.log2(np.float64(x)) for x in ends]
    near = [e + d for e in edges for d in (-1.0, -0.1, -0.001, 0.001, 0.1, 1.0)]
    return np.array([s * float(x) for x in [*ends, *near] for s in (1, -1)]).astype(info.dtype)


def flags():
    """Signalled by one element alone: a digit each, g for the error of negative powers."""
    for f in ALL:
        for name in NAMES:
            if has_loop(f, name):
                args = flag_arguments(f.nin, name)
                # Copies, as some loops of NumPy's look at what lies beside a lone element.
                ones = ([x[i : i + 1].copy() for x in args] for i in range(len(args[0])))
                yield f"{f.__name__} {name} {''.join(signalled(f, *one) for one in ones)}"


def flag_arguments(count, name):
    kind = np.dtype(name).kind
    if kind in "biu":
        return arguments(count, name)
    info = np.finfo(name)
    few = [0.0, -0.0, 1.0, -1.5, 0.1, 2.0, -3.0, 0.5, 90.0, -20.0, np.inf, -np.inf, np.nan]
    few += [info.max, info.min, info.tiny, float(info.tiny) * 3, info.max / 4]
    few += [700.0, -700.0, 1000.0, -1000.0, -90.0, 12.0, -15.0, -745.0] if count == 1 else []
    v = np.array([float(x) for x in few]).astype(name)
    if kind == "c":
        parts = v[[0, 2, 3, 10, 12, 13, 15, 17]].real
        v = (parts[:, None] + 1j * parts[None, :]).ravel().astype(name)
    if count == 1:
        return [v]
    a, b = np.repeat(v, len(v)), np.tile(v, len(v))
    return (a[::13], b[::13]) if kind == "c" else (a, b)


def signalled(f, *args):
    found = []
    with np.errstate(all="call", call=lambda kind, _: found.append(kind)):
        try:
            f(*args)
        except ValueError:
            return "g"
    return f"{sum(FLAGS[kind] for kind in set(found)):x}"


def cast_flags():
    for a in NAMES:
        v = values(a, edges=True)
        for b in NAMES:
            found = [signalled(lambda x, b=b: x.astype(b), v[i : i + 1]) for i in range(len(v))]
            yield f"{a} {b} {v.tobytes().hex()} {''.join(found)}"


def real_and_imag():
    for name in ("complex64", "complex128"):
        a = np.concatenate([values(name), ordinary(name)[0]])
        yield " ".join([name, *(x.tobytes().hex() for x in (a, a.real, a.imag))])


if __name__ == "__main__":
    for table in (
        loops,
        operands,
        exact,
        integer_powers,
        function_operands,
        functions,
        flag_operands,
        flags,
        cast_flags,
        real_and_imag,
    ):
        write(table.__name__, table())
