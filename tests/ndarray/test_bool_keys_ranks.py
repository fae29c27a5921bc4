"""Single booleans beside other items of an index, of distributed arrays."""

import numpy
import pytest

from tests.support.distributed import VALUES, check_table, distributed, raised

MASK = VALUES[:, 0] > 3
KEYS = {
    "number": (True, 3),
    "number first": (3, True),
    "negative number": (-3, numpy.True_),
    "numbers": (3, True, 4),
    "numbers apart": (True, slice(1, 9), 4),
    "nothing": (False, 3),
    "nothing of numbers": (2, 3, numpy.array(False)),
    "list": (True, [1, 2, 5]),
    "list behind": ([[1, 2], [5, 5]], True),
    "list of one": ([4], False),
    "two": (True, True, slice(3)),
    "two ways": (True, False, 2),
    "new axis": (None, True, ..., 3),
    "dots": (..., True, 3),
    "dots between": (True, ..., [3, 4]),
    "dots of nothing": (2, ..., True, 3),
    "array": (numpy.array(True), numpy.arange(40)),
    "mask": (True, MASK),
    "mask of truths": (slice(2), True, [True, False] * 21),
}
WRONG_KEYS = [(True, 1, 2, 3), (False, [1, 2]), (True, 60), (True, [1, 99]), (True, ..., ...)]


def written(a, key, value):
    a[key] = value
    return a


TRUTHS = {
    **{f"truth, {name}": lambda np, a, key=key: a[key] for name, key in KEYS.items()},
    **{
        f"truth written, {name}": lambda np, a, key=key: written(a, key, 99)
        for name, key in KEYS.items()
    },
    "bool with a distributed index": lambda np, a: a[True, np.arange(40)],
    "truth of an array": lambda np, a: (a[np.asarray(True), 3], a[(a > 3).any(), [3, 7]]),
    "truth, row written": lambda np, a: written(a, (True, [3, 1]), a[:1]),
    "truth, column written": lambda np, a: written(a, (True, slice(None), 3), a[:, 0]),
    "truth added": lambda np, a: np.add.at(a, (True, [3, 3, 1]), 1),
    "truth wrong": lambda np, a: [raised(lambda key=key: a[key]) for key in WRONG_KEYS],
    "truth wrong, written": lambda np, a: [
        *(raised(lambda key=key: written(a, key, 1)) for key in WRONG_KEYS),
        raised(lambda: written(a, (True, 3), a)),
    ],
}


@distributed
@pytest.mark.parametrize("name", TRUTHS)
def test_bool_keys(name):
    check_table(TRUTHS, name, rare=True)
