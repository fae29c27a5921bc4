"""zarr with our arrays: chunked arrays in memory. zarr reads and writes in a thread of its own."""

import numpy
import pytest

from tests.interop.libraries.boundary import on_ranks, table_tests, where_distributed

zarr = pytest.importorskip("zarr")

RNG = numpy.random.default_rng(17)
VALUES = RNG.standard_normal((6, 8))
OTHERS = RNG.standard_normal((6, 8))
LINE = RNG.standard_normal(6)
NUMBERS = RNG.integers(-9, 9, (6, 8))
MASK = VALUES > 0
PLACES = numpy.array([0, 2, 5])
COMPLEX = VALUES + 1j
WORDS = numpy.array(["red", "green", "blue"])
BACKWARDS = numpy.asfortranarray(VALUES)
SHAPE, CHUNKS = VALUES.shape, (4, 3)


def stored(act=lambda data: data[...], **options):
    """A program of an array in memory that holds the values."""

    def call(values, *others):
        made = zarr.create_array({}, data=values, **{"chunks": (4, 3)[: values.ndim], **options})
        return act(made, *others)

    return call


def written(write, dtype="f8", **options):
    """The values of an array of zeros after a write."""

    def call(*arguments):
        made = zarr.create_array({}, shape=SHAPE, chunks=CHUNKS, dtype=dtype, **options)
        write(made, *arguments)
        return made[...]

    return call


def setting(key):
    def write(made, values):
        made[key] = values

    return write


def _basic(made, values):
    made.set_basic_selection(numpy.s_[1:3], values)


def _orthogonal(made, at, values):
    made.oindex[at, :] = values


def _points(made, at, values):
    made.vindex[at, at] = values


def _mask(made, mask, values):
    made.set_mask_selection(mask, values)


def _by_mask(made, mask, values):
    made[mask] = values


def _coordinates(made, at, values):
    made.set_coordinate_selection((at, at), values)


def _blocks(made, values):
    made.blocks[0, 1] = values


def _group(values, line):
    group = zarr.group({})
    group.create_array("a", data=values)
    group["b"] = line
    return {name: array[...] for name, array in group.arrays()}


def _saved(values):
    store = zarr.storage.MemoryStore()
    zarr.save_array(store, values)
    return zarr.load(store)


def _saved_group(values, line):
    store = zarr.storage.MemoryStore()
    zarr.save_group(store, a=values, b=line)
    return {name: array[...] for name, array in zarr.open_group(store).arrays()}


def _opened(values):
    store = zarr.storage.MemoryStore()
    zarr.open_array(store, mode="w", shape=SHAPE, chunks=CHUNKS, dtype="f8")[...] = values
    return zarr.open_array(store, mode="r")[...]


def _grown(made):
    made.resize((8, 9))
    return made[...]


def _appended(made, values):
    made.append(values)
    return made[...]


CASES = {
    "array": (lambda x: zarr.array(x)[...], VALUES),
    "array(chunks=)": (lambda x: zarr.array(x, chunks=CHUNKS)[...], VALUES),
    "create_array": (stored(), VALUES),
    "create_array, row": (stored(), LINE),
    "create_array, integers": (stored(), NUMBERS),
    "create_array, truths": (stored(), MASK),
    "create_array, complex": (stored(), COMPLEX),
    "create_array, words": (stored(), WORDS),
    "create_array, backwards": (stored(), BACKWARDS),
    "create_array, one chunk": (stored(chunks=SHAPE), VALUES),
    "create_array(compressors=None)": (stored(compressors=None), VALUES),
    "create_array(shards=)": (stored(shards=(8, 9)), VALUES),
    "create_array(order=F)": (stored(order="F", zarr_format=2), VALUES),
    "create_array(zarr_format=2)": (stored(zarr_format=2), VALUES),
    "zeros": (written(setting(...)), VALUES),
    "full_like": (lambda x: zarr.full_like(x, fill_value=3.0)[...], VALUES),
    "zeros_like": (lambda x: zarr.zeros_like(x)[...], VALUES),
    "ones_like": (lambda x: zarr.ones_like(x)[...], VALUES),
    "empty_like": (lambda x: zarr.empty_like(x).shape, VALUES),
    "open_array": (_opened, VALUES),
    "save_array": (_saved, VALUES),
    "save_group": (_saved_group, VALUES, LINE),
    "group": (_group, VALUES, LINE),
    "z[...] = array": (written(setting(...)), VALUES),
    "z[:] = array": (written(setting(slice(None))), VALUES),
    "z[...] = array, cast": (written(setting(...), "f4"), VALUES),
    "z[...] = array, backwards": (written(setting(...)), BACKWARDS),
    "z[2] = array": (written(setting(2)), VALUES[0].copy()),
    "z[:, 3] = array": (written(setting(numpy.s_[:, 3])), LINE),
    "z[1:5, 2:7] = array": (written(setting(numpy.s_[1:5, 2:7])), VALUES[:4, :5].copy()),
    "set_basic_selection": (written(_basic), VALUES[:2].copy()),
    "z.oindex[places] = array": (written(_orthogonal), PLACES, VALUES[:3].copy()),
    "z.vindex[places] = array": (written(_points), PLACES, LINE[:3].copy()),
    "z[mask] = array": (written(_by_mask), MASK, VALUES[MASK]),
    "set_mask_selection": (written(_mask), MASK, VALUES[MASK]),
    "set_coordinate_selection": (written(_coordinates), PLACES, LINE[:3].copy()),
    "z.blocks = array": (written(_blocks), VALUES[:4, :3].copy()),
    "z.append": (stored(_appended), VALUES, OTHERS),
    "z.resize": (stored(_grown), VALUES),
    "z[places]": (stored(lambda z, at: z[at]), VALUES, PLACES),
    "z.oindex[places]": (stored(lambda z, at: z.oindex[at, at]), VALUES, PLACES),
    "z.vindex[places]": (stored(lambda z, at: z.vindex[at, at]), VALUES, PLACES),
    "z[mask]": (stored(lambda z, mask: z[mask]), VALUES, MASK),
    "get_mask_selection": (stored(lambda z, mask: z.get_mask_selection(mask)), VALUES, MASK),
    "numpy.asarray(z)": (stored(numpy.asarray), VALUES),
    "z[...] + array": (stored(lambda z, x: z[...] + x), VALUES, OTHERS),
    "attrs": (stored(lambda z, x: (z.attrs.update(x=x.tolist()), z.attrs["x"])[1]), VALUES, LINE),
}
# They look at the shape and dtype alone.
ALIKE = {"full_like", "zeros_like", "ones_like", "empty_like"}
THREAD = "zarr reads in a thread of its own, which can't gather a distributed array"
INDICES = "zarr makes distributed arrays of the indices, and its thread can't gather those"
KNOWN = {name: (where_distributed, THREAD) for name in CASES if name not in ALIKE} | {
    "z.vindex[places] = array": (on_ranks, INDICES),
    "z[mask] = array": (on_ranks, INDICES),
    "set_mask_selection": (on_ranks, INDICES),
    "set_coordinate_selection": (on_ranks, INDICES),
    "z.vindex[places]": (on_ranks, INDICES),
    "z[mask]": (on_ranks, INDICES),
    "get_mask_selection": (on_ranks, INDICES),
}

test_zarr, test_remedy = table_tests(CASES, KNOWN)
