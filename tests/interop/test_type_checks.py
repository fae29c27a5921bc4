"""Libraries that test for NumPy's class: the arrays they accept, and `a.numpy()`."""

import sys

import dappled
import numpy
import pytest

VALUES = numpy.arange(24.0).reshape(6, 4)


@pytest.mark.ranks(1)
def test_numpy_is_the_arrays_own_memory():
    a = dappled.array(VALUES)
    n = a.numpy()
    assert type(n) is numpy.ndarray
    n[0, 0] = 7
    a[1, 1] = 8
    assert a[0, 0] == 7 and n[1, 1] == 8
    assert a[1:, ::2].numpy().tolist() == numpy.asarray(a)[1:, ::2].tolist()
    assert (a * 2 + 1).numpy().sum() == (n * 2 + 1).sum()
    assert dappled.array(["a", "b"]).numpy().tolist() == ["a", "b"]
    kept = dappled.ones(3)
    kept.flags.writeable = False
    assert not kept.numpy().flags.writeable


@pytest.mark.ranks(1, 2, 3)
def test_numpy_is_gathered_and_to_be_read():
    a = dappled.array(VALUES)[::2]
    n = a.numpy()
    assert type(n) is numpy.ndarray and numpy.array_equal(n, VALUES[::2])
    if dappled.comm.size > 1:
        with pytest.raises(ValueError, match="read-only"):
            n[0] = 1
    a[0, 0] = 5
    assert a.numpy()[0, 0] == 5


@pytest.mark.ranks(2)
def test_errors_for_distributed_arrays_name_an_alternative():
    a = dappled.ones(100)
    for act in (memoryview, lambda a: a.__dlpack__(), lambda a: a.ctypes):
        with pytest.raises(BufferError, match=r"a\.numpy\(\)"):
            act(a)
    with pytest.raises(RuntimeError, match="local"), dappled.local():
        a.numpy()


def loops(x):
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            total += x[i, j] * (i + 1)
    return total


def put(x):
    x[0, 0] = 7
    for i in range(x.shape[1]):
        x[1, i] += x[2, i]
    return x, x.T, x.size


ARRAYS = {
    "rows": lambda np: np.array(VALUES),
    "columns": lambda np: np.array(VALUES).T,
    "steps": lambda np: np.array(VALUES)[::2, 1:],
    "deferred": lambda np: np.array(VALUES) * 2 + 1,
}


def test_numba_compiles_for_our_arrays():
    numba = pytest.importorskip("numba")
    compiled = numba.njit(put)
    for make in ARRAYS.values():
        ours, theirs = make(dappled), make(numpy)
        for one, other in zip(compiled(ours), put(theirs), strict=True):
            assert type(one) is type(other)
            assert numpy.array_equal(one, other)
        assert numpy.array_equal(ours, theirs)
        assert numpy.array_equal(ours + 1, theirs + 1)


def test_numba_holds_no_references_and_reads_only_what_may_only_be_read():
    numba = pytest.importorskip("numba")
    compiled, a = numba.njit(put), dappled.array(VALUES)
    compiled(a)
    before = sys.getrefcount(a)
    for _ in range(10):
        compiled(a)
    assert sys.getrefcount(a) == before
    a.flags.writeable = False
    with pytest.raises(numba.TypingError, match="readonly"):
        compiled(a)
    with pytest.raises(TypeError):
        numba.njit("f8(f8[:,::1])")(loops)(dappled.array(VALUES))
    assert numba.njit("f8(f8[:,::1])")(loops)(dappled.array(VALUES).numpy()) == loops(VALUES)


@pytest.mark.ranks(2)
def test_numba_refuses_arrays_in_pieces():
    numba = pytest.importorskip("numba")
    with pytest.raises(TypeError, match=r"a\.local.*a\.numpy\(\)"):
        numba.typeof(dappled.ones((6, 4)))
    assert numba.njit(loops)(dappled.array(VALUES).numpy()) == loops(VALUES)


def test_polars_takes_our_arrays():
    polars = pytest.importorskip("polars")
    a = dappled.array(VALUES)
    assert polars.Series("a", a[:, 1]).to_list() == VALUES[:, 1].tolist()
    assert numpy.array_equal(polars.DataFrame({"a": a[:, 0], "b": a[:, 1]}), VALUES[:, :2])
    assert numpy.array_equal(polars.DataFrame(a), VALUES)
    assert polars.Series(dappled.arange(3) > 0).to_list() == [False, True, True]


def test_arrow_without_a_library_for_it(monkeypatch):
    monkeypatch.delitem(sys.modules, "polars", raising=False)
    monkeypatch.delitem(sys.modules, "pyarrow", raising=False)
    with pytest.raises(TypeError, match=r"a\.numpy\(\)"):
        dappled.ones(3).__arrow_c_stream__()


def netcdf(a, folder):
    netCDF4 = pytest.importorskip("netCDF4")
    with netCDF4.Dataset(folder / "a.nc", "w") as file:
        for name, length in zip("xy", a.shape, strict=True):
            file.createDimension(name, length)
        file.createVariable("v", "f8", ("x", "y"))[:] = a
    with netCDF4.Dataset(folder / "a.nc") as file:
        return file["v"][:].data


def fits(a, folder):
    fits = pytest.importorskip("astropy.io.fits")
    fits.writeto(folder / "a.fits", a)
    return fits.getdata(folder / "a.fits")


def blurred(a, folder):
    return pytest.importorskip("cv2").GaussianBlur(a, (3, 3), 1.0)


def jitted(a, folder):
    jax = pytest.importorskip("jax")
    return numpy.asarray(jax.jit(lambda x: x * 2)(a))


def read_direct(a, folder):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "a.h5", "w") as file:
        file["x"] = numpy.ones(a.shape)
        file["x"].read_direct(a)
    return a


REFUSING = {
    "netCDF4": netcdf,
    "astropy": fits,
    "OpenCV": blurred,
    "JAX": jitted,
    "h5py.read_direct": read_direct,
}


@pytest.mark.parametrize("name", REFUSING)
def test_libraries_take_a_numpy(name, tmp_path):
    """As in the table of docs/interop.md: where one of these takes ours, the table is old."""
    use, a = REFUSING[name], dappled.array(VALUES)
    (tmp_path / "theirs").mkdir()
    (tmp_path / "ours").mkdir()
    theirs = use(VALUES.copy(), tmp_path / "theirs")
    assert numpy.array_equal(use(a.numpy(), tmp_path / "ours"), theirs)
    (tmp_path / "refused").mkdir()
    with pytest.raises(Exception, match=r".*"):
        use(dappled.array(VALUES), tmp_path / "refused")
    if name == "h5py.read_direct":
        assert a.sum() == a.size


def xarray_file(a, folder):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    made = xarray.DataArray(a, dims=("x", "y"), name="v")
    made.as_numpy().to_netcdf(folder / "a.nc")
    with xarray.open_dataset(folder / "a.nc") as found:
        return found["v"].values


def tables(a, folder):
    table = pytest.importorskip("astropy.table")
    fits = pytest.importorskip("astropy.io.fits")
    fits.PrimaryHDU(a).writeto(folder / "b.fits")
    return numpy.append(table.Table({"a": a[:, 0]})["a"].data, fits.getdata(folder / "b.fits"))


def hdf5(a, folder):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "a.h5", "w") as file:
        file["x"] = a
        file.create_dataset("y", a.shape, "f8")[...] = a
        file.attrs["a"] = a[0]
        return numpy.append(file["x"][...] + file["y"][...], file.attrs["a"])


def jax_asarray(a, folder):
    jnp = pytest.importorskip("jax.numpy")
    return numpy.asarray(jnp.asarray(a))


def sparse(a, folder):
    return pytest.importorskip("scipy.sparse").csr_matrix(a).toarray()


TAKING = {
    "xarray": xarray_file,
    "astropy": tables,
    "h5py": hdf5,
    "jax": jax_asarray,
    "sparse": sparse,
}


@pytest.mark.parametrize("name", TAKING)
def test_library_accepts_arrays(name, tmp_path):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "ours").mkdir()
    theirs = TAKING[name](VALUES.copy(), tmp_path / "theirs")
    assert numpy.array_equal(TAKING[name](dappled.array(VALUES), tmp_path / "ours"), theirs)
