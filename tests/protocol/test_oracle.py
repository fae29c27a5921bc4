"""The oracle agrees with the documents and with itself."""

from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.protocol.document_examples import EXAMPLES
from tests.protocol.exports import comparable, export
from tests.protocol.oracle import (
    exchange,
    filled,
    first_collective_violation,
    first_violation,
    halo,
    pieces,
    view,
)
from tests.protocol.oracle.rules import owned_count, read
from tests.protocol.specs import AxisSpec, Spec
from tests.protocol.strategies import keys, specs


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_documents_keep_the_rules_and_the_maps(example):
    assert first_collective_violation(example.exports) is None
    layout = _layout(example.exports, example.old)
    assert layout.shape == tuple(example.raw["shape"])
    assert layout.exact
    if example.full_array is not None:
        for rank, offered in enumerate(example.exports):
            piece = filled(layout, example.full_array, rank)
            np.testing.assert_array_equal(piece, offered["buffer"])


def test_every_example_is_there():
    sources = [example.raw["source"][:3] for example in EXAMPLES]
    assert {s: sources.count(s) for s in sources} == {"000": 12, "002": 3, "003": 3, "004": 9}


def _layout(exports, old=False):
    shapes = [offered["buffer"].shape for offered in exports]
    return pieces([offered["dim_data"] for offered in exports], shapes, old)


@given(specs(whole=False))
def test_two_constructions_of_a_layout_agree(spec):
    if spec.axes:
        assert _layout(spec.exports()) == spec.layout()
    if spec.axes and spec.old:
        layout = _layout(spec.exports("0.9.0"), old=True)
        assert [axis.cells for axis in layout.axes] == [axis.cells for axis in spec.layout().axes]


@given(specs())
def test_specs_are_right(spec):
    for version in ("0.10.0", "1.0.0", *(["0.9.0"] if spec.old else [])):
        if spec.copies == 1 or not spec.axes:
            assert first_collective_violation(spec.exports(version)) is None
        else:
            assert first_collective_violation(spec.exports(version)) == ("C02", None)


@given(st.integers(0, 40), st.integers(1, 6), st.integers(1, 12))
def test_cyclic_counts(size, grid, block_size):
    axis = AxisSpec("c", size, grid, block_size=block_size)
    counts = [owned_count(read(axis.entries(c), None, False)) for c in range(grid)]
    assert counts == [len(axis.owned(c)) for c in range(grid)]
    assert sum(counts) == size


def test_the_partial_block_is_not_on_rank_0():
    axis = AxisSpec("c", 7, 2, block_size=2)
    assert [len(axis.owned(c)) for c in range(2)] == [4, 3]


@given(st.data(), specs(exact=True))
def test_views_follow_numpy(data, spec):
    array = np.arange(prod(spec.shape)).reshape(spec.shape)
    key = data.draw(keys(spec.shape))
    layout = view(spec.layout(), key)
    seen = array[key]
    assert layout.shape == seen.shape and layout.exact
    for index in layout.indices():
        base = np.unravel_index(seen[index], spec.shape) if spec.shape else ()
        ranks = [rank for rank, _ in layout.owners(index)]
        assert ranks == [rank for rank, _ in spec.layout().owners(base)]


@settings(max_examples=50)
@given(st.data(), specs(exact=True))
def test_an_exchange_writes_every_owned_cell_once(data, spec):
    target = data.draw(specs(shape=spec.shape, exact=True)).layout()
    written = [place for _, _, place in exchange(spec.layout(), target)]
    owned = [place for index in target.indices() for place in target.owners(index)]
    assert sorted(written) == sorted(owned) and len(set(written)) == len(written)


def test_periodic_fill_by_hand():
    """Boundary widths 2 and 1 on size 8: the period is 5, 0 takes 5, 1 takes 6, 7 takes 2."""
    axis = AxisSpec("b", 8, 2, padding=(2, 1, 1), periodic=True)
    sources = halo(Spec((axis,)).layout())
    assert sources == {
        (0, (0,)): (1, (2,)),
        (0, (1,)): (1, (3,)),
        (0, (4,)): (1, (1,)),
        (1, (0,)): (0, (3,)),
        (1, (4,)): (0, (2,)),
    }


def test_old_wrap_by_hand():
    """0.9, size 4 over 2, one outer cell each: it takes the value at the other end."""
    common = {"dist_type": "b", "size": 4, "proc_grid_size": 2, "periodic": True}
    dims = [
        {**common, "proc_grid_rank": 0, "start": 0, "stop": 2, "padding": (1, 1)},
        {**common, "proc_grid_rank": 1, "start": 2, "stop": 4, "padding": (1, 1)},
    ]
    exports = [export((entries,), (4,), "0.9.0") for entries in dims]
    assert first_collective_violation(exports) is None
    sources = halo(_layout(exports, old=True))
    assert sources[0, (0,)] == (1, (2,)) and sources[1, (3,)] == (0, (1,))


def test_canonical_form_of_a_padded_axis():
    """The document's own table: (4, 1), (1, 2), (2, 3), (3, 0)."""
    axis = AxisSpec("b", 40, 4, padding=(4, 1, 2, 3, 0))
    widths = [entries["padding"] for entries in comparable(axis.entries(c) for c in range(4))]
    assert widths == [(4, 1), (1, 2), (2, 3), (3, 0)]


@pytest.mark.parametrize(
    ("change", "violation"),
    [
        ({}, None),
        ({"size": True}, ("L07", 0)),
        ({"start": 1}, ("L10", 0)),
        ({"stop": 4}, ("L11", 0)),
        ({"padding": (3, 3)}, ("L12", 0)),
        ({"periodic": 1}, ("L13", 0)),
        ({"dist_type": "u", "indices": range(2**62)}, ("L17", 0)),
    ],
)
def test_rules_by_hand(change, violation):
    block = {"dist_type": "b", "size": 9, "proc_grid_size": 2, "proc_grid_rank": 0}
    entries = {**block, "start": 0, "stop": 5, **change}
    assert first_violation(export((entries,), (5,))) == violation
