"""Sample calls with a distributed matrix for every native name.

A name that `dappled coverage` calls native and that has no sample here fails the tests.
"""

import numpy


def _each(names, make):
    return {name: make(name) for name in names.split()}


def _found(np, path):
    for part in path.split("."):
        np = getattr(np, part)
    return np


def _of_one(path):
    return lambda np, a: _found(np, path)(a)


def _of_row(path):
    return lambda np, a: _found(np, path)(a[0])


def _of_two(path):
    return lambda np, a: _found(np, path)(a, a[::-1])


def _of_two_rows(path):
    return lambda np, a: _found(np, path)(a[0], a[1, ::-1])


def _of_list(path):
    return lambda np, a: _found(np, path)([a, a + 1])


def _of_axis(path):
    return lambda np, a: (_found(np, path)(a), _found(np, path)(a, axis=1))


def _nothing(path):
    return lambda np, a: _found(np, path)(50)


def _attribute(name):
    return lambda np, a: getattr(a, name)


def _method(name):
    return lambda np, a: getattr(a, name)()


def _method_of_axis(name):
    return lambda np, a: (getattr(a, name)(), getattr(a, name)(axis=0))


def _positive(np, a):
    return np.abs(a) + 1


def _spread(np, a):
    """The same number of values, each another."""
    return (a + a * a * 0.37).reshape(-1)[:2000]


def _square(np, a):
    return a[:42] + 40 * np.eye(42)


def _tall(np, a):
    """A matrix that has many more rows than columns, none of which are multiples of others."""
    return a.reshape(-1, 6) + np.arange(6)


# Names whose calls are a program of their own.
ELSEWHERE = {
    "tests/io/test_files_ranks.py": """
        fromfile load loadtxt save savetxt savez savez_compressed ndarray.tofile
    """,
    "tests/ndarray/test_nditer_ranks.py": "nditer",
}

SAMPLES = {
    **_each(
        """
        all allclose any array_equal array_equiv copyto cross divmod isclose
        """,
        _of_two,
    ),
    **_each(
        """
        angle argwhere array asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray
        atleast_1d atleast_2d atleast_3d common_type copy corrcoef cov diag diagonal ediff1d
        empty_like fix flatnonzero fliplr flipud i0 imag iscomplex iscomplexobj isneginf isposinf
        isreal isrealobj isscalar iterable matrix_transpose min_scalar_type modf frexp nan_to_num
        ndim nonzero ones_like ravel real real_if_close require result_type shape sinc size
        squeeze trace transpose tril triu zeros_like permute_dims meshgrid gradient trapezoid
        unstack unwrap rot90 unique unique_all unique_counts unique_inverse unique_values
        sort_complex block broadcast_arrays histogram sort argsort lexsort diff flip fft.fftshift
        fft.ifftshift linalg.norm linalg.matrix_norm linalg.vector_norm linalg.diagonal
        linalg.matrix_transpose linalg.trace linalg.svd fft.fft fft.fft2 fft.fftn fft.ifft fft.ifft2
        fft.ifftn fft.rfft fft.rfft2 fft.rfftn fft.irfft fft.irfft2 fft.irfftn fft.hfft fft.ihfft
        lib.scimath.arccos lib.scimath.arcsin lib.scimath.arctanh lib.scimath.log
        lib.scimath.log10 lib.scimath.log2 lib.scimath.sqrt ma.ndim ma.shape ma.size
        tril_indices_from triu_indices_from
        """,
        _of_one,
    ),
    **_each(
        """
        amax amin argmax argmin average count_nonzero cumprod cumsum max mean median min
        nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanprod nanstd
        nansum nanvar prod ptp std sum var
        """,
        _of_axis,
    ),
    **_each("all any", lambda name: lambda np, a: _found(np, name)(a > 0, axis=0)),
    **_each(
        "linalg.cond linalg.matrix_rank linalg.pinv linalg.qr linalg.svdvals",
        lambda name: lambda np, a: _found(np, name)(_tall(np, a)),
    ),
    **_each("trim_zeros vander roots poly polyder polyint", _of_row),
    **_each("outer linalg.outer polyadd polysub polymul polydiv", _of_two_rows),
    **_each("concat concatenate stack hstack vstack dstack column_stack row_stack", _of_list),
    **_each("bartlett blackman hamming hanning fft.fftfreq fft.rfftfreq", _nothing),
    **_each("identity eye tri diag_indices tril_indices triu_indices", _nothing),
    **_each("acosh arccosh", lambda name: lambda np, a: _found(np, name)(_positive(np, a))),
    "append": lambda np, a: np.append(a, a, axis=0),
    "apply_along_axis": lambda np, a: (
        np.apply_along_axis(lambda row: row[::-1] * 2, 1, a),
        np.apply_along_axis(np.sum, 0, a),
        np.apply_along_axis(lambda row, n: row[:n], 1, a.reshape(20, 21, 6), n=2),
        np.apply_along_axis(lambda row: int(row[0]) if row[0] > 3 else row[1] / 2, 0, a),
    ),
    "apply_over_axes": lambda np, a: np.apply_over_axes(np.sum, a, [0]),
    "arange": lambda np, a: (np.arange(1000), np.arange(3.5, -200, -0.3)),
    "argpartition": lambda np, a: np.argpartition(_spread(np, a), 5)[:5].sum() * 0,
    "around": lambda np, a: np.around(a / 3, 1),
    "array_split": lambda np, a: np.array_split(a, 7),
    "astype": lambda np, a: np.astype(a, "f4"),
    "bincount": lambda np, a: np.bincount(_positive(np, a).reshape(-1).astype(int)),
    "bitwise_count": lambda np, a: np.bitwise_count(a.astype(int)),
    "broadcast_to": lambda np, a: np.broadcast_to(a, (2, *a.shape)) + 1,
    "c_": lambda np, a: (np.c_[a, a], np.c_[a[0], a[1]], np.c_[a[:, 0], numpy.arange(60)]),
    "can_cast": lambda np, a: np.can_cast(a.dtype, "f4"),
    "choose": lambda np, a: np.choose(a > 0, [a, -a]),
    "clip": lambda np, a: (np.clip(a, -1, 4), np.clip(a, a - 1, None)),
    "compress": lambda np, a: np.compress(a[:, 0] > 0, a, axis=0),
    "convolve": lambda np, a: [
        np.convolve(a.reshape(-1), [1, 4, 2.5, 0], mode) for mode in ("full", "same", "valid")
    ],
    "correlate": lambda np, a: [
        np.correlate(a.reshape(-1), [1, 4, 2.5], mode) for mode in ("full", "same", "valid")
    ],
    "copyto": lambda np, a: (np.copyto(a, a[::-1].copy()), np.copyto(a, 2, where=a > 3)),
    "count_nonzero": lambda np, a: (np.count_nonzero(a), np.count_nonzero(a, axis=0)),
    "cross": lambda np, a: np.cross(a[:, :3], a[:, 3:6]),
    "cumulative_prod": lambda np, a: np.cumulative_prod(a[:, :6], axis=1),
    "cumulative_sum": lambda np, a: np.cumulative_sum(a, axis=0, include_initial=True),
    "delete": lambda np, a: np.delete(a, 3, axis=0),
    "diag_indices_from": lambda np, a: np.diag_indices_from(a[:42]),
    "diagflat": lambda np, a: np.diagflat(a[0]),
    "digitize": lambda np, a: np.digitize(a, [0, 5, 9]),
    "dot": lambda np, a: np.dot(a, a.T),
    "dsplit": lambda np, a: np.dsplit(a.reshape(60, 6, 7), 7),
    "einsum": lambda np, a: np.einsum("ij,kj->ik", a, a),
    "einsum_path": lambda np, a: np.einsum_path("ij,kj->ik", a, a)[0],
    "empty": lambda np, a: np.empty((40, 30)).shape,
    "empty_like": lambda np, a: np.empty_like(a).shape,
    "expand_dims": lambda np, a: np.expand_dims(a, 1),
    "extract": lambda np, a: np.extract(a > 0, a),
    "fill_diagonal": lambda np, a: np.fill_diagonal(a, 7),
    "fromfunction": lambda np, a: np.fromfunction(lambda i, j: i * 3 + j, (40, 30)),
    "full": lambda np, a: np.full((40, 30), 7),
    "full_like": lambda np, a: np.full_like(a, 3),
    "geomspace": lambda np, a: np.geomspace(1, 512, 500),
    "histogram2d": lambda np, a: np.histogram2d(a[0], a[1]),
    "histogram_bin_edges": lambda np, a: np.histogram_bin_edges(a),
    "histogramdd": lambda np, a: np.histogramdd(a[:, :2])[0],
    "hsplit": lambda np, a: np.hsplit(a, 2),
    "indices": lambda np, a: np.indices((40, 30)),
    "inner": lambda np, a: np.inner(a, a),
    "insert": lambda np, a: np.insert(a, 3, 1, axis=0),
    "interp": lambda np, a: np.interp(a, [-3, 2, 9], [1, 5, 0]),
    "intersect1d": lambda np, a: np.intersect1d(a, a + 3),
    "isin": lambda np, a: np.isin(a, [1, 3]),
    "ix_": lambda np, a: a[np.ix_([3, 1], [2, 5])],
    "kaiser": lambda np, a: np.kaiser(500, 3.0),
    "kron": lambda np, a: np.kron(a, [[1, 2]]),
    "ldexp": lambda np, a: np.ldexp(a, 2),
    "lexsort": lambda np, a: np.lexsort((a[0], a[1])),
    "linspace": lambda np, a: np.linspace(-1, 2, 777),
    "logspace": lambda np, a: np.logspace(0, 3, 500),
    "mask_indices": lambda np, a: np.mask_indices(40, np.triu),
    "matmul": lambda np, a: np.matmul(a, a.T),
    "matvec": lambda np, a: np.matvec(a, a[0]),
    "may_share_memory": lambda np, a: np.may_share_memory(a, a[1:]),
    "meshgrid": lambda np, a: np.meshgrid(a[0], a[:, 0]),
    "mgrid": lambda np, a: (np.mgrid[0:40, 0:30], np.mgrid[0:1:50j, 2:9:0.5], np.mgrid[0:9:40j]),
    "moveaxis": lambda np, a: np.moveaxis(a, 0, -1),
    "nan_to_num": lambda np, a: np.nan_to_num(a / (a != 3)),
    "nanpercentile": lambda np, a: np.nanpercentile(a, 30),
    "nanquantile": lambda np, a: np.nanquantile(a, 0.3, axis=0),
    "ndenumerate": lambda np, a: [(at, float(x)) for at, x in np.ndenumerate(a[:5, :6])],
    "ndarray": lambda np, a: isinstance(a, np.ndarray),
    "ogrid": lambda np, a: (np.ogrid[0:40, 0:30], np.ogrid[0:1:50j, -1:1:500j]),
    "ones": lambda np, a: np.ones((40, 30), "i4"),
    "packbits": lambda np, a: np.packbits(a > 0, axis=1),
    "pad": lambda np, a: (np.pad(a, 2), np.pad(a, 3, mode="edge"), np.pad(a, 3, mode="reflect")),
    "partition": lambda np, a: np.partition(_spread(np, a), 5)[5],
    "percentile": lambda np, a: np.percentile(a, [30, 50]),
    "piecewise": lambda np, a: np.piecewise(a, [a > 1], [lambda x: x * 2, 0]),
    "place": lambda np, a: np.place(a, a > 3, [1, 2]),
    "polyfit": lambda np, a: np.polyfit(numpy.arange(42.0), a[0], 2),
    "polyval": lambda np, a: np.polyval([2, 1, 0], a),
    "put": lambda np, a: np.put(a, [5, 900], [1, 2]),
    "put_along_axis": lambda np, a: np.put_along_axis(a, np.argmax(a, 1, keepdims=True), 9, 1),
    "putmask": lambda np, a: np.putmask(a, a > 3, 1),
    "quantile": lambda np, a: np.quantile(a, 0.3, axis=0),
    "r_": lambda np, a: (np.r_[a[0], 3, 0:500, 1:2:70j], np.r_["1,2,0", a[0], a[1]], np.r_[a, a]),
    "ravel_multi_index": lambda np, a: np.ravel_multi_index(a.astype(int)[:2] % 5, (5, 5)),
    "repeat": lambda np, a: (np.repeat(a, 3, axis=1), np.repeat(a, 2)),
    "reshape": lambda np, a: np.reshape(a, (42, 60)),
    "resize": lambda np, a: np.resize(a, (50, 60)),
    "roll": lambda np, a: (np.roll(a, 5, axis=0), np.roll(a, 100)),
    "rollaxis": lambda np, a: np.rollaxis(a, 1),
    "round": lambda np, a: np.round(a / 3, 2),
    "searchsorted": lambda np, a: np.searchsorted(np.sort(a[0]), a),
    "select": lambda np, a: np.select([a > 3, a < -2], [a, -a], 0),
    "setdiff1d": lambda np, a: np.setdiff1d(a, [3, 4]),
    "setxor1d": lambda np, a: np.setxor1d(a, a + 3),
    "shares_memory": lambda np, a: np.shares_memory(a, a[1:]),
    "split": lambda np, a: np.split(a, 4),
    "swapaxes": lambda np, a: np.swapaxes(a, 0, 1),
    "take": lambda np, a: np.take(a, [3, 59, 3], axis=0),
    "take_along_axis": lambda np, a: np.take_along_axis(a, np.argmin(a, 1, keepdims=True), 1),
    "tensordot": lambda np, a: np.tensordot(a, a, ([1], [1])),
    "tile": lambda np, a: np.tile(a, (2, 3)),
    "trapezoid": lambda np, a: np.trapezoid(a, axis=0),
    "tri": lambda np, a: np.tri(40, 30, 2),
    "ufunc": lambda np, a: isinstance(np.add, np.ufunc),
    "union1d": lambda np, a: np.union1d(a, a + 3),
    "unpackbits": lambda np, a: np.unpackbits(a.astype("u1"), axis=1),
    "unravel_index": lambda np, a: np.unravel_index(_positive(np, a).astype(int), (60, 42)),
    "vdot": lambda np, a: np.vdot(a, a),
    "vecdot": lambda np, a: np.vecdot(a, a[::-1]),
    "vecmat": lambda np, a: np.vecmat(a[:, 0], a),
    "busday_count": lambda np, a: np.busday_count(a.astype("M8[D]"), "1971-03-04"),
    "busday_offset": lambda np, a: np.busday_offset(a.astype("M8[D]"), 2, "forward"),
    "is_busday": lambda np, a: np.is_busday(a.astype("M8[D]")),
    "linalg.tensorinv": lambda np, a: np.linalg.tensorinv(
        (a[:42] + 99 * np.eye(42)).reshape(6, 7, 42)
    ),
    "vectorize": lambda np, a: np.vectorize(lambda x: x + 1)(a),
    "vsplit": lambda np, a: np.vsplit(a, [7, 50]),
    "where": lambda np, a: np.where(a > 3, a, -a),
    "zeros": lambda np, a: np.zeros((40, 30)),
    "linalg.cholesky": lambda np, a: np.linalg.cholesky(_square(np, a) @ _square(np, a).T),
    "linalg.cross": lambda np, a: np.linalg.cross(a[:, :3], a[:, 3:6]),
    "linalg.det": lambda np, a: np.linalg.det(_square(np, a) / 40),
    "linalg.eigh": lambda np, a: np.linalg.eigh(_square(np, a) + _square(np, a).T)[0],
    "linalg.eigvalsh": lambda np, a: np.linalg.eigvalsh(_square(np, a) + _square(np, a).T),
    "linalg.inv": lambda np, a: np.linalg.inv(_square(np, a)),
    "linalg.lstsq": lambda np, a: np.linalg.lstsq(_tall(np, a), _tall(np, a)[:, 0])[0],
    "linalg.matmul": lambda np, a: np.linalg.matmul(a, a.T),
    "linalg.matrix_power": lambda np, a: np.linalg.matrix_power(_square(np, a) / 40, 3),
    "linalg.multi_dot": lambda np, a: np.linalg.multi_dot([a, a.T, a]),
    "linalg.slogdet": lambda np, a: np.linalg.slogdet(_square(np, a)),
    "linalg.solve": lambda np, a: np.linalg.solve(_square(np, a), a[42]),
    "linalg.tensordot": lambda np, a: np.linalg.tensordot(a, a, axes=([1], [1])),
    "linalg.vecdot": lambda np, a: (
        np.linalg.vecdot(a, a[::-1]),
        np.linalg.vecdot(a, a[::-1], axis=0),
    ),
    "lib.scimath.logn": lambda np, a: np.lib.scimath.logn(2, a - 20),
    "lib.scimath.power": lambda np, a: np.lib.scimath.power(a, 2),
    "lib.stride_tricks.as_strided": lambda np, a: np.lib.stride_tricks.as_strided(
        a, (58, 3, 42), (336, 336, 8)
    ),
    "lib.stride_tricks.sliding_window_view": lambda np, a: np.lib.stride_tricks.sliding_window_view(
        a, 3, 0
    ),
}

_VALUES = {
    "polynomial": "poly",
    "chebyshev": "cheb",
    "hermite": "herm",
    "hermite_e": "herme",
    "laguerre": "lag",
    "legendre": "leg",
}
for _module, _start in _VALUES.items():
    _path = f"polynomial.{_module}.{_start}val"
    SAMPLES[_path] = lambda np, a, path=_path: _found(np, path)(a / 9, [1, 2.5, 3])
    SAMPLES[f"{_path}2d"] = lambda np, a, path=f"{_path}2d": _found(np, path)(
        a / 9, a[::-1] / 9, [[1, 2], [3, 4.5]]
    )
    SAMPLES[f"{_path}3d"] = lambda np, a, path=f"{_path}3d": _found(np, path)(
        a / 9, a[::-1] / 9, a / 5, [[[1, 2], [3, 4.5]]]
    )
SAMPLES["polynomial.polynomial.polyvalfromroots"] = lambda np, a: (
    np.polynomial.polynomial.polyvalfromroots(a / 9, [1, 2.5])
)
SAMPLES |= {
    "testing.assert_allclose": lambda np, a: np.testing.assert_allclose(a, a * (1 + 1e-12)),
    "testing.assert_array_almost_equal": lambda np, a: np.testing.assert_array_almost_equal(
        a, a + 0.001, 2
    ),
    "testing.assert_array_equal": lambda np, a: np.testing.assert_array_equal(a, a.copy()),
    "testing.assert_array_less": lambda np, a: np.testing.assert_array_less(a, 99),
}
SAMPLES["polynomial.Polynomial"] = lambda np, a: (
    np.polynomial.Polynomial([1, 2, 3], [0, 9])(a),
    np.poly1d([1, 2, 3])(a),
    np.polynomial.Chebyshev([1, 2, 3], [0, 9])(a),
)

METHODS = {
    **_each("T device dtype imag itemsize mT nbytes ndim real shape size strides", _attribute),
    **_each("argsort copy diagonal flatten nonzero ravel squeeze trace transpose", _method),
    **_each("conj conjugate", _method),
    **_each("all any argmax argmin cumprod cumsum max mean min prod std sum var", _method_of_axis),
    "argpartition": lambda np, a: _spread(np, a).argpartition(5)[:5].sum() * 0,
    "astype": lambda np, a: (a.astype("i4"), a.astype("c16", order="F")),
    "base": lambda np, a: a[1:].base is a,
    "byteswap": lambda np, a: a.byteswap(),
    "choose": lambda np, a: (a > 0).choose([a, -a]),
    "clip": lambda np, a: a.clip(-1, 4),
    "compress": lambda np, a: a.compress(a[:, 0] > 0, axis=0),
    "dot": lambda np, a: a.dot(a.T),
    "fill": lambda np, a: a.fill(3),
    "flags": lambda np, a: (a.flags.c_contiguous, a.flags.writeable),
    "flat": lambda np, a: len(a.flat),
    "getfield": lambda np, a: a.getfield("f4", 4),
    "item": lambda np, a: (a.item(3), a.item(5, 7)),
    "partition": lambda np, a: _spread(np, a).partition(5),
    "put": lambda np, a: a.put([5, 900], [1, 2]),
    "repeat": lambda np, a: a.repeat(3, axis=1),
    "reshape": lambda np, a: (a.reshape(42, 60), a.reshape(30, -1, order="F")),
    "resize": lambda np, a: a.resize((42, 60)),
    "round": lambda np, a: (a / 3).round(2),
    "searchsorted": lambda np, a: np.sort(a[0]).searchsorted(a),
    "setfield": lambda np, a: a.setfield(np.abs(a[::-1]).astype("i4"), "i4", 4),
    "setflags": lambda np, a: a.setflags(write=False),
    "sort": lambda np, a: a.sort(axis=1),
    "swapaxes": lambda np, a: a.swapaxes(0, 1),
    "take": lambda np, a: a.take([3, 59, 3], axis=0),
    "to_device": lambda np, a: a.to_device("cpu"),
    "view": lambda np, a: a.view("i4"),
}
SAMPLES |= {f"ndarray.{name}": program for name, program in METHODS.items()}

UFUNC_METHODS = {
    "accumulate": lambda np, a: (np.add.accumulate(a), np.maximum.accumulate(a, axis=1)),
    "at": lambda np, a: np.add.at(a, [3, 3, 59], 2),
    "outer": lambda np, a: np.multiply.outer(a[0], a[:, 1]),
    "reduce": lambda np, a: (np.add.reduce(a), np.maximum.reduce(a, axis=None)),
    "reduceat": lambda np, a: np.add.reduceat(a, [0, 7, 20], axis=0),
}
SAMPLES |= {f"ufunc.{name}": program for name, program in UFUNC_METHODS.items()}
SAMPLES |= {
    "flatiter.base": lambda np, a: a.flat.base is a,
    "flatiter.copy": lambda np, a: a.flat.copy(),
    "flatiter.coords": lambda np, a: a.flat.coords,
    "flatiter.index": lambda np, a: a.flat.index,
}


def samples(name):
    """Programs that call what has this name: a ufunc's follow from what it takes."""
    theirs = getattr(numpy, name, None)
    if name in SAMPLES:
        return [SAMPLES[name]]
    if not isinstance(theirs, numpy.ufunc):
        return []
    kinds = [kind for kind in ("d", "l", "?") if _takes(theirs, kind)]
    return [_of_ufunc(name, theirs.nin, kind) for kind in kinds[:2]]


def _takes(ufunc, kind):
    return any(types.startswith(kind * ufunc.nin) for types in ufunc.types)


def _of_ufunc(name, arguments, kind):
    def program(np, a):
        # Numbers at which no function signals, and all are defined.
        values = np.abs(a) % 5 / 8 + 0.1 if kind == "d" else a % 5 + 1
        return getattr(np, name)(*[values.astype(kind)] * arguments)

    return program
