"""Dappled's generators in other libraries, and NumPy's generators on Dappled arrays."""

import copy
import pickle
import random
import warnings

import dappled
import numpy
import pytest

scipy = pytest.importorskip("scipy")
KINDS = ("default_rng", "RandomState")
X = numpy.random.RandomState(3).normal(size=(60, 3))


def bowl(x):
    return float(((x - 1) ** 2).sum())


def stats():
    import scipy.stats

    return scipy.stats


def optimize():
    import scipy.optimize

    return scipy.optimize


def sparse():
    import scipy.sparse

    return scipy.sparse


def vq():
    import scipy.cluster.vq

    return scipy.cluster.vq


def linalg():
    import scipy.linalg

    return scipy.linalg


def rotation():
    from scipy.spatial.transform import Rotation

    return Rotation


def resampled(r):
    return stats().bootstrap((X[:, 0],), numpy.mean, n_resamples=30, random_state=r)


def permuted(r):
    return stats().permutation_test(
        (X[:, 0], X[:, 1]), lambda a, b: a.mean() - b.mean(), n_resamples=30, random_state=r
    )


SCIPY = {
    "norm": lambda r: stats().norm.rvs(size=5, random_state=r),
    "gamma": lambda r: stats().gamma.rvs(2.0, size=5, random_state=r),
    "poisson": lambda r: stats().poisson.rvs(3, size=5, random_state=r),
    "multivariate": lambda r: stats().multivariate_normal.rvs([0, 0], None, 4, random_state=r),
    "dirichlet": lambda r: stats().dirichlet.rvs([1, 2, 3], 4, random_state=r),
    "wishart": lambda r: stats().wishart.rvs(4, numpy.eye(2), 2, random_state=r),
    "ortho_group": lambda r: stats().ortho_group.rvs(3, random_state=r),
    "multinomial": lambda r: stats().multinomial.rvs(5, [0.2, 0.8], 3, random_state=r),
    "frozen": lambda r: stats().expon(scale=2).rvs(4, random_state=r),
    "resample": lambda r: stats().gaussian_kde(X.T).resample(4, seed=r),
    "bootstrap": lambda r: tuple(resampled(r).confidence_interval),
    "permutation_test": lambda r: permuted(r).pvalue,
    "evolution": lambda r: optimize().differential_evolution(
        bowl, [(-3, 3)] * 2, rng=r, maxiter=3, polish=False
    ),
    "basinhopping": lambda r: optimize().basinhopping(bowl, [3.0, 3.0], niter=2, rng=r).x,
    "annealing": lambda r: optimize().dual_annealing(bowl, [(-3, 3)] * 2, rng=r, maxiter=5).x,
    "sparse": lambda r: sparse().random(8, 9, 0.3, random_state=r).toarray(),
    "random_array": lambda r: sparse().random_array((8, 9), density=0.3, rng=r).toarray(),
    "kmeans": lambda r: vq().kmeans(X, 3, rng=r)[0],
    "kmeans2": lambda r: vq().kmeans2(X, 3, minit="++", rng=r)[0],
    "rotation": lambda r: rotation().random(3, rng=r).as_quat(),
    "sketch": lambda r: linalg().clarkson_woodruff_transform(X, 5, rng=r),
    "sobol": lambda r: stats().qmc.Sobol(2, rng=r).random(4),
    "halton": lambda r: stats().qmc.Halton(2, rng=r).random(4),
    "default_rng": lambda r: numpy.random.default_rng(r).random(3),
}


def sampled(r):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(X).sample(frac=0.2, weights=range(60), random_state=r).to_numpy()


def clustered(r):
    cluster = pytest.importorskip("sklearn.cluster")
    return cluster.KMeans(3, random_state=r, n_init=1).fit(X).cluster_centers_


def grown(r):
    ensemble = pytest.importorskip("sklearn.ensemble")
    return ensemble.RandomForestClassifier(2, random_state=r).fit(X, X[:, 0] > 0).predict_proba(X)


def graph(r):
    networkx = pytest.importorskip("networkx")
    return sorted(networkx.gnp_random_graph(8, 0.4, seed=r).edges)


def noise(r):
    util = pytest.importorskip("skimage.util")
    return util.random_noise(numpy.zeros((4, 4)), rng=r)


OTHERS = {"pandas": sampled, "kmeans": clustered, "forest": grown, "graph": graph, "noise": noise}


def outcome(np, kind, call):
    """The result of a call and the generator's next draw, or the error."""
    generator = getattr(np.random, kind)(7)
    try:
        found = call(generator)
    except (AttributeError, TypeError, ValueError) as error:
        return type(error)
    values = getattr(found, "x", found)
    drawn = generator.normal(size=3), generator.uniform()
    return [numpy.asarray(values), *map(numpy.asarray, drawn)]


def same(theirs, ours):
    if isinstance(theirs, type):
        return theirs is ours
    return all(map(numpy.array_equal, theirs, ours))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SCIPY)
@pytest.mark.ranks(1, 2)
def test_scipy_draws_from_our_generator_as_from_numpys(name, kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = outcome(numpy, kind, SCIPY[name])
        assert same(theirs, outcome(dappled, kind, SCIPY[name]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", OTHERS)
def test_libraries_draw_from_our_generator_as_from_numpys(name, kind):
    theirs = outcome(numpy, kind, OTHERS[name])
    assert same(theirs, outcome(dappled, kind, OTHERS[name]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.ranks(1, 3)
def test_libraries_get_numpys_arrays_and_the_program_ours(kind):
    scope = {"__name__": "scipy.something"}
    exec("def draw(r): return r.normal(size=7), r.permutation(5), r.choice(9, 3)", scope)
    ours, theirs = getattr(dappled.random, kind)(1), getattr(numpy.random, kind)(1)
    for found, wanted in zip(scope["draw"](ours), scope["draw"](theirs), strict=True):
        assert type(found) is numpy.ndarray
        assert numpy.array_equal(found, wanted)
    assert type(ours.normal(size=7)) is dappled.ndarray
    shuffled, known = dappled.arange(50).reshape(25, 2), numpy.arange(50).reshape(25, 2)
    exec("def shuffle(r, x): r.shuffle(x)", scope)
    theirs.normal(size=7)
    scope["shuffle"](ours, shuffled)
    scope["shuffle"](theirs, known)
    assert numpy.array_equal(shuffled, known)


@pytest.mark.parametrize("kind", ["Generator", "RandomState"])
@pytest.mark.ranks(1, 2)
def test_classes_are_numpys_too(kind):
    ours, theirs = getattr(dappled.random, kind), getattr(numpy.random, kind)
    made = [ours(numpy.random.MT19937(5)), ours(dappled.random.MT19937(5))]
    for generator in [*made, pickle.loads(pickle.dumps(made[0])), copy.deepcopy(made[0])]:
        assert isinstance(generator, theirs) and isinstance(generator, ours)
        # As compiled code draws, and as NumPy's own methods do.
        assert "BitGenerator" in str(generator._bit_generator.capsule)
        expected = theirs(numpy.random.MT19937(5))
        assert generator.normal() == expected.normal()
        assert theirs.uniform(generator) == expected.uniform()
        assert generator.uniform() == expected.uniform()
    assert issubclass(ours, theirs)
    assert isinstance(theirs(numpy.random.MT19937(5)), ours)
    assert not isinstance(3, ours)


@pytest.mark.parametrize("name", ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"])
def test_bit_generators_are_numpys(name):
    made = getattr(dappled.random, name)(3)
    assert isinstance(made, numpy.random.BitGenerator)
    expected = numpy.random.Generator(getattr(numpy.random, name)(3))
    assert numpy.random.Generator(made).random() == expected.random()
    assert isinstance(dappled.random.SeedSequence(3), numpy.random.SeedSequence)


ROWS = {
    "floats": numpy.arange(30.0).reshape(15, 2),
    "columns": numpy.asfortranarray(numpy.arange(30.0).reshape(15, 2)),
    "step": numpy.arange(60.0).reshape(15, 4)[:, ::2],
    "back": numpy.arange(60).reshape(30, 2)[::-2],
    "cube": numpy.arange(60).reshape(15, 2, 2),
    "line": numpy.arange(15.0),
    "texts": numpy.arange(30).reshape(15, 2).astype("U4"),
    "objects": numpy.arange(30).reshape(15, 2).astype(object),
    "structures": numpy.array([(i, -i) for i in range(15)], "i4,f8"),
    "none": numpy.zeros((0, 3)),
}
SHUFFLES = {
    "Generator": lambda x: numpy.random.default_rng(5).shuffle(x),
    "RandomState": lambda x: numpy.random.RandomState(5).shuffle(x),
    "module": lambda x: (numpy.random.seed(5), numpy.random.shuffle(x)),
    "twice": lambda x: [numpy.random.default_rng(seed).shuffle(x) for seed in (5, 6)],
    "Python": lambda x: random.Random(5).shuffle(x),
}


@pytest.mark.filterwarnings("ignore:.*shuffle:UserWarning")
@pytest.mark.parametrize("name", SHUFFLES)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.ranks(1, 2)
def test_shuffling_our_arrays_by_numpys_generators(rows, name):
    if name == "Python" and (rows == "structures" or ROWS[rows].ndim == 1):
        pytest.skip("NumPy's own array loses structures there")
    theirs = ROWS[rows].copy(order="K")
    ours = dappled.array(theirs)
    SHUFFLES[name](theirs)
    SHUFFLES[name](ours)
    assert numpy.asarray(ours).tolist() == theirs.tolist()


@pytest.mark.filterwarnings("ignore:.*shuffle:UserWarning")
def test_a_view_is_shuffled_in_its_array():
    theirs = numpy.arange(60.0).reshape(20, 3)
    ours = dappled.array(theirs)
    for x in (theirs, ours):
        numpy.random.default_rng(5).shuffle(x[4:16, 1:])
    assert numpy.asarray(ours).tolist() == theirs.tolist()


@pytest.mark.ranks(1, 2)
def test_rows_swapped_in_python_keep_numpys_meaning():
    for np in (numpy, dappled):
        x = np.arange(6).reshape(3, 2)
        x[0], x[2] = x[2], x[0]
        assert x.tolist() == [[4, 5], [2, 3], [4, 5]]
        x = np.arange(6).reshape(3, 2)
        for to, source in ((0, 2), (2, 0)):
            x.__setitem__(to, x[source])
        assert x.tolist() == [[4, 5], [2, 3], [4, 5]]


def test_permuting_into_our_array_is_refused():
    with pytest.raises(TypeError, match="out must be a numpy array"):
        numpy.random.default_rng(0).permuted(numpy.ones(3), out=dappled.ones(3))
    out = dappled.ones(9)
    assert dappled.random.default_rng(0).permuted(dappled.arange(9.0), out=out) is out
    wanted = numpy.random.default_rng(0).permuted(numpy.arange(9.0))
    assert numpy.array_equal(out, wanted)
