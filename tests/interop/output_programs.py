"""Programs in which a library writes into an array argument."""

import numpy
from scipy import ndimage, special

SIDE = 8
VALUES = numpy.arange(float(SIDE * SIDE)).reshape(SIDE, SIDE) % 7
# A function of SciPy's that writes what it makes of an array into another.
FILTERS = {
    "gaussian": lambda a, out: ndimage.gaussian_filter(a, 1.5, output=out),
    "gaussian along one": lambda a, out: ndimage.gaussian_filter1d(a, 1, 0, output=out),
    "uniform": lambda a, out: ndimage.uniform_filter(a, 3, output=out),
    "median": lambda a, out: ndimage.median_filter(a, 3, output=out),
    "convolve": lambda a, out: ndimage.convolve(a, numpy.ones((3, 3)), output=out),
    "sobel": lambda a, out: ndimage.sobel(a, 0, out),
    "laplace": lambda a, out: ndimage.laplace(a, out, "wrap"),
    "shift": lambda a, out: ndimage.shift(a, 1.5, out),
    "spline": lambda a, out: ndimage.spline_filter(a, 3, out),
    "special": lambda a, out: special.expit(a, out=out),
}
# Where it is written: an array of the program's NumPy, and the part of it that is handed over.
TARGETS = {
    "array": lambda np: (np.ones((SIDE, SIDE)),) * 2,
    "columns": lambda np: (np.ones((SIDE, SIDE), order="F"),) * 2,
    "transposed": lambda np: _with(np.ones((SIDE, SIDE)), lambda o: o.T),
    "part": lambda np: _with(np.ones((SIDE + 3, SIDE)), lambda o: o[2:-1]),
    "steps": lambda np: _with(np.ones((SIDE, 2 * SIDE)), lambda o: o[::-1, ::2]),
    "single": lambda np: (np.ones((SIDE, SIDE), "f4"),) * 2,
    "read only": lambda np: _with(np.ones((SIDE, SIDE)), lambda o: np.broadcast_to(o[0], o.shape)),
}


def _with(whole, part):
    return whole, part(whole)


def into(write, target):
    def program(np):
        whole, part = TARGETS[target](np)
        kept = outcome(write, np.array(VALUES), part)
        return [kept, numpy.asarray(whole).tolist()]

    return program


def outcome(write, a, out):
    """What the function returns stays alive while the array is looked at."""
    try:
        return numpy.asarray(write(a, out)).tolist()
    except Exception as error:
        return type(error)


def over_itself(np):
    a = np.array(VALUES) + 0
    ndimage.uniform_filter(a, 3, output=a)
    return a


def twice(np):
    """Written between two calls by the program, too: each has the last word in its turn."""
    a = np.ones((SIDE, SIDE))
    kept = ndimage.uniform_filter(np.array(VALUES), 3, output=a)
    a[0] = -1
    last = ndimage.shift(a, 1, output=a)
    del kept
    a[1] = -2
    del last
    return a


def called_back(np):
    """The program writes an array of which the library has a copy that it only reads."""
    a = np.array(VALUES) + 0

    def touch(values):
        a[0, 0] += 1
        return values.sum()

    ndimage.generic_filter(a, touch, 3)
    return a[0, 0].item() > 1, numpy.asarray(a)[1:].tolist()


PROGRAMS = {
    f"{name} into {target}": into(write, target)
    for number, (name, write) in enumerate(FILTERS.items())
    for target in [*TARGETS][:: 1 if number < 3 else 6]
}
PROGRAMS |= {"over itself": over_itself, "twice": twice, "called back": called_back}
