"""Random calls: Dappled agrees with NumPy for random arguments.

DAPPLED_TEST_CALLS=20 runs 20 times as many.
"""

import os
import re

import numpy
import pytest
from dappled.coverage.names import table as ways

from tests.fuzz.calls import table
from tests.fuzz.calls.draw import Call
from tests.fuzz.calls.outcome import outcome
from tests.support.rank_arrays import allgather

TIMES = int(os.environ.get("DAPPLED_TEST_CALLS", "1"))
PARTS, NUMBER = 6, 330
# Names that are files, iterators and classes, or of dtypes that are not drawn.
ELSEWHERE = """
busday_count busday_offset datetime_as_string fromfile is_busday isnat load loadtxt ndarray nditer
save savetxt savez savez_compressed strides ufunc as_strided to_device tofile coords index
"""


@pytest.mark.usefixtures("quiet_fallback")
@pytest.mark.parametrize("part", range(PARTS))
def test_calls(part):
    numbers = range(part, PARTS * NUMBER * TIMES, PARTS)
    found = [table.difference(table.drawn(number)) for number in numbers]
    assert not any(found), "\n".join(filter(None, found))


# A template that always raises by design: NumPy's arrays have no `__round__`.
RAISING = "round({a: 0}"


def test_every_template_succeeds():
    """A template whose calls always raise would compare only errors."""
    failing = []
    for number, template in enumerate(table.TEMPLATES):
        calls = (Call(template, number + turn * len(table.TEMPLATES)) for turn in range(500))
        if RAISING not in template and all(outcome(numpy, call).raised for call in calls):
            failing.append(template)
    assert failing == []


def test_every_name_has_a_template():
    """Every native and piecewise name occurs in a template."""
    drawn = {word for template in table.TEMPLATES for word in re.findall(r"\w+", template)}
    drawn |= {*ELSEWHERE.split()}
    names = [name for name, way in ways().items() if way in ("native", "piecewise")]
    others = ("char.", "strings.", "testing.")  # of texts, and of what is true
    names = [name for name in names if not name.startswith(others)]
    assert [name for name in names if name.split(".")[-1] not in drawn] == []


# The number of calls by number of ranks.
CALLS = {2: 800, 3: 600, 4: 300, 7: 100}
SHARE = 20


@pytest.mark.ranks(*CALLS)
@pytest.mark.usefixtures("quiet_fallback")
@pytest.mark.parametrize("part", range(SHARE))
def test_calls_on_ranks(part, ranks):
    """Each number of ranks runs other calls."""
    first, count = ranks * 1_000_000, CALLS[ranks] * TIMES
    for number in range(first + part, first + count, SHARE):
        found = table.difference(table.drawn(number), allgather)
        assert not found, found
