"""Arrays for comparisons: every dtype, shape and kind of view."""

from functools import cache

import numpy

NATIVE = list("?bhilBHILefdFD")
STRUCTURED = numpy.dtype([("x", "i4"), ("y", "f8")])
OTHERS = ["M8[D]", "m8[s]", STRUCTURED, "O", "U3", "S2", ">i4"]
DTYPES = [numpy.dtype(kind) for kind in NATIVE + OTHERS]
NUMBERS = [numpy.dtype(kind) for kind in NATIVE]
FLOATS = [numpy.dtype(kind) for kind in "efdFD"]
FEW = [numpy.dtype(kind) for kind in "?LedDO"]

SHAPES = [(), (0,), (1,), (7,), (3, 0), (5, 3), (2, 3, 4)]

# Kinds of views, each a function of the namespace and a plain array.
VIEWS = {
    "plain": lambda np, a: a,
    "step": lambda np, a: a[::2] if a.ndim else a[...],
    "reversed": lambda np, a: a[..., ::-1] if a.ndim else a[...],
    "transposed": lambda np, a: a.T,
    "broadcast": lambda np, a: np.broadcast_to(a, (2, *a.shape)),
    "newaxis": lambda np, a: a[..., None],
    "columns": lambda np, a: np.array(a, order="F"),
}


def numbers(dtype, shape, seed=0):
    """The same values in every run: small numbers, and for floats some special ones."""
    return _drawn(dtype, shape, seed).copy()


@cache
def _drawn(dtype, shape, seed):
    """Cached: seeding takes longer than most of the computations."""
    size = int(numpy.prod(shape))
    random = numpy.random.RandomState(seed + size)
    whole = random.randint(-9, 10, size)
    if dtype == STRUCTURED:
        values = numpy.empty(size, dtype)
        values["x"], values["y"] = whole, whole / 4
    elif dtype.kind in "fc":
        values = (whole / 4).astype(dtype)
        values[3::11] = numpy.nan
        values[5::13] = numpy.inf
    elif dtype.kind == "u":
        values = abs(whole).astype(dtype)
    elif dtype.kind == "M":
        values = whole.astype("m8[D]") + numpy.datetime64("2000-02-28")
    else:
        values = whole.astype(dtype)
    if dtype.kind == "c":
        values = values + (1j * whole[::-1]).astype(dtype)
    return values.reshape(shape)


def maker(dtype, shape, view="plain", count=1):
    """A function of the namespace that makes arrays there, the same in every one."""

    def make(np):
        return [VIEWS[view](np, np.asarray(numbers(dtype, shape, seed))) for seed in range(count)]

    return make
