"""scikit-learn with our arrays: estimators, transformers, metrics and model selection."""

import numpy
import pytest

from tests.interop.libraries.boundary import table_tests

pytest.importorskip("sklearn")

from sklearn import (
    cluster,
    datasets,
    decomposition,
    ensemble,
    gaussian_process,
    impute,
    linear_model,
    manifold,
    metrics,
    mixture,
    model_selection,
    naive_bayes,
    neighbors,
    neural_network,
    pipeline,
    preprocessing,
    svm,
    tree,
)
from sklearn.feature_selection import SelectKBest

RNG = numpy.random.default_rng(3)
X, LABELS = datasets.make_classification(60, 5, random_state=0)
TARGET = X @ RNG.standard_normal(5) + 0.1 * RNG.standard_normal(60)
POSITIVE = numpy.abs(X)
HOLES = numpy.where(RNG.random(X.shape) < 0.1, numpy.nan, X)
WORDS = RNG.integers(0, 3, (60, 2))
SCORES = RNG.random(60)
SINGLE = X.astype("f4")
BACKWARDS = numpy.asfortranarray(X)


def predicted(estimator, *methods):
    """The estimator fitted to X and y, and what it says of X."""

    def call(x, y):
        fitted = estimator().fit(x, y)
        return fitted, *(getattr(fitted, method)(x) for method in methods or ["predict"])

    return call


def transformed(estimator):
    """The transformed X, and the learned attributes."""

    def call(x):
        fitted = estimator()
        return fitted.fit_transform(x), fitted

    return call


def clustered(estimator):
    def call(x):
        fitted = estimator().fit(x)
        return fitted, fitted.labels_

    return call


def _split(x, y):
    return tuple(model_selection.train_test_split(x, y, random_state=0))


def _scores(x, y):
    model = pipeline.make_pipeline(
        preprocessing.StandardScaler(), linear_model.LogisticRegression()
    )
    return model_selection.cross_val_score(model, x, y, cv=3)


def _searched(x, y):
    search = model_selection.GridSearchCV(svm.SVC(), {"C": [0.1, 1.0]}, cv=3).fit(x, y)
    return search.best_params_, search.best_score_, search.predict(x)


def _trees(x, y):
    model = ensemble.RandomForestClassifier(5, random_state=0).fit(x, y)
    return model.predict_proba(x), model.feature_importances_


def _boosted(x, y):
    model = ensemble.GradientBoostingRegressor(n_estimators=5, random_state=0).fit(x, y)
    return model.predict(x), model.feature_importances_


def _histograms(x, y):
    return ensemble.HistGradientBoostingClassifier(max_iter=3).fit(x, y).predict_proba(x)


def _tree(x, y):
    model = tree.DecisionTreeClassifier(random_state=0).fit(x, y)
    return model.predict(x), model.feature_importances_


def _neighbours(x, y):
    model = neighbors.KNeighborsClassifier().fit(x, y)
    return model.predict(x), *model.kneighbors(x)


def _gaussian(x, y):
    return gaussian_process.GaussianProcessRegressor(random_state=0).fit(x, y).predict(x)


def _curve(y, scores):
    return metrics.roc_curve(y, scores)


CASES = {
    "LinearRegression": (predicted(linear_model.LinearRegression), X, TARGET),
    "Ridge": (predicted(linear_model.Ridge), X, TARGET),
    "Lasso": (predicted(lambda: linear_model.Lasso(0.1)), X, TARGET),
    "ElasticNet": (predicted(lambda: linear_model.ElasticNet(0.1)), X, TARGET),
    "LassoCV": (predicted(lambda: linear_model.LassoCV(cv=3)), BACKWARDS, TARGET),
    "LogisticRegression": (predicted(linear_model.LogisticRegression), X, LABELS),
    "SGDClassifier": (predicted(lambda: linear_model.SGDClassifier(random_state=0)), X, LABELS),
    "SVC": (predicted(svm.SVC), X, LABELS),
    "LinearSVC": (predicted(lambda: svm.LinearSVC(random_state=0)), X, LABELS),
    "SVR": (predicted(svm.SVR), X, TARGET),
    "KNeighborsClassifier": (_neighbours, X, LABELS),
    "DecisionTreeClassifier": (_tree, X, LABELS),
    "RandomForestClassifier": (_trees, X, LABELS),
    "GradientBoostingRegressor": (_boosted, X, TARGET),
    "HistGradientBoostingClassifier": (_histograms, X, LABELS),
    "GaussianNB": (predicted(naive_bayes.GaussianNB), X, LABELS),
    "MLPClassifier": (
        predicted(lambda: neural_network.MLPClassifier((4,), max_iter=5, random_state=0)),
        X,
        LABELS,
    ),
    "GaussianProcessRegressor": (_gaussian, X, TARGET),
    "KMeans": (clustered(lambda: cluster.KMeans(3, n_init=1, random_state=0)), X),
    "MiniBatchKMeans": (clustered(lambda: cluster.MiniBatchKMeans(3, n_init=1, random_state=0)), X),
    "DBSCAN": (clustered(lambda: cluster.DBSCAN(1.5)), X),
    "AgglomerativeClustering": (clustered(lambda: cluster.AgglomerativeClustering(3)), X),
    "GaussianMixture": (
        lambda x: mixture.GaussianMixture(2, random_state=0).fit(x).predict_proba(x),
        X,
    ),
    "PCA": (transformed(lambda: decomposition.PCA(3)), X),
    "TruncatedSVD": (transformed(lambda: decomposition.TruncatedSVD(2, random_state=0)), X),
    "NMF": (transformed(lambda: decomposition.NMF(2, random_state=0, max_iter=20)), POSITIVE),
    "FastICA": (transformed(lambda: decomposition.FastICA(2, random_state=0, max_iter=500)), X),
    "TSNE": (
        lambda x: manifold.TSNE(perplexity=5, max_iter=250, random_state=0).fit_transform(x),
        X[:20],
    ),
    "StandardScaler": (transformed(preprocessing.StandardScaler), X),
    "StandardScaler, backwards": (transformed(preprocessing.StandardScaler), BACKWARDS),
    "StandardScaler, single": (transformed(preprocessing.StandardScaler), SINGLE),
    "MinMaxScaler": (transformed(preprocessing.MinMaxScaler), X),
    "RobustScaler": (transformed(preprocessing.RobustScaler), X),
    "MaxAbsScaler": (transformed(preprocessing.MaxAbsScaler), X),
    "Normalizer": (transformed(preprocessing.Normalizer), X),
    "normalize": (preprocessing.normalize, X),
    "scale": (preprocessing.scale, X),
    "PowerTransformer": (transformed(preprocessing.PowerTransformer), X),
    "QuantileTransformer": (
        transformed(lambda: preprocessing.QuantileTransformer(n_quantiles=9, random_state=0)),
        X,
    ),
    "PolynomialFeatures": (transformed(preprocessing.PolynomialFeatures), X),
    "OneHotEncoder": (transformed(preprocessing.OneHotEncoder), WORDS),
    "LabelEncoder": (transformed(preprocessing.LabelEncoder), LABELS),
    "KBinsDiscretizer": (
        transformed(lambda: preprocessing.KBinsDiscretizer(3, encode="ordinal")),
        X,
    ),
    "SimpleImputer": (transformed(impute.SimpleImputer), HOLES),
    "KNNImputer": (transformed(impute.KNNImputer), HOLES),
    "SelectKBest": (lambda x, y: SelectKBest(k=2).fit_transform(x, y), X, LABELS),
    "train_test_split": (_split, X, LABELS),
    "cross_val_score": (_scores, X, LABELS),
    "GridSearchCV": (_searched, X, LABELS),
    "accuracy_score": (metrics.accuracy_score, LABELS, LABELS[::-1].copy()),
    "f1_score": (metrics.f1_score, LABELS, LABELS[::-1].copy()),
    "confusion_matrix": (metrics.confusion_matrix, LABELS, LABELS[::-1].copy()),
    "classification_report": (metrics.classification_report, LABELS, LABELS[::-1].copy()),
    "roc_auc_score": (metrics.roc_auc_score, LABELS, SCORES),
    "roc_curve": (_curve, LABELS, SCORES),
    "mean_squared_error": (metrics.mean_squared_error, TARGET, SCORES),
    "r2_score": (metrics.r2_score, TARGET, SCORES),
    "silhouette_score": (metrics.silhouette_score, X, LABELS),
    "pairwise_distances": (metrics.pairwise_distances, X),
    "rbf_kernel": (metrics.pairwise.rbf_kernel, X),
}
test_sklearn, _ = table_tests(CASES)
