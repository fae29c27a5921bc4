"""Programs to run on several ranks with dtypes that have no kernel."""

import itertools
import operator

import numpy

from tests.ranks.program_tables import LAID_OUT, LAYOUTS, LEAVES, ON_TWO, in_turn, maker
from tests.support import programs
from tests.support.values import STRUCTURED, VIEWS, numbers

DTYPES = [numpy.dtype(kind) for kind in ["M8[D]", "m8[s]", "U3", "S2", ">i4", "g", ">c16", "G"]]
DTYPES += [STRUCTURED]
# A float that is nowhere aligned, and a text.
ODD = numpy.dtype([("t", "S3"), ("x", "f8"), ("y", "i2", (2,))])
SHAPES = [(7,), (5, 3), (2, 3, 4)]

FIELDS = {
    "get": lambda np, a, b: (a["x"], a["y"], a[1:]["x"], a["y"][::-1]),
    "get one": lambda np, a, b: (a["x"][(0,) * a.ndim], a["y"].item(1), a[(-1,) * a.ndim]["x"]),
    "overlap": lambda np, a, b: operator.iadd(a["x"][1:], a["x"][:-1]),
    "compute": lambda np, a, b: (a["x"] * 2 + b["x"], a["x"].sum(), b["x"].max(axis=0), -a["y"]),
    "set": lambda np, a, b: [a.__setitem__("x", 3), a["y"].__setitem__(slice(1, 3), b["y"][1:3])],
    "set in place": lambda np, a, b: [operator.iadd(a["x"], 1), operator.imul(a["y"][1:], 2)],
    "set by part": lambda np, a, b: a[::-2]["x"].__setitem__(Ellipsis, b["x"][::-2]),
    "set of copy": lambda np, a, b: [a.copy(), a["x"] + 0, a["x"].fill(5)],
    "some": lambda np, a, b: (a[["x"]], a[["y", "x"]][1]),
    "set some": lambda np, a, b: a[["x", "y"]].__setitem__(Ellipsis, b[["x", "y"]]),
    "wrong": lambda np, a, b: a["nothing"],
    "view": lambda np, a, b: (a["x"].view("u8"), a.view(f"V{a.itemsize}")[1:]),
    "compare": lambda np, a, b: (a == b, a != a[::-1], a[["x"]] == b[["x"]]),
    "where": lambda np, a, b: np.where(a["x"] > b["x"], a, b),
    "join": lambda np, a, b: np.concatenate([a, b[1:]]),
    "sort": lambda np, a, b: np.sort(a, order="x"),
    "mask": lambda np, a, b: a[a["x"] > 0],
}
MORE = {
    "astype": lambda np, a: (a.astype("U40"), a.astype(a.dtype), np.zeros(a.shape, a.dtype)),
    "full": lambda np, a: (
        np.full((4, 3), "text"),
        np.full((4, 3), a.reshape(-1)[0]),
        np.full_like(a, a.reshape(-1)[0]),
    ),
    "of numbers": lambda np, a: (np.array([1, 2.5, 3], "g"), np.array([1.5, -2j], "G")),
    "from numbers": lambda np, a: np.arange(a.size).reshape(a.shape).astype(a.dtype),
    "to numbers": lambda np, a: a.astype("f4"),
    "items": lambda np, a: [a.item((0,) * a.ndim), a.item(1), a.item(-1)],
    "wrong item": lambda np, a: a.item(99),
    "iterate": lambda np, a: [[*a.reshape(-1)], a.tolist()],
    "swapped": lambda np, a: programs.is_padded(a) or a.view(a.dtype.newbyteorder()),
    "bytes": lambda np, a: np.ascontiguousarray(a).view("S1").shape,
    "isnat": lambda np, a: np.isnat(a),
    "strings": lambda np, a: (np.strings.str_len(a), np.char.upper(a), a + a),
    "field": lambda np, a: a.getfield("i2", 0),
    "in": lambda np, a: a.reshape(-1)[-1] in a,
    "in place": lambda np, a: operator.iadd(a, a[::-1]),
    "in place by one": lambda np, a: operator.isub(a[1:], a.reshape(-1)[0]),
    "lexsort": lambda np, a: (np.argsort(a, axis=0, kind="stable"), np.unique(a)),
}


def structures(dtype, shape, count):
    """A maker of structures."""

    def make(np):
        made = []
        for seed in range(count):
            values = numpy.zeros(shape, dtype)
            for name in dtype.names:
                kind = dtype[name].base
                values[name] = numbers(kind, values[name].shape, seed).astype(kind)
            values["x"] = numpy.nan_to_num(values["x"], posinf=5)
            made.append(np.array(values))
        return made

    return make


def opaque_tables():
    """Programs for dtypes without a kernel; see `program_tables.tables`."""
    views = [(dtype, (5, 3), view) for dtype in DTYPES for view in VIEWS]
    cases = [(dtype, shape, "plain") for dtype in DTYPES for shape in SHAPES]
    for table in (
        programs.SHAPING,
        programs.JOINING,
        programs.REDUCING,
        programs.WRITING,
        LEAVES,
        MORE,
    ):
        for name, program, turn in in_turn(table, [*cases, *views], 2):
            made = [(case, maker(case[0], case[1], 1, case[2])) for case in turn]
            yield f"items {name}", program, made
    for name, program, turn in in_turn(ON_TWO, cases, 2):
        yield f"two items {name}", program, [(case, maker(*case[:2], 2)) for case in turn]
    fields = list(itertools.product([STRUCTURED, ODD], SHAPES))
    for name, program, turn in in_turn(FIELDS, fields, 3):
        yield f"field {name}", program, [(case, structures(*case, 2)) for case in turn]
    laid = itertools.product(DTYPES, [(5, 3), (8,), (2, 3, 4)], LAYOUTS)
    for name, program, turn in in_turn(LAID_OUT, laid, 2):
        made = [(case, maker(*case[:2], 2, layout=case[2])) for case in turn]
        yield f"items laid out {name}", program, made
