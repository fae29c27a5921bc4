"""Conversion of arrays: NumPy functions, pickles, copies, DLPack, files, objects."""

import copy
import ctypes
import importlib
import io
import pickle

import dappled
import numpy
import pytest
from dappled._dispatch.array_function import our_function as ours_of
from dappled.coverage.names import table

from tests.support.compare import described
from tests.support.values import DTYPES, FEW, SHAPES, VIEWS, maker

EVERY = [(dtype, shape, "plain") for dtype in DTYPES for shape in SHAPES]
EVERY += [(dtype, (5, 3), view) for dtype in FEW for view in VIEWS]


def arrays():
    for dtype, shape, view in EVERY:
        make = maker(dtype, shape, view)
        yield make(numpy)[0], make(dappled)[0]


def same(theirs, ours):
    assert described(numpy, theirs)[:4] == described(dappled, ours)[:4]


# NumPy's functions, called with an array of ours.
CALLS = {
    "sum": lambda np, a: numpy.sum(a, axis=0),
    "concatenate": lambda np, a: numpy.concatenate([a, a]),
    "mixed": lambda np, a: numpy.concatenate([a, numpy.asarray(a)]),
    "where": lambda np, a: numpy.where(a > 3, a, 0),
    "linalg": lambda np, a: numpy.linalg.svd(a, compute_uv=False),
    "fft": lambda np, a: numpy.fft.fft(a),
    "histogram": lambda np, a: numpy.histogram(a),
    "ufunc": lambda np, a: numpy.multiply(a, 2),
    "ufunc left": lambda np, a: numpy.ones(3) + a,
    "ufunc right": lambda np, a: a + numpy.ones(3),
    "ufunc out": lambda np, a: numpy.add(a, 1, out=a),
    "reduce": lambda np, a: numpy.add.reduce(a),
    "accumulate": lambda np, a: numpy.add.accumulate(a, axis=1),
    "outer": lambda np, a: numpy.multiply.outer(a, a),
    "at": lambda np, a: numpy.add.at(a, [0], 5),
    "two": lambda np, a: numpy.modf(a),
    "like": lambda np, a: numpy.zeros(3, like=a),
    "like array": lambda np, a: numpy.asarray([1, 2], like=a),
    "atleast": lambda np, a: numpy.atleast_3d(a),
    "einsum": lambda np, a: numpy.einsum("ij,kj->ik", a, a),
    "copyto": lambda np, a: numpy.copyto(a, 3),
    "scalar": lambda np, a: numpy.float32(2) * a,
    "nanmean": lambda np, a: numpy.nanmean(a, axis=1),
    "testing": lambda np, a: numpy.testing.assert_array_equal(a, a),
}


@pytest.mark.parametrize("name", CALLS)
def test_numpys_functions_give_our_arrays(name):
    values = numpy.arange(6.0).reshape(2, 3)
    theirs, ours = values.copy(), dappled.array(values)
    expected, found = CALLS[name](numpy, theirs), CALLS[name](dappled, ours)
    assert described(numpy, expected) == described(dappled, found)
    same(theirs, ours)


def test_pickles_and_copies_have_the_same_values():
    for theirs, ours in arrays():
        for protocol in range(2, 6):
            expected = pickle.loads(pickle.dumps(theirs, protocol))
            found = pickle.loads(pickle.dumps(ours, protocol))
            assert described(numpy, expected) == described(dappled, found)
        for made in (copy.copy(ours), copy.deepcopy(ours)):
            same(theirs, made)
            assert made is not ours and made.flags.writeable


def test_objects_are_copied_deeply():
    inner = [1]
    ours = dappled.array([inner, None], dtype=object)
    assert copy.deepcopy(ours)[0] is not inner and copy.copy(ours)[0] is inner


def test_numpy_sees_the_memory_and_so_do_we():
    ours = dappled.zeros((2, 3))
    seen = numpy.asarray(ours)
    seen[0] = 7
    ours[1] = 8
    assert seen.tolist() == ours.tolist() == [[7] * 3, [8] * 3]
    assert numpy.array(ours, copy=True).base is None
    assert numpy.asarray(ours, dtype="f4").dtype == "f4"


def test_our_array_sees_numpys_memory():
    theirs = numpy.zeros(3)
    ours = dappled.asarray(theirs)
    theirs[0] = 1
    ours[1] = 2
    assert theirs.tolist() == ours.tolist() == [1, 2, 0]
    assert dappled.array(theirs).tolist() == [1, 2, 0]


def test_dlpack_shares_memory():
    ours = dappled.arange(6.0)
    theirs = numpy.from_dlpack(ours)
    ours[0] = 5
    assert theirs[0] == 5 and ours.__dlpack_device__() == (1, 0)
    assert isinstance(dappled.from_dlpack(numpy.arange(3)), dappled.ndarray)


def test_data_and_ctypes_are_the_memory():
    ours = dappled.arange(3.0)
    assert ours.data.tolist() == [0, 1, 2]
    first = ctypes.cast(ours.ctypes.data, ctypes.POINTER(ctypes.c_double))
    first[1] = 9
    assert ours.tolist() == [0, 9, 2]


def test_the_array_api_door():
    assert dappled.ones(2).__array_namespace__() is dappled
    with pytest.raises(ValueError, match="not supported"):
        dappled.ones(2).__array_namespace__(api_version="1999.1")
    assert dappled.ndarray[tuple[int], numpy.dtype[numpy.float64]].__origin__ is dappled.ndarray


def test_flat_walks_and_compares():
    theirs, ours = numpy.arange(6).reshape(2, 3).T, dappled.arange(6).reshape(2, 3).T
    their_flat, our_flat = theirs.flat, ours.flat
    for _ in range(4):
        assert (their_flat.index, their_flat.coords) == (our_flat.index, our_flat.coords)
        assert next(their_flat) == next(our_flat)
    assert our_flat.base is ours and len(our_flat) == 6
    assert (ours.flat == theirs.flat).tolist() == [True] * 6
    assert numpy.asarray(ours.flat).tolist() == [*theirs.flat]
    assert dappled.dot(ours.flat, ours.flat) == 55
    ours.flat[[0, -1]] = 9
    theirs.flat[[0, -1]] = 9
    assert ours.tolist() == theirs.tolist() and ours.flat.copy().tolist() == [*theirs.flat]


def test_generators_draw_numpys_numbers_as_our_arrays():
    theirs, ours = numpy.random.default_rng(5), dappled.random.default_rng(5)
    assert isinstance(ours, dappled.random.Generator)
    same(theirs.normal(size=4), ours.normal(size=4))
    same(theirs.permutation(5), ours.permutation(dappled.arange(5)))
    assert theirs.integers(9) == ours.integers(9)
    assert type(ours.bit_generator) is type(theirs.bit_generator)
    again = pickle.loads(pickle.dumps(ours))
    same(theirs.random(3), again.random(3))
    assert all(isinstance(child, dappled.random.Generator) for child in ours.spawn(2))
    old, state = numpy.random.RandomState(3), dappled.random.RandomState(3)
    same(old.rand(2, 2), state.rand(2, 2))
    dappled.random.seed(4)
    numpy_draw = dappled.random.rand(3)
    numpy.random.seed(4)
    same(numpy.random.rand(3), numpy_draw)


def test_polynomials_take_and_make_our_arrays():
    x = dappled.arange(3.0)
    for np in (numpy, dappled):
        p = np.poly1d([1, 2, 3])
        assert isinstance(p(np.asarray([0.0, 1.0])), np.ndarray) and isinstance(
            p.coeffs, np.ndarray
        )
        assert (
            isinstance(p * p, np.poly1d) and (p * p).order == 4 and str(p) == str(numpy.poly1d(p))
        )
        q = np.polynomial.Polynomial.fit([0, 1, 2], [1, 3, 5], 1)
        assert isinstance(q, np.polynomial.Polynomial) and abs(q(2) - 5) < 1e-9
        assert isinstance(q.coef, np.ndarray) and isinstance(q + 1, np.polynomial.Polynomial)
    same(numpy.polyval([1, 2], [0.0, 1.0, 2.0]), dappled.polyval([1, 2], x))
    same(numpy.polyfit([0, 1, 2], [1, 3, 5], 1), dappled.polyfit(x, [1, 3, 5], 1))


def test_files_bring_back_our_arrays(tmp_path):
    ours = dappled.arange(6.0).reshape(2, 3)
    dappled.save(tmp_path / "a.npy", ours)
    same(numpy.load(tmp_path / "a.npy"), dappled.load(tmp_path / "a.npy"))
    dappled.savez(tmp_path / "a.npz", x=ours, y=[1, 2])
    with dappled.load(tmp_path / "a.npz") as found:
        assert isinstance(found, dappled.lib.npyio.NpzFile) and found.files == ["x", "y"]
        assert all(isinstance(value, dappled.ndarray) for value in dict(found).values())
    text = io.StringIO()
    dappled.savetxt(text, ours)
    same(numpy.asarray(ours), dappled.loadtxt(io.StringIO(text.getvalue())))
    ours.tofile(tmp_path / "raw")
    same(numpy.arange(6.0), dappled.fromfile(tmp_path / "raw"))


def test_objects_that_index_iterate_and_vectorize():
    for np in (numpy, dappled):
        a = np.asarray([[1.0, 2.0], [3.0, 4.0]])
        made = [np.r_[a[0], 5], np.c_[a, a], np.mgrid[:2, :2], *np.ogrid[:2, :2]]
        made += [np.vectorize(lambda x: x + 1)(a), np.fromfunction(lambda i, j: i + j, (2, 2))]
        made += [np.apply_along_axis(lambda row: row * 2, 0, a), np.array(a.tolist())]
        assert all(isinstance(array, np.ndarray) for array in made)
        for x in np.nditer(a, op_flags=["readwrite"]):
            x[...] = 2 * x
        assert a.tolist() == [[2, 4], [6, 8]]
        assert [(place, float(x)) for place, x in np.ndenumerate(a)][-1] == ((1, 1), 8.0)


def test_masked_arrays_and_matrices_stay_numpys_and_take_ours():
    ours = dappled.arange(4.0)
    masked = dappled.ma.masked_greater(ours, 2)
    assert isinstance(masked, dappled.ma.MaskedArray) and masked.mask.tolist() == [0, 0, 0, 1]
    assert dappled.asmatrix(ours.reshape(2, 2)).I.shape == (2, 2)
    assert dappled.asanyarray(dappled.asmatrix([[1]])).__class__ is numpy.matrix


def test_functions_of_the_user_get_our_arrays():
    seen = []
    dappled.apply_along_axis(lambda row: seen.append(type(row)) or row, 0, dappled.ones((2, 2)))
    dappled.piecewise(dappled.ones(2), [[True, False]], [lambda x: seen.append(type(x)) or x, 0])
    dappled.apply_over_axes(lambda a, axis: seen.append(type(a)) or a, dappled.ones((2, 2)), [0])
    assert set(seen) == {dappled.ndarray}


def test_setting_shape_flags_and_the_constructor():
    for np in (numpy, dappled):
        a = np.arange(6)
        a.shape = (2, 3)
        assert a.tolist() == [[0, 1, 2], [3, 4, 5]]
        a.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            a[0] = 1
        a.setflags(write=True)
        a.resize((3, 2))
        assert a.shape == (3, 2) and a.flags["C"] and a.flags.c_contiguous
        assert np.ndarray((2,), dtype="i4", buffer=bytearray(8)).tolist() == [0, 0]


def test_numpys_functions_lead_to_ours():
    """Every function that NumPy lets through comes to our function of that name."""
    ways, wrong = table(), []
    for path in ways:
        theirs = attribute("numpy", path)
        if isinstance(theirs, type(numpy.sum)):
            found = ours_of(theirs)
            if found.__module__.partition(".")[0] != "dappled" or found.__execution__ != ways[path]:
                wrong.append((path, found.__execution__, ways[path]))
    assert not wrong


def attribute(package, path):
    value = importlib.import_module(package)
    for name in path.split("."):
        value = getattr(value, name)
    return value


def test_elements_are_shown_as_the_program_says():
    with numpy.printoptions(formatter={"float": lambda value: f"<{value:.1f}>"}):
        assert str(dappled.ones(2)) == "[<1.0> <1.0>]"
    with numpy.printoptions(override_repr=lambda array: f"{array.size} elements"):
        assert repr(dappled.ones(2)) == "2 elements"
