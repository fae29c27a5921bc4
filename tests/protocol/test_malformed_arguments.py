"""Invalid arguments of constructors and functions raise ProtocolError."""

import numpy as np
import pytest
from dappled.protocol import (
    Dimension,
    Distribution,
    Piece,
    ProtocolError,
    from_distarray,
    num_owned_indices,
    validate,
    validate_all,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.protocol.invalid_values import PLAIN, POOL, Raising, junk
from tests.protocol.mutations import changes, mutated
from tests.protocol.oracle import Unspecified
from tests.protocol.oracle.rules import first_of_dim
from tests.protocol.strategies import specs

ARGUMENTS = (
    "shape", "dist", "nprocs", "grid_shape", "block_size", "bounds", "indices", "padding",
    "periodic", "one_to_one",
)  # fmt: skip
choices = st.lists(st.tuples(st.integers(0, 2**20), st.integers(0, 2**20)), max_size=12)


def refused(function, *args, **kwargs):
    """The rule of the ProtocolError, None where the call succeeds."""
    try:
        function(*args, **kwargs)
    except ProtocolError as error:
        return error.rule
    return None


@settings(max_examples=300)
@given(specs(), choices)
def test_distribution_arguments(spec, batch):
    right = spec.arguments()
    for where, what in batch:
        name = ARGUMENTS[where % len(ARGUMENTS)]
        value = wrong(right.get(name), where // 16, what)
        refused(Distribution, **{**right, name: value})


def wrong(value, where, what):
    """A value replaced, or one item of it, or one item of an item."""
    if where % 3 == 0 or not isinstance(value, list | tuple) or not value:
        return junk(what)
    items = list(value)
    at = where // 3 % len(items)
    items[at] = wrong(items[at], where // 3, what)
    return items


@pytest.mark.parametrize("name", ARGUMENTS)
def test_every_argument_refuses_a_stranger(name):
    right = {"shape": (4,), name: Raising()}
    assert refused(Distribution, **right) is not None


@settings(max_examples=200)
@given(specs(whole=False), st.lists(changes, min_size=5, max_size=5))
def test_dimension_dictionaries(spec, batch):
    for number, change in enumerate(batch):
        export = mutated(spec.exports()[number % spec.nprocs], change)
        dims = export.get("dim_data")
        if not isinstance(dims, tuple):
            continue
        for entries in dims:
            _compare_dimension(entries)


def _compare_dimension(entries):
    found = {refused(Dimension, entries), refused(num_owned_indices, entries)}
    if not isinstance(entries, dict):
        assert None not in found
        return
    try:
        assert found == {first_of_dim(entries, None, False)}
    except Unspecified:
        return


@pytest.mark.parametrize("choice", range(0, POOL, 3))
def test_strange_extents_and_versions(choice):
    block = {"dist_type": "b", "size": 3, "proc_grid_size": 1, "proc_grid_rank": 0}
    block |= {"start": 0, "stop": 3}
    for function in (Dimension, num_owned_indices):
        refused(function, block, junk(choice))
        refused(function, block, version=junk(choice))
        refused(function, {}, junk(choice))


@settings(max_examples=100)
@given(specs(whole=False), choices)
def test_from_dim_data(spec, batch):
    per_rank = [spec.dim_data(rank) for rank in range(spec.nprocs)]
    shapes = [spec.layout().local_shape(rank) for rank in range(spec.nprocs)]
    for where, what in batch:
        refused(Distribution.from_dim_data, wrong(per_rank, where, what), local_shapes=shapes)
        refused(Distribution.from_dim_data, per_rank, local_shapes=wrong(shapes, where, what))
        refused(Distribution.from_dim_data, per_rank, version=junk(what))


@settings(max_examples=200)
@given(specs(), st.lists(changes, min_size=5, max_size=5))
def test_piece_refuses_what_validate_refuses(spec, batch):
    for number, change in enumerate(batch):
        export = mutated(spec.exports()[number % spec.nprocs], change)
        if set(export) == {"__version__", "buffer", "dim_data"}:
            version, buffer, dim_data = (export[k] for k in ("__version__", "buffer", "dim_data"))
            assert refused(Piece, buffer, dim_data, version=version) == refused(validate, export)


@pytest.mark.parametrize("value", [junk(choice) for choice in range(POOL)], ids=type)
def test_anything_is_refused_as_an_export(value):
    assert refused(validate, value) == "L01"
    assert refused(from_distarray, value) == "L01"
    if not isinstance(value, list | tuple | dict | set | frozenset):
        assert refused(validate_all, value) is not None


def test_a_key_that_raises_when_compared():
    """It has the hash of 'size', so that looking for 'size' asks it whether it is."""

    class Colliding:
        asked = False

        def __hash__(self):
            return hash("size")

        def __eq__(self, other):
            if Colliding.asked:
                raise RuntimeError("hostile")
            return False

    entries = {Colliding(): 0, "dist_type": "b", "size": 2, "proc_grid_size": 1}
    entries |= {"proc_grid_rank": 0, "start": 0, "stop": 2}
    Colliding.asked = True
    export = {"__version__": "0.10.0", "buffer": np.zeros(2), "dim_data": (entries,)}
    assert refused(validate, export) in (None, "L04", "L07")


def test_there_is_junk_of_every_kind():
    assert len({type(value) for value in PLAIN}) > 30
