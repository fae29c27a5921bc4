"""Matplotlib with our arrays: the same pixels, drawn by Agg."""

import numpy
from matplotlib import colors, tri
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from tests.interop.libraries.boundary import table_tests

RNG = numpy.random.default_rng(9)
X = numpy.linspace(0.1, 5, 40)
Y = numpy.sin(X)
ERRORS = 0.1 + 0.1 * RNG.random(40)
NOISE = RNG.standard_normal(120)
GROUPS = RNG.standard_normal((30, 3))
PICTURE = RNG.random((12, 16))
COLOURS = RNG.random((12, 16, 3))
ROWS, COLUMNS = numpy.mgrid[0:5:20j, 0:5:24j]
HEIGHTS = numpy.sin(ROWS) * numpy.cos(COLUMNS)
SIZES = RNG.integers(5, 60, 40)
MASK = Y > 0
DAYS = numpy.datetime64("2024-01-01") + numpy.arange(40)
NAMES = numpy.array(["one", "two", "three"])
LINES = numpy.stack([numpy.column_stack([X, Y + shift]) for shift in range(3)])


def drawn(plot, ticks=False, **options):
    """The figure with what `plot` draws into its axes. Ticks take most of the time."""

    def call(*arguments):
        figure = Figure((2, 1.5), dpi=50)
        axes = figure.add_subplot(**options)
        plot(axes, *arguments)
        if not ticks:
            axes.set_axis_off()
        return figure

    return call


def on_axes(name, *more, ticks=False, **options):
    return drawn(lambda axes, *arguments: getattr(axes, name)(*arguments, *more, **options), ticks)


def in_space(name, **options):
    def plot(axes, *arguments):
        getattr(axes, name)(*arguments, **options)

    return drawn(plot, projection="3d")


def _coloured(axes, values):
    axes.figure.colorbar(axes.imshow(values))


def _moved(axes, x, y):
    (line,) = axes.plot(x, x)
    line.set_ydata(y)
    axes.set_ylim(-1, 1)


def _replaced(axes, values):
    axes.imshow(numpy.zeros(values.shape), vmin=0, vmax=1).set_data(values)


def _strided(axes, x, y, z):
    axes.plot_surface(x[::4, ::4], y[::4, ::4], z[::4, ::4])


CASES = {
    "plot": (on_axes("plot", ticks=True), X, Y),
    "plot(y)": (on_axes("plot"), Y),
    "plot, columns": (on_axes("plot"), GROUPS),
    "plot, dates": (on_axes("plot", ticks=True), DAYS, Y),
    "Line2D.set_ydata": (drawn(_moved), X, Y),
    "scatter": (on_axes("scatter"), X, Y),
    "scatter(s=, c=)": (
        drawn(lambda axes, x, y, s, c: axes.scatter(x, y, s=s, c=c)),
        X,
        Y,
        SIZES,
        ERRORS,
    ),
    "bar": (on_axes("bar"), X, Y),
    "bar, names": (on_axes("bar", ticks=True), NAMES, Y[:3].copy()),
    "barh": (on_axes("barh"), X, Y),
    "hist": (on_axes("hist", ticks=True), NOISE),
    "hist(bins=)": (on_axes("hist"), NOISE, numpy.linspace(-2, 2, 9)),
    "hist, columns": (on_axes("hist"), GROUPS),
    "hist2d": (on_axes("hist2d", bins=5), NOISE[:60].copy(), NOISE[60:].copy()),
    "hexbin": (on_axes("hexbin", gridsize=6), NOISE[:60].copy(), NOISE[60:].copy()),
    "boxplot": (on_axes("boxplot"), GROUPS),
    "violinplot": (on_axes("violinplot"), GROUPS),
    "errorbar": (on_axes("errorbar"), X, Y, ERRORS),
    "fill_between": (on_axes("fill_between"), X, Y),
    "fill_between(where=)": (
        drawn(lambda axes, x, y, mask: axes.fill_between(x, y, where=mask)),
        X,
        Y,
        MASK,
    ),
    "stackplot": (on_axes("stackplot"), X, numpy.abs(LINES[:, :, 1])),
    "step": (on_axes("step"), X, Y),
    "stem": (on_axes("stem"), X, Y),
    "stairs": (on_axes("stairs"), Y),
    "pie": (on_axes("pie"), ERRORS[:5].copy()),
    "semilogy": (on_axes("semilogy", ticks=True), X, ERRORS),
    "loglog": (on_axes("loglog"), X, ERRORS),
    "imshow": (on_axes("imshow"), PICTURE),
    "imshow, colours": (on_axes("imshow"), COLOURS),
    "imshow and colorbar": (drawn(_coloured), PICTURE),
    "AxesImage.set_data": (drawn(_replaced), PICTURE),
    "matshow": (on_axes("matshow"), PICTURE),
    "pcolormesh": (on_axes("pcolormesh"), ROWS, COLUMNS, HEIGHTS),
    "contour": (on_axes("contour"), ROWS, COLUMNS, HEIGHTS),
    "contourf": (on_axes("contourf"), HEIGHTS),
    "contour(levels=)": (
        drawn(lambda axes, z, levels: axes.contour(z, levels=levels)),
        HEIGHTS,
        numpy.array([-0.5, 0.0, 0.5]),
    ),
    "quiver": (on_axes("quiver"), ROWS, COLUMNS, HEIGHTS, HEIGHTS.copy()),
    "streamplot": (
        on_axes("streamplot", density=0.4),
        numpy.arange(24.0),
        numpy.arange(20.0),
        HEIGHTS + 2,
        HEIGHTS,
    ),
    "spy": (on_axes("spy"), (PICTURE > 0.5).astype(float)),
    "hlines": (on_axes("hlines"), Y[:5].copy(), X[:5].copy(), 1 + X[:5]),
    "tripcolor": (on_axes("tripcolor"), X, Y * X, NOISE[:40].copy()),
    "Triangulation": (
        lambda x, y: tri.Triangulation(x, y).triangles,
        NOISE[:20].copy(),
        NOISE[20:40].copy(),
    ),
    "specgram": (on_axes("specgram", 16, noverlap=4), NOISE),
    "psd": (on_axes("psd", 32), NOISE),
    "acorr": (on_axes("acorr"), NOISE),
    "ecdf": (on_axes("ecdf"), NOISE),
    "LineCollection": (drawn(lambda axes, x: axes.add_collection(LineCollection(x))), LINES),
    "set_xticks": (on_axes("set_xticks", ticks=True), numpy.array([0.0, 0.25, 1.0])),
    "Normalize": (lambda x: colors.Normalize()(x), NOISE),
    "polar": (drawn(lambda axes, x, y: axes.plot(x, y), True, projection="polar"), X, ERRORS),
    "plot3D": (in_space("plot"), X, Y, ERRORS),
    "scatter3D": (in_space("scatter"), X, Y, ERRORS),
    "plot_surface": (in_space("plot_surface"), ROWS, COLUMNS, HEIGHTS),
    "plot_surface, views": (drawn(_strided, projection="3d"), ROWS, COLUMNS, HEIGHTS),
    "plot_wireframe": (in_space("plot_wireframe"), ROWS, COLUMNS, HEIGHTS),
}
test_matplotlib, _ = table_tests(CASES)
