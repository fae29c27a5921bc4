"""Programs of members and arguments that few programs need."""

import ctypes
import io
import pickle
import sys

import numpy.lib.recfunctions  # noqa: F401  NumPy has the attribute only then

SHAPES = ((6,), (2, 3), (3, 2), (1, 6, 1))
DTYPES = ("i8", "u4", "c8", "f4", "S8", "M8[s]", "i4,f4")


class Cell:
    """Anything that an array of objects may hold; NumPy could make an array of it."""

    def __array__(self, dtype=None, copy=None):
        raise AssertionError("nobody asked for an array")


class Tuple(tuple):
    """A key like any other."""


def reshaped(np):
    """Whatever shapes an array had, it is one memory, and another that saw it sees it still."""
    a = np.arange(6.0)
    view = a[1:]
    for turn in range(200):
        a.shape = SHAPES[turn % len(SHAPES)]
        a += 1
    return a, view, a.base is None


def retyped(dtype):
    def program(np):
        a = np.arange(6.0).reshape(3, 2)
        view, before = a[1], a + 1
        a.dtype = dtype
        after = a.dtype, a.shape, a.strides, a.tobytes(), view
        a.dtype = "f8"
        a[0, 0] = 5
        return after, a, before, view

    return program


def truths(np):
    a = np.arange(3.0)
    said = (0, 1, None, [], np.True_, "no")
    kept = [a.astype("f8", copy=copy) is a for copy in said]
    return kept, [a.astype("f4", subok=subok) for subok in (0, 1)]


def written(name):
    """`a.name(out)`, of real and complex numbers."""

    def program(np):
        found = []
        for kind in ("f8", "c16"):
            a, out = np.array([1, 2, 3], kind) * (1j if kind == "c16" else 1), np.zeros(3, kind)
            found.append((getattr(a, name)(out) is out, out))
        return found

    return program


def cells(np):
    """An array of objects holds what it was given itself, and no copy of it."""
    array, kept = np.empty((2, 2), object), [[np.ones(2)], Cell(), {"a": np.ones(1)}, []]
    kept[3].append(kept[3])
    for at, one in enumerate(kept):
        array[at // 2, at % 2] = one
    filled = np.array([1, 2], object)
    filled.fill(kept[0])
    return [array[at // 2, at % 2] is one for at, one in enumerate(kept)], filled[1] is kept[0]


def aligned(np):
    """Fields and bytes that do not lie where their dtype wants them."""
    fields, raw = np.zeros((2, 3), "u1,f8,U2,i2"), np.zeros(33, "u1")
    seen = [fields[name] for name in fields.dtype.names]
    seen += [raw[at : at + 16].view(kind) for at in (0, 1, 4, 8) for kind in ("f8", "f4", "c16")]
    seen += [np.ones((4, 4))[1::2, ::-1], np.zeros(5, "c16").imag, np.ones(0)]
    return [(a.flags.aligned, a.flags.behaved, a.flags["A"]) for a in seen]


def flags(np):
    made = np.zeros(3), np.ones(3), np.ones((3, 3)), np.ones((3, 3), order="F"), np.ones(4)[::2]
    return [[a.flags == b.flags for a in made] for b in made], np.zeros(1).flags == 3


def thaw(np):
    """Arrays over `bytes` cannot be made writeable; others can."""
    theirs = np.frombuffer(bytearray(8), "u1")
    theirs.setflags(write=False)
    theirs.setflags(write=True)
    np.frombuffer(b"abcdefgh", "u1").setflags(write=True)


def slices(np):
    it = np.nditer([np.arange(3), np.arange(3.0), np.ones(3)])
    next(it)
    shown = [[(one.item(), one.dtype) for one in it[key]] for key in (slice(2), slice(1, None))]
    return shown, it[-1].item(), type(it[0:2]), type(it[0:2][0]) is np.ndarray


def nested(np, shape=(2, 3)):
    outer, inner = np.nested_iters([np.arange(6).reshape(2, 3), np.ones(shape)], [[0], [1]])
    return [[(int(x), float(y)) for x, y in inner] for _ in outer]


def archive(np, key="a"):
    file = io.BytesIO()
    np.savez(file, a=np.ones(2))
    file.seek(0)
    return np.load(file)[key]


def coefficients(np):
    p = np.poly1d([1.0, 2.0, 3.0])
    p.coeffs += 1
    p.coeffs[0] = 9
    return p.coeffs, p(2.0)


def pickled(np):
    state = np.random.RandomState(3)
    again = pickle.loads(pickle.dumps(state))
    return state.random_sample(3), again.random_sample(3), type(again) is np.random.RandomState


def pointed(np):
    """A function in C that writes an array, or refuses one."""
    libc = ctypes.CDLL(None)
    row = np.ctypeslib.ndpointer("f8", 1, flags="C")
    libc.memset.argtypes = [row, ctypes.c_int, ctypes.c_size_t]
    libc.memset.restype, a = None, np.ones(4)
    libc.memset(a, 0, 16)
    try:
        libc.memset(np.ones(4, "f4"), 0, 16)
    except ctypes.ArgumentError as error:
        return a, str(error)


def seeds(np):
    """Of an array, by whatever takes a seed."""
    names = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
    kinds, seed = [getattr(np.random, name) for name in names], np.arange(5)
    drawn = [(kind(seed).random_raw(), kind(seed=seed).random_raw()) for kind in kinds]
    made = np.random.default_rng(seed).bit_generator
    sequence = np.random.SeedSequence(seed, spawn_key=(1, 2)).spawn(1)[0]
    wrong = [kind.__name__ for kind in kinds if isinstance(made, kind)]
    again = pickle.loads(pickle.dumps(kinds[1](7))).random_raw()
    return (
        drawn,
        wrong,
        sequence.generate_state(3).tolist(),
        again,
        np.random.Philox(key=3).random_raw(),
    )


def matrices(np):
    """Texts name what is known where they stand."""
    one = np.arange(4.0).reshape(2, 2)
    made = np.r_["one, one"], np.c_["one; one"], np.bmat("one, one; one one")
    return [type(matrix) is np.matrix and matrix.tolist() for matrix in made], one.sum()


def table(np):
    """Ufuncs are what NumPy hands to objects that are asked."""
    import numpy

    known = {np.add: "a sum", np.exp: "a power"}
    return known[numpy.add], known[numpy.exp], np.add == numpy.add, np.add != numpy.sqrt


def bytes_of(np):
    own = np.zeros(10_000)
    return sys.getsizeof(own) >= own.nbytes > sys.getsizeof(own[1:])


STRIDED = (((None, 3), (8, 8)), ((2, None), (16, 8)), ((3, 2, None), (0, 8, 8)))


def windows(length):
    """Overlapping windows, written with equal values."""

    def program(np):
        strided, made = np.lib.stride_tricks.as_strided, []
        for shape, strides in STRIDED:
            shape = tuple(length if one is None else one for one in shape)
            values, a = np.arange(length + 9.0), np.zeros(length + 9)
            strided(a, shape, strides)[...] = strided(values, shape, strides)
            b, transposed = np.zeros(length + 9), np.zeros(length + 9)
            strided(b, shape, strides)[...] = 5
            strided(transposed, shape, strides).T[1:] = 7
            made += [a, b, transposed]
        return made

    return program


def fields(np):
    """Functions of `recfunctions` that write their argument."""
    tools, number = np.lib.recfunctions, np.array(0)
    tools.assign_fields_by_name(number, np.array(3))
    a, b = np.ones(2, "i4,f8"), np.zeros(2, "i4,f8,f8")
    tools.assign_fields_by_name(b, a, zero_unassigned=False)
    made = tools.recursive_fill_fields(a, np.zeros(3, "i4,f8"))
    return number, b, made


FREE = ("array", "asarray", "ascontiguousarray", "asanyarray", "frombuffer", "fromiter", "zeros")


def of_class(np, name):
    """A function that a class has is its method only if it is written in Python."""
    kind = type("Kind", (), {"made": getattr(np, name)})
    return kind().made(bytearray(b"\1\2") if name == "frombuffer" else (1, 2), "u1")


def times(a, b):
    a @= b
    return a


ONES = ((3,), (3, 3), (2, 3), (2, 3, 3), ())
TOO_MANY = (1,) * 65
PROGRAMS = {
    "shapes, one after the other": reshaped,
    **{f"dtype = {dtype}": retyped(dtype) for dtype in DTYPES},
    "dtype, wrong size": lambda np: setattr(np.ones(3, "i4"), "dtype", "f8"),
    "dtype, wrong name": lambda np: setattr(np.ones(3), "dtype", "no such"),
    "astype": truths,
    "conj(out)": written("conj"),
    "conjugate(out)": written("conjugate"),
    "cells": cells,
    "aligned": aligned,
    "flags": flags,
    "wrong thaw": thaw,
    "nditer, slices": slices,
    "nested_iters": nested,
    "nested_iters, wrong shape": lambda np: nested(np, 3),
    "archive": archive,
    "archive, wrong key": lambda np: archive(np, (1, 2)),
    "coefficients": coefficients,
    "pickled": pickled,
    "pointed": pointed,
    "table of ufuncs": table,
    "getsizeof": bytes_of,
    **{f"{name}, of a class": lambda np, name=name: of_class(np, name) for name in FREE},
    "fields": fields,
    "few windows": windows(10),
    "many windows": windows(20_000),
    "__array__": lambda np: np.arange(3).__array__(dtype="f4", copy=True).tolist(),
    **{
        f"{a} @= {b}": lambda np, a=a, b=b: times(np.ones(a), np.ones(b))
        for a in ONES
        for b in ONES
    },
    **{
        f"{name} by place": lambda np, name=name: getattr(np, name)(np.ones(3), 2, np.zeros(3))
        for name in ("add", "maximum", "minimum")
    },
    "out, wrong twice": lambda np: np.add(np.ones(2), 2, None, out=np.ones(2)),
    "zeros(bools)": lambda np: np.zeros((True, 3)),
    "reshape(bools)": lambda np: np.ones(3).reshape(True, 3),
    "reshape(list of bools)": lambda np: np.reshape(np.ones(3), [3, True]),
    "transpose(bools)": lambda np: np.ones((3, 3)).transpose(True, False),
    "too many, zeros": lambda np: np.zeros(TOO_MANY),
    "too many, reshape": lambda np: np.ones(1).reshape(TOO_MANY),
    "too many, new axes": lambda np: np.ones(3)[(None,) * 64],
    "as many as may be": lambda np: np.ones(3)[(None,) * 63].shape,
}
PROGRAMS |= {
    "seeds": seeds,
    "matrices": matrices,
    "wrong matrix": lambda np: np.r_["unknown, unknown"],
    "ones of items": lambda np: [np.ones(3, kind) for kind in ("M8", "m8", "U", "i4,f4", ">i4")],
    "full of items": lambda np: [
        *(np.full(3, "2020-01-02", "M8[D]"), np.full(3, 3, "M8[D]"), np.full(3, 3.7, ">i4")),
        *(np.full(3, "abc", "S2"), np.full(3, 300, ">u2")),
    ],
    "days of texts": lambda np: np.array(["1970-01-02"] * 9).astype("M8"),
    "fields of nothing": lambda np: np.zeros(3, [("a", "S0"), ("b", "i4")])["a"],
    "element of a row of one": lambda np: np.ones(2, "i8,i8").__setitem__(
        0, np.array([(2, 3)], "i8,i8")
    ),
    "derived tuple": lambda np: [
        np.ones((5, 5))[key] for key in map(Tuple, (([1], [1]), ([1, 2], slice(2)), (1, ...)))
    ],
    "objects weigh": lambda np: np.histogram(np.arange(9.0), 3, weights=np.ones(9, object)),
}
# Programs that need the array as one piece of memory: not on several ranks.
OF_MEMORY = ("coefficients", "pointed", "wrong thaw")
