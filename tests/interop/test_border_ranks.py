"""Other libraries beside distributed arrays: arguments stay, outputs are written."""

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
