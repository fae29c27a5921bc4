"""Arrays of random calls: every dtype, view, memory order and distribution.

All of it is Python's text, in which `some` and `lay` are names: the same for NumPy and for Dappled.
"""

import functools
import re

import numpy

from tests.ranks.program_tables import LAYOUTS, laid_out

DTYPES = "?bBhHiIlLefdFD"
SHAPES = [(), (0,), (1,), (2,), (5,), (7,), (12,), (33,), (1, 1), (4, 6), (5, 5), (7, 3), (6, 1)]
SHAPES += [(1, 9), (0, 3), (4, 0), (2, 3, 4), (3, 3, 3), (5, 1, 2), (3, 0, 2), (2, 1, 3, 2)]
# What makes a view of an array, for each number of axes from which on it can be.
VIEWS = [
    *[(1, text) for text in ("[::-1]", "[::2]", "[1:]", "[:-1]", "[::-2]", "[..., ::-1]")],
    *[(1, text) for text in ("[..., 1::3]", "[..., None]", "[None]", "[:0]", "[-1:]")],
    *[(2, text) for text in (".T", "[:, ::2]", "[::-1, ::-1]", ".T[::-1]", "[:, 1:]", "[:, 0]")],
    *[(3, text) for text in (".swapaxes(0, 1)", "[1]", "[..., 0, :]", ".transpose(1, 2, 0)")],
]
# As `VALUES` of values.py, and what they leave out.
STYLES = ["small", "ties", "special", "extreme", "sorted"]
SPECIAL = [numpy.nan, numpy.inf, -numpy.inf, -0.0, 0.0, 1e-40]
# Along which elements do not lie in order.
SCATTERED = re.compile(r"'(cyclic|block-cyclic|unstructured|[bn]*c[bcn]*)'\)")


def names(np):
    """The names that a call may use, in one of the namespaces."""
    known = {"np": np, "numpy": numpy, "nan": numpy.nan, "inf": numpy.inf}
    return known | {"some": functools.partial(some, np), "lay": functools.partial(lay, np)}


def some(np, dtype, shape, style="small", seed=0, order="C"):
    """An array of its own, of numbers that only what is said here decides."""
    return np.array(numbers(numpy.dtype(dtype), shape, style, seed), order=order)


def numbers(dtype, shape, style, seed):
    state, size = numpy.random.RandomState(seed), int(numpy.prod(shape))
    values = state.randint(-9, 10, size) if style != "ties" else state.randint(0, 3, size)
    if dtype.kind == "u":
        values = abs(values)
    if dtype.kind in "fc":
        values = (values / 4).astype(dtype)
        if dtype.kind == "c":
            values.imag = state.randint(-3, 4, size) / 2
        if style in ("special", "extreme") and size:
            values.real[state.randint(0, size, 3)] = state.choice(SPECIAL, 3)
    elif style in ("special", "extreme") and dtype.kind in "iu" and size:
        ends = numpy.iinfo(dtype)
        values = values.astype(dtype)
        values[state.randint(0, size, 2)] = state.choice(
            numpy.array([ends.min, ends.max], dtype), 2
        )
    values = numpy.sort(values) if style == "sorted" else values
    return values.astype(dtype).reshape(shape)


def lay(np, array, how):
    """An array of ours somewhere else; NumPy's is left as it is."""
    if np is numpy or not array.ndim or not how:
        return array
    if how not in LAYOUTS:
        return array.redistribute(how)
    try:
        return laid_out(np, array, how)
    except np.protocol.ProtocolError:  # padding wider than what a rank has
        return array


def drawn_array(chance, dtypes=DTYPES, dims=None, shape=None, styles=()):
    """The text of an array, and of a view of it."""
    shapes = [shape] if shape is not None else [s for s in SHAPES if dims is None or len(s) in dims]
    shape = chance.choice(shapes)
    dtype, style = chance.choice(dtypes), chance.choice(styles or STYLES)
    seed, transposed = chance.randrange(1000), len(shape) > 1 and chance.random() < 0.15
    made = f"some({dtype!r}, {shape}, {style!r}, {seed}{', ' + repr('F') if transposed else ''})"
    if chance.random() < 0.6 and shape and not transposed:
        made = f"lay({made}, {layout(chance, len(shape))!r})"
    return made


def drawn_view(chance, array, dims=None):
    """What is said after an array's name, of a view with some number of axes."""
    view = chance.choice([text for least, text in VIEWS if least <= array.ndim] or [""])
    try:
        return view if eval(f"x{view}", {"x": array}).ndim in (dims or range(9)) else ""
    except (IndexError, ValueError):
        return ""


def layout(chance, dims):
    grid = "".join(chance.choice("bcn") for _ in range(dims))
    return chance.choice([*LAYOUTS, grid, grid])
