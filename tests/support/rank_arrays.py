"""Small arrays of tests on ranks, and values gathered from all ranks."""

import pickle

import dappled as np
import numpy
from dappled import _core

VALUES = numpy.arange(12.0).reshape(3, 4) - 5


def array(dtype="f8"):
    return np.array(VALUES.astype(dtype))


def allgather(value):
    """The values of all ranks, in order. Collective."""
    return [pickle.loads(sent) for sent in _core.gather("a test", pickle.dumps(value))]


def as_tuple(results):
    return results if isinstance(results, tuple) else (results,)


STRUCTURED = numpy.dtype([("x", "f8"), ("n", "i4"), ("s", "U2")])


ITEMS = {
    "dates": VALUES.astype("m8[D]") + numpy.datetime64("2000-02-28"),
    "spans": VALUES.astype("m8[s]"),
    "texts": VALUES.astype("U6"),
    "bytes": VALUES.astype("S4"),
    "long": VALUES.astype("g"),
    "swapped": VALUES.astype(">f4"),
    "structures": numpy.array([(v, v, "ab") for v in VALUES.flat], STRUCTURED).reshape(3, 4),
}
