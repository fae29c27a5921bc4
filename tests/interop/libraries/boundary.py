"""Calls functions of other libraries with our arrays, and compares with NumPy's arrays.

A table has rows `name: (call, *arguments)`. The arguments are NumPy arrays, or containers of them.
A row is called once with copies of them and once with arrays of ours that have the same values.
Results must be the same, and so must the arguments be afterwards, bit for bit; only an argument in
`Written` may change at all.
"""

import copy
import warnings

import dappled as np
import numpy
import pytest

LAYOUTS = ["distributed", "replicated"]


class Written:
    """An argument that the library documents as an output."""

    def __init__(self, values):
        self.values = values


def table_tests(rows, known=None, remedy_copies=False):
    """Two tests: of every row for every layout on one rank and on three, and of the remedy.

    `known` has, for each row that can't work, where it does not and the reason. Such a row must
    fail there, and work with `a.numpy()` in place of each array, or with a copy of that if the
    library refuses read-only arrays (`remedy_copies`).
    """
    known = known or {}
    unknown = known.keys() - rows.keys()
    assert not unknown, f"no such row: {unknown}"
    remedied = [name for name in known if not any(isinstance(one, Written) for one in rows[name])]

    @pytest.mark.ranks(1, 3)
    @pytest.mark.parametrize("layout", LAYOUTS)
    @pytest.mark.parametrize("name", rows)
    def test(name, layout, ranks, request):
        where, reason = known.get(name, (lambda layout, ranks: False, ""))
        if where(layout, ranks):
            request.applymarker(pytest.mark.xfail(reason=reason, strict=True))
        check(rows[name], layout)

    @pytest.mark.ranks(1, 3)
    @pytest.mark.parametrize("layout", LAYOUTS)
    @pytest.mark.parametrize("name", remedied)
    def remedy(name, layout, ranks):
        check(rows[name], layout, _as_copy if remedy_copies else _as_numpy)

    return test, remedy


# Where a known row fails.


def always(layout, ranks):
    return True


def on_ranks(layout, ranks):
    return ranks > 1


def where_distributed(layout, ranks):
    return ranks > 1 and layout == "distributed"


def check(row, layout, convert=lambda value: value):
    """Compares one row's results and arguments with NumPy's; `convert` is applied to ours."""
    call, *arguments = row
    theirs = [_copied(argument) for argument in arguments]
    given = [_unwrapped(argument) for argument in copy.deepcopy(theirs)]
    ours = [_ours(argument, layout) for argument in theirs]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = call(*map(_unwrapped, theirs))
        result = call(*(convert(_unwrapped(argument)) for argument in ours))
    for number, (argument, one) in enumerate(zip(arguments, theirs, strict=True)):
        where = f"argument {number}"
        if not isinstance(argument, Written):
            _check_bits(_unwrapped(one), given[number], f"NumPy's {where}")
        _check_bits(_unwrapped(ours[number]), _unwrapped(one), where)
    same(result, expected, "result")


def _copied(value):
    if isinstance(value, Written):
        return Written(_copied(value.values))
    if type(value) in (list, tuple):
        return type(value)(map(_copied, value))
    if type(value) is dict:
        return {key: _copied(item) for key, item in value.items()}
    return value.copy(order="K") if isinstance(value, numpy.ndarray) else value


def _unwrapped(value):
    return value.values if isinstance(value, Written) else value


def _ours(value, layout):
    """Arrays of ours with the values of NumPy's."""
    if isinstance(value, Written):
        return Written(_ours(value.values, layout))
    if type(value) in (list, tuple):
        return type(value)(_ours(item, layout) for item in value)
    if type(value) is dict:
        return {key: _ours(item, layout) for key, item in value.items()}
    if type(value) is not numpy.ndarray:
        return value
    if value.ndim == 0 or value.dtype.hasobject:
        return np.array(value)
    first = "b" if layout == "distributed" else "n"
    made = np.array(value, dist=first + "n" * (value.ndim - 1))
    if np.comm.size > 1:
        assert made._whole == (layout == "replicated")
    return made


def _as_copy(value):
    found = _as_numpy(value)
    return found.copy() if isinstance(found, numpy.ndarray) else found


def _as_numpy(value):
    if type(value) in (list, tuple):
        return type(value)(map(_as_numpy, value))
    if type(value) is dict:
        return {key: _as_numpy(item) for key, item in value.items()}
    return value.numpy() if isinstance(value, np.ndarray) else value


def _check_bits(got, want, where):
    if type(want) in (list, tuple):
        for number, (one, other) in enumerate(zip(got, want, strict=True)):
            _check_bits(one, other, f"{where}[{number}]")
    elif type(want) is dict:
        for key in want:
            _check_bits(got[key], want[key], f"{where}[{key!r}]")
    elif isinstance(want, numpy.ndarray):
        got = numpy.asarray(got)
        assert (got.shape, got.dtype) == (want.shape, want.dtype), where
        if want.dtype.hasobject:
            assert got.tolist() == want.tolist(), f"{where} has changed"
        elif got.tobytes() != want.tobytes():
            raise AssertionError(f"{where} has changed: {got.ravel()[:5]}, not {want.ravel()[:5]}")


def same(got, want, where):
    """Compares a library's results for Dappled arrays with those for NumPy's."""
    for kind, compare in _COMPARED.items():
        if kind(want):
            compare(got, want, where)
            return
    raise TypeError(f"{where}: no comparison for {type(want)}")


def _same_arrays(got, want, where):
    assert isinstance(got, numpy.ndarray | np.ndarray), f"{where} is {type(got)}"
    got = numpy.asarray(got)
    assert (got.shape, got.dtype) == (want.shape, want.dtype), where
    if want.dtype.names:
        for name in want.dtype.names:
            _same_arrays(got[name], want[name], f"{where}[{name!r}]")
    elif want.dtype.hasobject:
        same(got.tolist(), want.tolist(), where)
    else:
        _same_values(got, want, where)


def _same_masked(got, want, where):
    mask = numpy.ma.getmaskarray
    _same_values(mask(got), mask(want), f"{where}.mask")
    _same_values(got.filled(0), want.filled(0), where)


def _same_values(got, want, where):
    """Equal, to rounding: a library may choose loops by how memory is aligned."""
    if numpy.asarray(want).dtype.kind in "fc":
        finite = numpy.abs(numpy.asarray(want)[numpy.isfinite(want)])
        smallest = 1e-13 * finite.max() if finite.size else 0
        numpy.testing.assert_allclose(got, want, 1e-11, smallest, err_msg=where, strict=True)
    else:
        numpy.testing.assert_array_equal(got, want, err_msg=where, strict=True)


def _same_scalars(got, want, where):
    assert numpy.ndim(got) == 0, where
    _same_values(numpy.asarray(got), numpy.asarray(want), where)


def _same_plain(got, want, where):
    assert (type(got), got) == (type(want), want), where


def _same_sequences(got, want, where):
    assert (type(got), len(got)) == (type(want), len(want)), where
    for number, (one, other) in enumerate(zip(got, want, strict=True)):
        same(one, other, f"{where}[{number}]")


def _same_dicts(got, want, where):
    assert got.keys() == want.keys(), where
    for key in want:
        same(got[key], want[key], f"{where}[{key!r}]")


def _same_sparse(got, want, where):
    assert (type(got), got.dtype) == (type(want), want.dtype), where
    _same_values(got.toarray(), want.toarray(), where)


def _same_pandas(got, want, where):
    from pandas import testing

    assert type(got) is type(want), where
    compare = {"DataFrame": testing.assert_frame_equal, "Series": testing.assert_series_equal}
    compare = compare.get(type(want).__name__, testing.assert_index_equal)
    compare(got, want, rtol=1e-11, obj=where)


def _same_xarray(got, want, where):
    from xarray import testing

    assert type(got) is type(want), where
    if hasattr(want, "dtype"):
        assert got.dtype == want.dtype, where
    testing.assert_allclose(got, want, rtol=1e-11)


def _same_figures(got, want, where):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    pictures = []
    for figure in (got, want):
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        pictures.append(numpy.asarray(canvas.buffer_rgba()))
    numpy.testing.assert_array_equal(*pictures, err_msg=where, strict=True)


def _same_estimators(got, want, where):
    assert type(got) is type(want), where

    def learned(estimator):
        return {
            name: value
            for name, value in vars(estimator).items()
            if name.endswith("_") and not name.startswith("_") and _is_compared(value)
        }

    _same_dicts(learned(got), learned(want), where)


def _is_compared(value):
    if type(value) in (list, tuple):
        return all(map(_is_compared, value))
    return any(kind(value) for kind in _COMPARED)


def _is_of(module, *names):
    def check(value):
        kinds = type(value).__mro__
        return any(
            kind.__module__.partition(".")[0] == module and (not names or kind.__name__ in names)
            for kind in kinds
        )

    return check


_COMPARED = {
    _is_of("pandas", "DataFrame", "Series", "Index"): _same_pandas,
    _is_of("xarray", "DataArray", "Dataset", "Variable"): _same_xarray,
    _is_of("matplotlib", "Figure"): _same_figures,
    _is_of("sklearn", "BaseEstimator"): _same_estimators,
    lambda value: hasattr(value, "toarray") and hasattr(value, "nnz"): _same_sparse,
    lambda value: isinstance(value, numpy.ma.MaskedArray): _same_masked,
    lambda value: isinstance(value, numpy.ndarray | np.ndarray): _same_arrays,
    lambda value: isinstance(value, dict): _same_dicts,
    lambda value: isinstance(value, list | tuple): _same_sequences,
    lambda value: isinstance(value, (int, float, complex, numpy.generic)): _same_scalars,
    lambda value: value is None or isinstance(value, str | bytes): _same_plain,
}
