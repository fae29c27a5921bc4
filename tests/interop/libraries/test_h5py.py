"""h5py with our arrays: data sets, selections and attributes of a file in memory."""

import numpy
import pytest

from tests.interop.libraries.boundary import Written, always, table_tests

h5py = pytest.importorskip("h5py")

RNG = numpy.random.default_rng(13)
VALUES = RNG.standard_normal((6, 8))
LINE = RNG.standard_normal(6)
NUMBERS = RNG.integers(-9, 9, (6, 8))
MASK = VALUES > 0
PLACES = numpy.array([0, 2, 5])
COMPLEX = VALUES + 1j
WORDS = numpy.array([b"red", b"green", b"blue"])
BACKWARDS = numpy.asfortranarray(VALUES)
SHAPE = VALUES.shape


def in_file(act):
    """A program of a new file in memory."""

    def call(*arguments):
        with h5py.File("none", "w", driver="core", backing_store=False) as file:
            return act(file, *arguments)

    return call


def stored(act=lambda data: data[()], **options):
    """A program of a data set of the values."""
    return in_file(lambda file, values, *others: act(_set(file, values, **options), *others))


def _set(file, values, **options):
    return file.create_dataset("x", data=values, **options)


def written(write, dtype="f8"):
    """The values of a data set of zeros after a write."""

    def act(file, *arguments):
        data = file.create_dataset("x", SHAPE, dtype)
        write(data, *arguments)
        return data[()]

    return in_file(act)


def _all(data, values):
    data[...] = values


def _row(data, values):
    data[2] = values


def _column(data, values):
    data[:, 3] = values


def _steps(data, values):
    data[::2, 1:7:3] = values


def _masked(data, mask, values):
    data[mask] = values


def _chosen(data, at, values):
    data[at] = values


def _direct(data, values):
    data.write_direct(values)


def _direct_part(data, values):
    data.write_direct(values, numpy.s_[1:3], numpy.s_[2:4])


def _read_direct(file, values, out):
    _set(file, values).read_direct(out)
    return out


def _grown(file, values):
    data = file.create_dataset("x", data=values, maxshape=(None, 8), chunks=(2, 8))
    data.resize(12, 0)
    data[6:] = values
    return data[()]


def _attribute(file, values):
    file.attrs["x"] = values
    return file.attrs["x"]


def _modified(file, values):
    file.attrs.create("x", values, dtype="f4")
    file.attrs.modify("x", values)
    return file.attrs["x"]


def _table(file, line, numbers):
    kind = numpy.dtype([("a", "f8"), ("b", "i8")])
    data = file.create_dataset("x", (6,), kind)
    data["a"] = line
    data["b"] = numbers
    return data["a"], data["b"]


def _required(file, values):
    _set(file, values)
    return file.require_dataset("x", SHAPE, "f8")[()]


def _ragged(file, values):
    data = file.create_dataset("x", (2,), h5py.vlen_dtype("f8"))
    data[0] = values
    return data[0]


def _virtual(file, values):
    _set(file, values)
    layout = h5py.VirtualLayout(SHAPE, "f8")
    layout[...] = h5py.VirtualSource(file["x"])
    return file.create_virtual_dataset("v", layout)[()]


def _low_level(file, values):
    data = file.create_dataset("x", SHAPE, "f8")
    data.id.write(h5py.h5s.ALL, h5py.h5s.ALL, values)
    return data[()]


def _chunks(file, values):
    data = file.create_dataset("x", SHAPE, "f8", chunks=SHAPE)
    data.id.write_direct_chunk((0, 0), values.tobytes())
    return data[()]


def _named(file, values):
    file["x"] = values
    return file["x"][()]


def _many(file, values, line):
    group = file.create_group("g")
    group["a"], group["b"] = values, line
    return {name: group[name][()] for name in group}


CASES = {
    "create_dataset": (stored(), VALUES),
    "create_dataset, integers": (stored(), NUMBERS),
    "create_dataset, truths": (stored(), MASK),
    "create_dataset, complex": (stored(), COMPLEX),
    "create_dataset, bytes": (stored(), WORDS),
    "create_dataset, backwards": (stored(), BACKWARDS),
    "create_dataset(dtype=)": (stored(dtype="f4"), VALUES),
    "create_dataset(chunks=)": (stored(chunks=(2, 3)), VALUES),
    "create_dataset(compression=)": (stored(chunks=(3, 8), compression="gzip"), VALUES),
    "create_dataset(shuffle=)": (stored(chunks=(3, 8), shuffle=True, fletcher32=True), NUMBERS),
    "create_dataset(shape=)": (stored(shape=(8, 6)), VALUES),
    "create_dataset(maxshape=)": (in_file(_grown), VALUES),
    "create_dataset(fillvalue=)": (stored(fillvalue=3.0), VALUES),
    "file[name] = array": (in_file(_named), VALUES),
    "group[name] = array": (in_file(_many), VALUES, LINE),
    "require_dataset": (in_file(_required), VALUES),
    "data.shape and dtype": (stored(lambda data: (data.shape, data.dtype.str)), VALUES),
    "data[...] = array": (written(_all), VALUES),
    "data[...] = array, cast": (written(_all, "i4"), VALUES),
    "data[...] = array, backwards": (written(_all), BACKWARDS),
    "data[...] = row": (written(_all), VALUES[0].copy()),
    "data[2] = array": (written(_row), VALUES[1].copy()),
    "data[:, 3] = array": (written(_column), LINE),
    "data[steps] = array": (written(_steps), VALUES[:3, :2].copy()),
    "data[mask] = array": (written(_masked), MASK, VALUES[MASK]),
    "data[places] = array": (written(_chosen), PLACES, VALUES[:3].copy()),
    "data.write_direct": (written(_direct), VALUES),
    "data.write_direct, part": (written(_direct_part), VALUES),
    "data.read_direct": (in_file(_read_direct), VALUES, Written(numpy.zeros(SHAPE))),
    "data.id.write": (in_file(_low_level), VALUES),
    "data.id.write_direct_chunk": (in_file(_chunks), VALUES),
    "data[mask]": (stored(lambda data, mask: data[mask]), VALUES, MASK),
    "data[places]": (stored(lambda data, at: data[at]), VALUES, PLACES),
    "data[:, places]": (stored(lambda data, at: data[:, at]), VALUES, PLACES),
    "data[:, row of truths]": (stored(lambda data, at: data[:, at]), VALUES, MASK[0].copy()),
    "data.asstr": (stored(lambda data: data.asstr()[()].tolist()), WORDS),
    "data.astype": (stored(lambda data: data.astype("f4")[()]), VALUES),
    "data.fields": (in_file(_table), LINE, NUMBERS[:, 0].copy()),
    "len(data)": (stored(len), VALUES),
    "numpy.asarray(data)": (stored(numpy.asarray), VALUES),
    "data == array": (stored(lambda data, x: data[()] == x), VALUES, VALUES),
    "attrs[name] = array": (in_file(_attribute), LINE),
    "attrs[name] = table": (in_file(_attribute), NUMBERS),
    "attrs.create": (in_file(_modified), LINE),
    "vlen_dtype": (in_file(_ragged), LINE),
    "VirtualLayout": (in_file(_virtual), VALUES),
}
COMPILED = "h5py's compiled code takes NumPy's class alone"
MASKS = "h5py takes masks of NumPy's class alone"
KNOWN = {
    "data[mask]": (always, MASKS),
    "data[mask] = array": (always, MASKS),
    "data.write_direct": (always, COMPILED),
    "data.write_direct, part": (always, COMPILED),
    "data.read_direct": (always, COMPILED),
    "data.id.write": (always, COMPILED),
}

test_h5py, test_remedy = table_tests(CASES, KNOWN)
