"""SciPy with our arrays: the functions that are used most, and some that write an argument."""

import numpy
from scipy import (
    cluster,
    fft,
    integrate,
    interpolate,
    linalg,
    ndimage,
    optimize,
    signal,
    sparse,
    spatial,
    special,
    stats,
)
from scipy.sparse import linalg as sparse_linalg

from tests.interop.libraries.boundary import Written, table_tests

RNG = numpy.random.default_rng(7)
A = RNG.standard_normal((6, 6))
SPD = A @ A.T + 6 * numpy.eye(6)
LOWER = numpy.tril(SPD)
B = RNG.standard_normal(6)
TALL = RNG.standard_normal((12, 4))
X = numpy.linspace(0.0, 3.0, 13)
Y = numpy.sin(X) + 0.1 * X**2 + 0.05 * RNG.standard_normal(13)
NOISE = RNG.standard_normal(64)
OTHER = RNG.standard_normal(64) + 0.25
POSITIVE = numpy.abs(NOISE) + 0.1
IMAGE = RNG.random((12, 10))
BITS = IMAGE > 0.6
COUNTS = RNG.integers(0, 9, 40)
POINTS = RNG.standard_normal((20, 2))
ROWS, COLUMNS = RNG.integers(0, 6, 15), RNG.integers(0, 6, 15)
DENSE = numpy.where(RNG.random((6, 6)) > 0.5, A, 0) + 4 * numpy.eye(6)


def _solved(result):
    return result.x, bool(result.success)


def _curve(x, p, q):
    return p * numpy.sin(x) + q * x**2


def _slopes(x, p, q):  # without them differences of nearly equal numbers decide the last digits
    return numpy.stack([numpy.sin(x), x**2], axis=1)


CASES = {
    "linalg.solve": (linalg.solve, A, B),
    "linalg.inv": (linalg.inv, A),
    "linalg.det": (linalg.det, A),
    "linalg.eigh": (linalg.eigh, SPD),
    "linalg.eig": (linalg.eig, A),
    "linalg.svd": (linalg.svd, TALL),
    "linalg.lstsq": (lambda a, b: linalg.lstsq(a, b)[0], TALL, NOISE[:12]),
    "linalg.cholesky": (linalg.cholesky, SPD),
    "linalg.cho_solve": (lambda a, b: linalg.cho_solve(linalg.cho_factor(a), b), SPD, B),
    "linalg.lu": (linalg.lu, A),
    "linalg.lu_factor": (linalg.lu_factor, A),
    "linalg.qr": (linalg.qr, TALL),
    "linalg.expm": (linalg.expm, A),
    "linalg.solve_triangular": (lambda a, b: linalg.solve_triangular(a, b, lower=True), LOWER, B),
    "linalg.solve_banded": (
        lambda ab, b: linalg.solve_banded((1, 1), ab, b),
        numpy.vstack([A[0], 9 + A[1], A[2]]),
        B,
    ),
    "linalg.norm": (linalg.norm, A),
    "linalg.pinv": (linalg.pinv, TALL),
    "linalg.toeplitz": (linalg.toeplitz, B),
    "linalg.block_diag": (linalg.block_diag, A, TALL),
    "sparse.csr_matrix": (sparse.csr_matrix, DENSE),
    "sparse.coo_array": (
        lambda values, i, j: sparse.coo_array((values, (i, j)), (6, 6)).tocsr(),
        NOISE[:15],
        ROWS,
        COLUMNS,
    ),
    "sparse.diags": (lambda d: sparse.diags([d, d[:-1]], [0, 1]), B),
    "sparse matrix @ array": (lambda a, x: sparse.csr_array(DENSE) @ x, DENSE, B),
    "sparse.linalg.spsolve": (
        lambda a, b: sparse_linalg.spsolve(sparse.csc_matrix(a), b),
        DENSE,
        B,
    ),
    "sparse.linalg.cg": (sparse_linalg.cg, SPD, B),
    "sparse.linalg.eigsh": (lambda a: sparse_linalg.eigsh(a, 2, v0=numpy.ones(6))[0], SPD),
    "optimize.minimize": (
        lambda x: _solved(optimize.minimize(optimize.rosen, x, jac=optimize.rosen_der)),
        numpy.array([1.3, 0.7, 0.8]),
    ),
    "optimize.curve_fit": (lambda x, y: optimize.curve_fit(_curve, x, y, jac=_slopes), X, Y),
    "optimize.least_squares": (
        lambda x: _solved(optimize.least_squares(lambda v: v**2 - [1.0, 4.0], x)),
        numpy.array([0.5, 3.0]),
    ),
    "optimize.root": (
        lambda x: _solved(optimize.root(lambda v: numpy.cos(v) - v, x)),
        numpy.array([0.5, 0.1]),
    ),
    "optimize.linprog": (
        lambda c, a, b: _solved(optimize.linprog(c, a, b)),
        numpy.array([-1.0, 4.0]),
        numpy.array([[-3.0, 1.0], [1.0, 2.0]]),
        numpy.array([6.0, 4.0]),
    ),
    "optimize.nnls": (optimize.nnls, TALL, NOISE[:12]),
    "optimize.linear_sum_assignment": (optimize.linear_sum_assignment, IMAGE),
    "integrate.trapezoid": (integrate.trapezoid, Y, X),
    "integrate.simpson": (lambda y, x: integrate.simpson(y, x=x), Y, X),
    "integrate.cumulative_trapezoid": (integrate.cumulative_trapezoid, Y, X),
    "integrate.solve_ivp": (
        lambda y0, t: integrate.solve_ivp(lambda t, y: -y, (0, 3), y0, t_eval=t).y,
        numpy.array([1.0, 2.0]),
        X,
    ),
    "integrate.odeint": (
        lambda y0, t: integrate.odeint(lambda y, t: -y, y0, t),
        numpy.array([1.0, 2.0]),
        X,
    ),
    "interpolate.interp1d": (lambda x, y, at: interpolate.interp1d(x, y)(at), X, Y, X[:-1] + 0.1),
    "interpolate.CubicSpline": (
        lambda x, y, at: interpolate.CubicSpline(x, y)(at),
        X,
        Y,
        X[:-1] + 0.1,
    ),
    "interpolate.splrep": (
        lambda x, y, at: interpolate.splev(at, interpolate.splrep(x, y)),
        X,
        Y,
        X[:-1] + 0.1,
    ),
    "interpolate.griddata": (interpolate.griddata, POINTS, NOISE[:20], POINTS[:5] * 0.5),
    "interpolate.RegularGridInterpolator": (
        lambda x, y, values, at: interpolate.RegularGridInterpolator((x, y), values)(at),
        numpy.arange(12.0),
        numpy.arange(10.0),
        IMAGE,
        numpy.array([[1.5, 2.5], [7.25, 3.0]]),
    ),
    "signal.convolve": (signal.convolve, NOISE, X),
    "signal.fftconvolve": (signal.fftconvolve, NOISE, X),
    "signal.lfilter": (signal.lfilter, numpy.array([0.2, 0.3]), numpy.array([1.0, -0.5]), NOISE),
    "signal.filtfilt": (lambda x: signal.filtfilt(*signal.butter(3, 0.2), x), NOISE),
    "signal.sosfilt": (lambda x: signal.sosfilt(signal.butter(3, 0.2, output="sos"), x), NOISE),
    "signal.find_peaks": (signal.find_peaks, NOISE),
    "signal.welch": (lambda x: signal.welch(x, nperseg=16), NOISE),
    "signal.spectrogram": (lambda x: signal.spectrogram(x, nperseg=16), NOISE),
    "signal.stft": (lambda x: signal.stft(x, nperseg=16), NOISE),
    "signal.savgol_filter": (lambda x: signal.savgol_filter(x, 7, 2), NOISE),
    "signal.detrend": (signal.detrend, NOISE),
    "signal.resample": (lambda x: signal.resample(x, 40), NOISE),
    "signal.medfilt": (signal.medfilt, NOISE),
    "signal.correlate2d": (signal.correlate2d, IMAGE, A),
    "ndimage.gaussian_filter": (lambda x: ndimage.gaussian_filter(x, 1.5), IMAGE),
    "ndimage.gaussian_filter(output=)": (
        lambda x, out: ndimage.gaussian_filter(x, 1.5, output=out),
        IMAGE,
        Written(numpy.zeros((12, 10))),
    ),
    "ndimage.median_filter": (lambda x: ndimage.median_filter(x, 3), IMAGE),
    "ndimage.uniform_filter": (lambda x: ndimage.uniform_filter(x, 3), IMAGE),
    "ndimage.sobel": (ndimage.sobel, IMAGE),
    "ndimage.label": (ndimage.label, BITS),
    "ndimage.zoom": (lambda x: ndimage.zoom(x, 2), IMAGE),
    "ndimage.rotate": (lambda x: ndimage.rotate(x, 30), IMAGE),
    "ndimage.map_coordinates": (ndimage.map_coordinates, IMAGE, numpy.abs(POINTS.T)),
    "ndimage.convolve": (ndimage.convolve, IMAGE, A),
    "ndimage.distance_transform_edt": (ndimage.distance_transform_edt, BITS),
    "ndimage.binary_dilation": (ndimage.binary_dilation, BITS),
    "ndimage.center_of_mass": (ndimage.center_of_mass, IMAGE),
    "stats.ttest_ind": (lambda x, y: tuple(stats.ttest_ind(x, y)), NOISE, OTHER),
    "stats.pearsonr": (lambda x, y: tuple(stats.pearsonr(x, y)), NOISE, OTHER),
    "stats.spearmanr": (lambda x, y: tuple(stats.spearmanr(x, y)), NOISE, OTHER),
    "stats.linregress": (lambda x, y: tuple(stats.linregress(x, y)), NOISE, OTHER),
    "stats.norm.pdf": (stats.norm.pdf, NOISE),
    "stats.norm.fit": (stats.norm.fit, NOISE),
    "stats.gamma.cdf": (lambda x: stats.gamma.cdf(x, 2.0), POSITIVE),
    "stats.gaussian_kde": (lambda x, at: stats.gaussian_kde(x)(at), NOISE, X),
    "stats.zscore": (stats.zscore, NOISE),
    "stats.ks_2samp": (lambda x, y: tuple(stats.ks_2samp(x, y)), NOISE, OTHER),
    "stats.mannwhitneyu": (lambda x, y: tuple(stats.mannwhitneyu(x, y)), NOISE, OTHER),
    "stats.describe": (lambda x: tuple(stats.describe(x)), NOISE),
    "stats.rankdata": (stats.rankdata, COUNTS),
    "stats.mode": (lambda x: tuple(stats.mode(x)), COUNTS),
    "stats.boxcox": (stats.boxcox, POSITIVE),
    "stats.binned_statistic": (lambda x, y: tuple(stats.binned_statistic(x, y)), NOISE, OTHER),
    "spatial.cKDTree": (lambda x, at: spatial.cKDTree(x).query(at, 3), POINTS, POINTS[:4] + 0.1),
    "spatial.ConvexHull": (lambda x: spatial.ConvexHull(x).vertices, POINTS),
    "spatial.Delaunay": (lambda x: spatial.Delaunay(x).simplices, POINTS),
    "spatial.distance.cdist": (spatial.distance.cdist, POINTS, POINTS[:7]),
    "spatial.distance.pdist": (spatial.distance.pdist, POINTS),
    "spatial.Rotation": (
        lambda v: spatial.transform.Rotation.from_rotvec(v).as_matrix(),
        numpy.array([0.1, 0.2, 0.3]),
    ),
    "special.erf": (special.erf, NOISE),
    "special.gamma": (special.gamma, POSITIVE),
    "special.jv": (lambda x: special.jv(1, x), POSITIVE),
    "special.expit": (special.expit, NOISE),
    "special.erf(out=)": (lambda x, out: special.erf(x, out=out), NOISE, Written(OTHER)),
    "special.logsumexp": (special.logsumexp, NOISE),
    "special.softmax": (special.softmax, NOISE),
    "special.comb": (lambda n: special.comb(n, 3), COUNTS),
    "fft.fft": (fft.fft, NOISE),
    "fft.rfft2": (fft.rfft2, IMAGE),
    "fft.dct": (fft.dct, NOISE),
    "fft.ifft": (fft.ifft, NOISE + 1j * OTHER),
    "cluster.hierarchy.linkage": (cluster.hierarchy.linkage, POINTS),
    "cluster.vq.kmeans2": (
        lambda x, k: cluster.vq.kmeans2(x, k, minit="matrix"),
        POINTS,
        POINTS[:3],
    ),
}
test_scipy, _ = table_tests(CASES)
