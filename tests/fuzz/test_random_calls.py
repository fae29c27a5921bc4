"""Calls drawn at random: what NumPy does with some arguments, ours does with them.

DAPPLED_TEST_CALLS=20 draws so many times as many of them.
"""

import os
import re

import dappled
import pytest
from dappled.coverage.names import table as ways

from tests.fuzz.calls import table

TIMES = int(os.environ.get("DAPPLED_TEST_CALLS", "1"))
PARTS, NUMBER = 6, 330
# Names that are files, iterators and classes, or of dtypes that are not drawn.
ELSEWHERE = """
busday_count busday_offset datetime_as_string fromfile is_busday isnat load loadtxt ndarray nditer
save savetxt savez savez_compressed strides ufunc as_strided to_device tofile coords index
"""


@pytest.mark.parametrize("part", range(PARTS))
def test_what_numpy_does_ours_does(part, monkeypatch):
    monkeypatch.setattr(dappled.config, "fallback", "quiet")
    numbers = range(part, PARTS * NUMBER * TIMES, PARTS)
    found = [table.difference(table.drawn(number)) for number in numbers]
    assert not any(found), "\n".join(filter(None, found))


def test_every_name_is_drawn():
    """Of what is computed where the elements lie."""
    drawn = {word for template in table.TEMPLATES for word in re.findall(r"\w+", template)}
    drawn |= {*ELSEWHERE.split()}
    names = [name for name, way in ways().items() if way in ("native", "piecewise")]
    others = ("char.", "strings.", "testing.")  # of texts, and of what is true
    names = [name for name in names if not name.startswith(others)]
    assert [name for name in names if name.split(".")[-1] not in drawn] == []
