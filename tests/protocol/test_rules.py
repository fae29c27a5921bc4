"""Each rule: which is named, for which dimension, and the message."""

import re

import pytest
from dappled.protocol import (
    Dimension,
    ProtocolError,
    num_owned_indices,
    rules,
    validate,
    validate_all,
)

from tests.protocol.collective_rule_cases import COLLECTIVE, EDGE, FOUR, plane
from tests.protocol.exports import canonical, comparable, export
from tests.protocol.oracle import first_collective_violation, first_violation
from tests.protocol.rule_cases import LOCAL, OLD, TOP, Case, n


def refusal(function, argument):
    with pytest.raises(ProtocolError) as caught:
        function(argument)
    return caught.value


def assert_says(error, says):
    """The message names the rule, the place, what was found and what was expected."""
    text = str(error)
    assert text.startswith(error.rule)
    assert error.expected and error.expected in text
    if error.dimension is not None:
        assert f"dimension {error.dimension}" in text
    if error.key is not None:
        assert error.key in text
    for pattern in says:
        assert re.search(pattern, text), f"{pattern!r} is not in {text!r}"


def named(case: Case) -> str:
    return f"{case.rule}-{case.version}-{case.entries!r:.90}"


@pytest.mark.parametrize("before", [0, 1])
@pytest.mark.parametrize("case", LOCAL, ids=named)
def test_rules_of_one_dimension(case, before):
    first = [n(size=2) if case.version == OLD else {}] * before
    offered = export((*first, case.entries), (*[2] * before, case.extent), case.version)
    error = refusal(validate, offered)
    assert (error.rule, error.dimension) == (case.rule, before)
    assert error.key in ((case.keys,) if isinstance(case.keys, str) else case.keys)
    assert_says(error, case.says)


@pytest.mark.parametrize("rule, offered, key, says", TOP)
def test_rules_of_the_export(rule, offered, key, says):
    error = refusal(validate, offered)
    assert error.rule == rule
    assert error.key in (key, None) if rule == "L01" else error.key == key
    assert_says(error, says)


@pytest.mark.parametrize("rule, exports, dimension, keys, says", COLLECTIVE)
def test_collective_rules(rule, exports, dimension, keys, says):
    for offered in exports:
        validate(offered)
    error = refusal(validate_all, exports)
    assert error.rule == rule
    assert error.dimension == dimension or (rule == "C02" and error.dimension == 0)
    assert error.key in keys
    assert_says(error, says)


def test_the_tables_are_the_oracles():
    """The same tables hold for the oracle, so that tables and fuzzing judge alike."""
    for case in LOCAL:
        offered = export((case.entries,), (case.extent,), case.version)
        assert first_violation(offered) == (case.rule, 0), named(case)
    for rule, offered, *_ in TOP:
        assert first_violation(offered) == (rule, None)
    for rule, exports, dimension, *_ in COLLECTIVE:
        assert first_collective_violation(exports) == (rule, dimension)


def test_every_rule_is_listed_and_tried():
    """C06 follows from L10, L16 and C04, and an export always knows its extent (L05)."""
    local = {f"L{number:02}" for number in range(1, 19)}
    collective = {f"C{number:02}" for number in range(1, 9)}
    assert set(rules()) == local | collective
    assert all(isinstance(text, str) and len(text) > 10 for text in rules().values())
    tried = {case.rule for case in LOCAL} | {row[0] for row in TOP + COLLECTIVE}
    assert tried == (local | collective) - {"C06", "L05"}


@pytest.mark.parametrize("function", [Dimension, num_owned_indices])
def test_an_empty_dictionary_needs_an_extent(function):
    error = refusal(function, {})
    assert error.rule == "L05"
    assert_says(error, ["extent"])


def test_the_error_is_a_value_error():
    error = refusal(validate, {})
    assert isinstance(error, ValueError)
    assert (error.rule, error.dimension) == ("L01", None)


def test_a_collective_error_names_the_rank_of_a_local_one():
    exports = plane(FOUR, FOUR, (4, 4))
    exports[2] = export((FOUR[1], {**FOUR[0], "size": -8}), (4, 4))
    error = refusal(validate_all, exports)
    assert (error.rule, error.dimension, error.key) == ("L07", 1, "size")
    assert "rank 2" in str(error)


def test_boundary_padding_may_differ_and_each_piece_keeps_its_own():
    exports = plane(FOUR, FOUR, (4, 4), rank=1, entries=EDGE)
    distribution = validate_all(exports)
    for rank, offered in enumerate(exports):
        found = comparable(distribution.dim_data(rank))
        assert found == canonical(offered["dim_data"])


def test_zero_dimensions_on_any_number_of_processes():
    distribution = validate_all([export(()) for _ in range(5)])
    assert (distribution.shape, distribution.nprocs) == ((), 5)
