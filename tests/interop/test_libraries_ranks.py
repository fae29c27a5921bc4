"""Other libraries with distributed arrays: arguments are unchanged, outputs are written."""

import functools
import itertools
import operator
import random
import sys
import warnings

import dappled
import numpy
import pytest

ALL = pytest.mark.ranks(1, 2, 3)
QUIET = pytest.mark.filterwarnings("ignore::dappled.FallbackWarning")
VALUES = numpy.random.default_rng(0).random((40, 4)) + 1
LABELS = (VALUES[:, 0] > 1.5).astype(int)


# What a library may do to its arguments.


def _estimators():
    """Functions of scikit-learn that work in place on what they believe to be a copy."""
    from sklearn import cluster, decomposition, linear_model, pipeline, preprocessing

    scaled = pipeline.make_pipeline(
        preprocessing.StandardScaler(), linear_model.LogisticRegression()
    )
    return {
        "StandardScaler": preprocessing.StandardScaler().fit_transform,
        "MinMaxScaler": preprocessing.MinMaxScaler().fit_transform,
        "MaxAbsScaler": preprocessing.MaxAbsScaler().fit_transform,
        "RobustScaler": preprocessing.RobustScaler().fit_transform,
        "Normalizer": preprocessing.Normalizer().fit_transform,
        "QuantileTransformer": preprocessing.QuantileTransformer(n_quantiles=9).fit_transform,
        "normalize": preprocessing.normalize,
        "scale": preprocessing.scale,
        "minmax_scale": preprocessing.minmax_scale,
        "binarize": lambda X: preprocessing.binarize(X, threshold=1.5),
        "PCA": decomposition.PCA(2).fit_transform,
        "LinearRegression": lambda X: linear_model.LinearRegression().fit(X, LABELS).coef_,
        "KMeans": lambda X: cluster.KMeans(2, random_state=0, n_init=1).fit(X).cluster_centers_,
        "pipeline": lambda X: scaled.fit(X, LABELS).score(X, LABELS),
    }


IN_PLACE = {
    "normalize": lambda pre, X: pre.normalize(X, copy=False),
    "scale": lambda pre, X: pre.scale(X, copy=False),
    "StandardScaler": lambda pre, X: pre.StandardScaler(copy=False).fit_transform(X),
}


@ALL
@QUIET
def test_scikit_learn_leaves_its_arguments_as_they_are():
    pytest.importorskip("sklearn")
    for name, function in _estimators().items():
        X = dappled.array(VALUES)
        found = numpy.asarray(function(X))
        numpy.testing.assert_allclose(found, function(VALUES.copy()), err_msg=name)
        numpy.testing.assert_array_equal(numpy.asarray(X), VALUES, err_msg=name)


@ALL
@QUIET
@pytest.mark.parametrize("name", IN_PLACE)
def test_scikit_learn_works_in_place_where_it_is_told_to(name):
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    X, expected = dappled.array(VALUES), VALUES.copy()
    IN_PLACE[name](preprocessing, X)
    IN_PLACE[name](preprocessing, expected)
    numpy.testing.assert_allclose(numpy.asarray(X), expected)


# Functions of SciPy that write a documented output: what is passed, and what is written.
SQUARE = numpy.arange(64.0).reshape(8, 8) % 7


def _writers():
    from scipy import ndimage, special

    return {
        "output=": lambda a, out: ndimage.gaussian_filter(a, 1.5, output=out),
        "output by place": lambda a, out: ndimage.sobel(a, 0, out),
        "ufunc": lambda a, out: special.expit(a, out=out),
        "morphology": lambda a, out: ndimage.grey_erosion(a, 3, output=out),
        "over itself": lambda a, out: ndimage.uniform_filter(out, 3, output=out),
    }


@ALL
@QUIET
def test_documented_outputs_are_written():
    for name, function in _writers().items():
        a, out = dappled.array(SQUARE), dappled.ones((8, 8))
        theirs, expected = SQUARE.copy(), numpy.ones((8, 8))
        function(a, out)
        function(theirs, expected)
        numpy.testing.assert_array_equal(numpy.asarray(out), expected, err_msg=name)
        numpy.testing.assert_array_equal(numpy.asarray(a), theirs, err_msg=name)


def _as_library(source, **names):
    """Runs a function that belongs to a library which goes on in compiled code."""
    scope = {"__name__": "scipy.pretended", "numpy": numpy, **names}
    exec(source, scope)
    return scope["function"]


@ALL
@QUIET
def test_a_private_copy_does_not_share_memory_and_an_output_does():
    source = """
def function(a, out):
    return [numpy.may_share_memory(numpy.asarray(one), one) for one in (a, out)]
"""
    a, out = dappled.array(SQUARE), dappled.array(SQUARE)
    private, written = _as_library(source)(a, out)
    assert written
    assert private == a._whole


@ALL
@QUIET
def test_a_private_copy_is_used_up():
    source = """
def function(a, items):
    numpy.asarray(a)[:] = -1
    numpy.asarray(items[0])[:] = -1
    numpy.ravel(a)[:] = -2
"""
    a, b = dappled.array(SQUARE), dappled.array(SQUARE)
    distributed = not a._whole
    _as_library(source)(a, [b])
    if distributed:  # a replicated array is memory that the library sees
        numpy.testing.assert_array_equal(numpy.asarray(a), SQUARE)
        numpy.testing.assert_array_equal(numpy.asarray(b), SQUARE)


@ALL
@QUIET
def test_outputs_in_a_sequence_and_through_decorators():
    source = """
def wrapper(*args, **kwargs):
    return inner(*args, **kwargs)
def inner(a, out=None):
    for one in out if isinstance(out, tuple) else (out,):
        numpy.asarray(one)[...] = numpy.asarray(a) + 1
function = wrapper
"""
    function = _as_library(source)
    a, b, c = dappled.array(SQUARE), dappled.zeros((8, 8)), dappled.zeros((8, 8))
    function(a, out=(b, c))
    function(b, c)
    numpy.testing.assert_array_equal(numpy.asarray(b), SQUARE + 1)
    numpy.testing.assert_array_equal(numpy.asarray(c), SQUARE + 2)


@pytest.mark.ranks(2, 3)
@QUIET
def test_the_program_gets_a_copy_that_is_read_only():
    theirs = numpy.asarray(dappled.array(SQUARE))
    with pytest.raises(ValueError, match="read-only"):
        theirs[0] = 1


# Outputs that are NumPy's stay NumPy's.

IN_PLACE_OPERATORS = "iadd isub imul itruediv ifloordiv imod ipow iand ior ixor ilshift irshift"
INTO_NUMPY = {
    "ufunc": lambda np, a, b, out: np.add(a, b, out=out),
    "ufunc by place": lambda np, a, b, out: np.add(a, b, out),
    "numpy's ufunc": lambda np, a, b, out: numpy.add(a, b, out=out),
    "where": lambda np, a, b, out: np.add(a, b, out=out, where=a > 3),
    "matmul": lambda np, a, b, out: np.matmul(a, b, out=out),
    "dot": lambda np, a, b, out: np.dot(a, b, out=out),
    "cumsum": lambda np, a, b, out: np.cumsum(a, axis=0, out=out),
    "accumulate": lambda np, a, b, out: np.add.accumulate(a, out=out),
    "clip": lambda np, a, b, out: np.clip(a, 1, 3, out=out),
    "round": lambda np, a, b, out: np.round(a, out=out),
    "method": lambda np, a, b, out: a.clip(1, 3, out=out),
    "take": lambda np, a, b, out: np.take(a, np.arange(8), axis=0, out=out),
    "concatenate": lambda np, a, b, out: np.concatenate([a[:4], b[:4]], out=out),
    "reduction": lambda np, a, b, out: np.sum(a[None] + b, axis=0, out=out),
    "mean": lambda np, a, b, out: (a[None] + b).mean(axis=0, out=out),
    "nanmedian": lambda np, a, b, out: np.nanmedian(a[None] + b, axis=0, out=out),
    "nansum": lambda np, a, b, out: np.nansum(a[None] + b, axis=0, out=out),
    "var": lambda np, a, b, out: np.var(a[None] + b[:, None], axis=0, out=out),
    "percentile": lambda np, a, b, out: np.percentile(a[None] + b, 30, axis=0, out=out),
    "tuple": lambda np, a, b, out: np.modf(a, out=(out, None))[0],
}


@ALL
@QUIET
@pytest.mark.parametrize("name", IN_PLACE_OPERATORS.split())
def test_numpy_array_stays_itself_in_place(name):
    kind = float if name == "itruediv" else int
    values = numpy.arange(1, 65).reshape(8, 8).astype(kind)
    theirs, expected = values.copy(), values.copy()
    other = values % 3 + 1
    for _ in range(3):
        ours = dappled.array(other)
        found = getattr(operator, name)(theirs, ours)
        getattr(operator, name)(expected, other)
        assert found is theirs
        numpy.testing.assert_array_equal(theirs, expected)


@ALL
@QUIET
@pytest.mark.parametrize("name", INTO_NUMPY)
def test_numpy_output_is_returned(name):
    theirs, expected = numpy.zeros((8, 8)), numpy.zeros((8, 8))
    INTO_NUMPY[name](numpy, SQUARE, SQUARE + 1, expected)
    found = INTO_NUMPY[name](dappled, dappled.array(SQUARE), dappled.array(SQUARE + 1), theirs)
    assert found is theirs
    numpy.testing.assert_allclose(theirs, expected)


@ALL
@QUIET
def test_a_function_changes_its_callers_numpy_array_each_time():
    from scipy import ndimage

    t = dappled.ones((8, 8))
    made = ndimage.gaussian_filter(SQUARE, 1.0)
    expected = made + 5

    def add(out):
        for _ in range(5):
            out += t

    add(made)
    numpy.testing.assert_allclose(made, expected)


# Arrays over NumPy's memory share it.

SHARING = {
    "asarray": lambda np, v: np.asarray(v),
    "asarray, dtype": lambda np, v: np.asarray(v, v.dtype),
    "asarray, order": lambda np, v: np.asarray(v, order="K"),
    "asarray, copy": lambda np, v: np.asarray(v, copy=False),
    "asanyarray": lambda np, v: np.asanyarray(v),
    "array, None": lambda np, v: np.array(v, copy=None),
    "array, False": lambda np, v: np.array(v, copy=False),
    "frombuffer": lambda np, v: np.frombuffer(v, v.dtype),
    "ndarray": lambda np, v: np.ndarray(v.shape, v.dtype, buffer=v),
    "ndarray, strides": lambda np, v: np.ndarray((3, 4), v.dtype, v, 0, (8, 24)),
    "from_dlpack": lambda np, v: np.from_dlpack(v),
    "reshape": lambda np, v: np.reshape(v, (-1, 4)),
    "ravel": lambda np, v: np.ravel(v),
    "transpose": lambda np, v: np.transpose(v),
    "expand_dims": lambda np, v: np.expand_dims(v, 0),
    "atleast_2d": lambda np, v: np.atleast_2d(v),
    "split": lambda np, v: np.split(v, 2)[1],
    "flip": lambda np, v: np.flip(v),
    "part": lambda np, v: np.asarray(v)[None, 1:],
    "view": lambda np, v: np.asarray(v).view(v.dtype),
    "of a part": lambda np, v: np.asarray(v[::-2]),
}
KINDS = ["f8", "i4", "D", "?", "M8[D]", "U3", ">i4", "g"]


def _shared(np, make, source):
    """Writes through both sides, with what each sees then."""
    made = make(np, source)
    made[..., 0] = made[..., 1]
    seen = [numpy.asarray(source).tolist()]
    source[...] = numpy.roll(source, 1)
    seen += [numpy.array(made).tolist(), made.flags.writeable]
    made[...] = made[::-1]
    return [*seen, numpy.asarray(source).tolist(), made.shape, str(made.dtype)]


@ALL
@QUIET
@pytest.mark.parametrize("name", SHARING)
def test_an_array_of_numpys_memory_shares_it(name):
    values = numpy.arange(12.0) % 7
    assert _shared(dappled, SHARING[name], values.copy()) == _shared(
        numpy, SHARING[name], values.copy()
    )


@ALL
@QUIET
@pytest.mark.parametrize("kind", KINDS)
def test_memory_of_every_dtype_is_shared(kind):
    values = numpy.arange(12).astype("M8[D]" if kind == "M8[D]" else kind)
    found = _shared(dappled, lambda np, v: np.asarray(v), values.copy())
    assert found == _shared(numpy, lambda np, v: np.asarray(v), values.copy())


@ALL
@QUIET
def test_updates_of_shared_memory_are_seen_by_numpy():
    v = numpy.arange(600_000.0)
    expected = v - v.mean()
    x = dappled.asarray(v)
    x -= x.mean()
    numpy.testing.assert_array_equal(v, expected)
    distributed = dappled.array(expected)
    y = x * 2 + distributed  # read before the next write
    assert not (y._whole and dappled.comm.size > 1)
    v[:] = 0
    x += distributed
    numpy.testing.assert_array_equal(v, expected)
    numpy.testing.assert_array_equal(numpy.asarray(y), expected * 3)
    assert numpy.shares_memory(numpy.asarray(x), v)
    numpy.asarray(x)[3] = 5
    assert v[3] == x[3] == 5


@ALL
@QUIET
def test_read_only_memory_stays_read_only():
    v = numpy.arange(12.0)
    v.flags.writeable = False
    for made in (dappled.asarray(v), dappled.frombuffer(bytes(96)), dappled.asarray(v)[::2]):
        assert not made.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            made[0] = 1
        with pytest.raises(ValueError, match="read-only"):
            made += 1


@ALL
@QUIET
def test_a_copy_of_shared_memory_is_distributed():
    v = numpy.arange(60.0)
    for made in (dappled.array(v), dappled.asarray(v).copy(), dappled.array(dappled.asarray(v))):
        assert made._whole == (dappled.comm.size == 1)
        made[0] = -1
        assert v[0] == 0
    assert dappled.asarray(v).local.shape == (60,)
    assert dappled.asarray(v).sum() == v.sum()


# Strides describe the memory that NumPy is given.

PARTS = {
    "steps": lambda a: a[::2, ::2],
    "back": lambda a: a[::-1, 1:],
    "column": lambda a: a[:, 3],
    "transposed": lambda a: a.T[::3],
    "repeated": lambda a: dappled.broadcast_to(a[0], (5, 8)),
    "new axis": lambda a: a[::2, None, ::3],
    "swapped": lambda a: a.reshape(2, 4, 8).swapaxes(0, 2)[::2],
    "items": lambda a: a.astype("M8[s]")[::2, ::-1],
    "whole": lambda a: a,
}


@ALL
@QUIET
@pytest.mark.parametrize("name", PARTS)
def test_strides_describe_what_numpy_is_given(name):
    part = PARTS[name](dappled.array(SQUARE))
    theirs = numpy.asarray(part)
    strided = numpy.lib.stride_tricks.as_strided
    numpy.testing.assert_array_equal(strided(part, part.shape, part.strides), theirs)
    ours = dappled.lib.stride_tricks.as_strided(part, part.shape, part.strides)
    numpy.testing.assert_array_equal(numpy.asarray(ours), theirs)
    same = [one for one, length in zip(part.strides, part.shape, strict=True) if length > 1]
    assert same == [one for one, n in zip(theirs.strides, theirs.shape, strict=True) if n > 1]
    for flag in ("c_contiguous", "f_contiguous"):
        assert getattr(part.flags, flag) == getattr(theirs.flags, flag)
    if part.dtype.kind == "f":
        assert part.__array_interface__["strides"] in (None, theirs.strides)
        numpy.testing.assert_array_equal(numpy.asarray(_Interface(part)), theirs)


class _Interface:
    def __init__(self, array):
        self.__array_interface__ = array.__array_interface__


@ALL
@QUIET
def test_parts_stay_parts():
    """What is contiguous in a copy is not contiguous in the array: NumPy copies it all the same."""
    a, expected = dappled.array(SQUARE), SQUARE.copy()
    for np, one in ((dappled, a), (numpy, expected)):
        np.ascontiguousarray(one[::2])[...] = 9
        one[::2, ::2].ravel()[...] = 9
        np.asfortranarray(one[:, ::2])[...] = 9
        one[1::2].reshape(4, 2, 4)[0] = 7
    numpy.testing.assert_array_equal(numpy.asarray(a), expected)


@pytest.mark.ranks(1, 2)
@QUIET
def test_matplotlib_draws_a_surface():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    def drawn(np):
        x, y = np.meshgrid(np.arange(40.0), np.arange(40.0))
        axes = pyplot.figure().add_subplot(projection="3d")
        step = slice(None, None, 10)
        found = axes.plot_surface(x[step, step], y[step, step], (x * y)[step, step])
        return numpy.asarray(found._faces)

    numpy.testing.assert_allclose(drawn(dappled), drawn(numpy))


# Warnings name the program's line.


@pytest.mark.ranks(2, 3)
def test_a_warning_names_the_programs_line_once():
    from scipy import ndimage

    a, b = dappled.array(SQUARE), dappled.array(SQUARE[:4])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for one in (a, b, a):
            ndimage.gaussian_filter(one, 1.0)
            here = sys._getframe().f_lineno - 1
        ndimage.gaussian_filter(a, 1.0)
    if dappled.comm.rank:
        assert not caught
        return
    assert [(one.filename, one.lineno) for one in caught] == [
        (__file__, here),
        (__file__, here + 2),
    ]
    assert caught[0].category is dappled.FallbackWarning
    text = f"gathering (8, 8) float64, 512 bytes, on each of {dappled.comm.size} ranks"
    assert text in str(caught[0].message)


@pytest.mark.ranks(2)
def test_a_warning_that_is_an_error_is_raised_on_every_rank():
    with warnings.catch_warnings():
        warnings.simplefilter("error", dappled.FallbackWarning)
        with pytest.raises(dappled.FallbackWarning, match="512 bytes, on each of 2 ranks"):
            numpy.asarray(dappled.array(SQUARE))


# A function of the program that remembers something between calls.

SEEN = []
TOTAL = 0


class Counting:
    """Counts its calls, in the object or in the class."""

    calls = 0

    def __init__(self):
        self.number = 0

    def method(self, row):
        self.number += 1
        return row.sum() + self.number

    __call__ = method

    @staticmethod
    def of_class(row):
        Counting.calls += 1
        return row.sum() + Counting.calls


def _appending(row):
    SEEN.append(1)
    return row.sum() + len(SEEN)


def _global(row):
    global TOTAL
    TOTAL += 1
    return row.sum() + TOTAL


def _closure():
    count = 0

    def function(row):
        nonlocal count
        count += 1
        return row.sum() + count

    return function


def _default(row, seen=[]):  # noqa: B006  that is the point
    seen.append(1)
    return row.sum() + len(seen)


def _default_of(seen, row):
    return _default(row, seen)


def _attribute(row):
    _attribute.count += 1
    return row.sum() + _attribute.count


_attribute.count = 0


def _over(draw):
    return lambda row: row.sum() + draw()


def _nested():
    inner = _closure()
    return lambda row: inner(row)


def _numbers():
    yield from range(1000)


def _remembering():
    numbers, walk = itertools.count(), iter(range(1000))
    generated, seeded = _numbers(), random.Random(3)
    return {
        "list": _appending,
        "global": _global,
        "closure": _closure(),
        "default": _default,
        "attribute": _attribute,
        "method": Counting().method,
        "object": Counting(),
        "class": Counting.of_class,
        "partial": functools.partial(_default_of, []),
        "nested": _nested(),
        "itertools": _over(lambda: next(numbers)),
        "iterator": _over(lambda: next(walk)),
        "generator": _over(lambda: next(generated)),
        "random": _over(random.random),
        "random module": lambda row: row.sum() + random.random(),
        "random.Random": _over(seeded.random),
        "numpy.random": lambda row: row.sum() + numpy.random.rand(),
        "numpy's generator": _over(numpy.random.default_rng(0).random),
        "dappled.random": lambda row: row.sum() + dappled.random.rand(),
        "ours": _over(dappled.random.default_rng(0).random),
    }


def _scale(row, by=2):
    return row.sum() * by


@functools.lru_cache
def _cached(number):
    return number * 2


PURE = {
    "plain": _scale,
    "lambda": lambda row: row.max() - row.min(),
    "partial": functools.partial(_scale, by=3),
    "reads": lambda row: row.sum() + len(SQUARE) + SQUARE[0, 1],
    "cached": lambda row: _cached(3) + row.sum(),
    "numpy": numpy.sum,
    "dappled": dappled.sum,
    "builtin": sum,
    "mean": lambda row: row.mean(),
}
APPLYING = {
    "apply_along_axis": lambda f, a: dappled.apply_along_axis(f, 1, a),
    "vectorize, rows": lambda f, a: dappled.vectorize(f, signature="(n)->()")(a),
    "vectorize": lambda f, a: dappled.vectorize(lambda x: f(x + numpy.zeros(2)), otypes="d")(a),
}


# Rows are short, and the array is distributed.
ROWS = numpy.arange(640.0).reshape(80, 8) % 7
IN_ROWS = pytest.mark.ranks(2, 3, replicated_below=512)


@IN_ROWS
@pytest.mark.parametrize("way", APPLYING)
@pytest.mark.parametrize("name", _remembering())
def test_a_function_that_remembers_is_refused(name, way):
    with pytest.raises(RuntimeError, match=r"changes .* ranks calls it for its own"):
        APPLYING[way](_remembering()[name], dappled.array(ROWS))


@IN_ROWS
@pytest.mark.parametrize("name", PURE)
def test_a_pure_function_is_called_for_each_part(name):
    dappled.config.fallback = "error"
    try:
        found = dappled.apply_along_axis(PURE[name], 1, dappled.array(ROWS))
    finally:
        dappled.config.fallback = "warn"
    numpy.testing.assert_allclose(found.tolist(), numpy.apply_along_axis(PURE[name], 1, ROWS))
    assert not found._whole


@pytest.mark.ranks(1, 2)
@QUIET
def test_a_function_that_all_ranks_call_for_all_rows_may_remember():
    found = dappled.apply_along_axis(_closure(), 1, dappled.array(SQUARE))  # rows are long here
    expected = numpy.apply_along_axis(_closure(), 1, SQUARE)
    numpy.testing.assert_array_equal(found.tolist(), expected)
