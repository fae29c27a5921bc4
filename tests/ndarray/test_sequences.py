"""Arrays as Python sequences: elements, loops, and the standard library."""

import bisect
import operator
import warnings

import dappled
import numpy
import pytest


def written_meanwhile(np):
    a = np.arange(5.0)
    for place, value in enumerate(a):
        if place < 4:
            a[place + 1] += value
    return a


def still_walking(np):
    a = np.arange(3.0)
    walk = iter(a)
    first = next(walk)
    a *= 2
    return [float(first), *map(float, walk)]


def made_anew(np):
    a = np.arange(4)
    for _ in a:
        a = a * 2
    return a


def flat_walks_once(np):
    flat = np.arange(6.0).reshape(2, 3).T.flat
    return next(flat), flat.index, [float(x) for x in flat], flat.index


def objects(np):
    a = np.array([1, None, [2], np.arange(2)], dtype=object)
    a[0] = "x"
    return [type(x).__name__ for x in a], [isinstance(x, np.ndarray) for x in a]


def fields(np):
    a = np.zeros(3, dtype=[("x", "f8"), ("y", "i4")])
    a["x"][1] = 5
    a["y"] += 2
    a[1]["x"] = 6
    for one in a:
        one["y"] += 1
    a[2] = 3
    return a


def is_apart(np):
    a = np.arange(3)
    made = np.array([a, a])
    made[0, 0] = 9
    return a.tolist(), made.tolist(), made.flags.owndata, made.base is None


def elements(array, values):
    """An array of strings or dates after a write, or the error."""
    found = [array[0].item(), array[-1].item(), len(list(array))]
    for value in values:
        try:
            array[1] = value
            found.append(array.tolist())
        except (TypeError, ValueError) as error:
            found.append(str(error))
    return found


PROGRAMS = {
    "bisect": lambda np: bisect.bisect(np.array([1, 3, 5]), 4),
    "index of": lambda np: operator.indexOf(np.array([1, 3, 5]), 3),
    "in": lambda np: [x in np.arange(6.0).reshape(2, 3) for x in (2.0, 9, None, "x")],
    "in texts": lambda np: [x in np.array(["a", "b"]) for x in ("a", "c")],
    "sorted": lambda np: sorted(np.array([3, 1, 2])),
    "rows": lambda np: [row.tolist() for row in np.arange(6).reshape(2, 3)],
    "written meanwhile": written_meanwhile,
    "still walking": still_walking,
    "made anew": made_anew,
    "flat": flat_walks_once,
    "flat by number": lambda np: [np.arange(6).reshape(2, 3).T.flat[at] for at in (1, -1)],
    "objects": objects,
    "fields": fields,
    "texts": lambda np: elements(np.array(["a", "bb"]), (5, "long", None, b"x", True, 2.5)),
    "dates": lambda np: elements(np.array(["2020-01-01"] * 2, "M8[D]"), (5, None, "junk", 2.5)),
    "array of arrays": lambda np: np.array([np.arange(3), np.ones(3)]),
    "with a dtype": lambda np: np.array([np.arange(3), np.arange(3)], dtype="f4", ndmin=3),
    "of no axes": lambda np: np.array([np.array(1), np.array(2)]),
    "its own": is_apart,
    "strides": lambda np: np.array([np.ones((2, 3)).T] * 2).strides,
    "isscalar": lambda np: [np.isscalar(x) for x in (3, "x", np.float64(1), np.arange(2))],
}


def seen(np, program):
    found = program(np)
    return found.tolist() if hasattr(found, "tolist") else found


@pytest.mark.parametrize("name", PROGRAMS)
def test_arrays_as_python_sequences(name):
    assert seen(numpy, PROGRAMS[name]) == seen(dappled, PROGRAMS[name])


@pytest.mark.parametrize(("key", "error"), [(7, IndexError), ("x", IndexError), (-4, IndexError)])
def test_missing_items(key, error):
    for array in (dappled.arange(3), dappled.array(["a", "b", "c"])):
        with pytest.raises(error):
            array[key]


def test_read_only_texts_stay():
    a = dappled.array(["a", "b"])
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        a[0] = "c"


def test_a_cast_of_one_element_warns_of_this_line():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dappled.array([1 + 2j]).astype(float)
    assert caught[0].filename == __file__
