"""Malformed exports: accepted where the oracle accepts them, else the violated rule is named."""

from collections import Counter
from functools import partial

from dappled.protocol import ProtocolError, validate, validate_all
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.protocol.inconsistent_exports import disturbed
from tests.protocol.mutations import batches, mutated
from tests.protocol.oracle import Unspecified, first_collective_violation, first_violation, unlike
from tests.protocol.strategies import specs

TOTAL = 20_000
BATCH = 25
LONGEST_MESSAGE = 2_000
# A batch takes minutes to shrink, and the export that failed is printed anyway.
unshrunk = partial(settings, phases=[Phase.generate])


def outcome(function, argument):
    """(rule, dimension) of the ProtocolError, or None; nothing else may be raised."""
    try:
        function(argument)
    except ProtocolError as error:
        assert len(str(error)) < LONGEST_MESSAGE
        assert error.rule in str(error)
        return error.rule, error.dimension
    return None


def assert_agrees(found, oracle, argument):
    """The same rule; the same dimension where the text says that there is one."""
    try:
        violation = oracle(argument)
    except Unspecified:
        return
    if violation is not None and violation[0] in ("L04", "C02") and found is not None:
        found = found[0], violation[1]  # a bad element may be named by its place or not
    if violation is not None and violation[0] == "C01" and found in unlike(argument):
        return  # of several differences the text does not say which is the first
    assert found == violation, shown(argument)


def shown(argument):
    """All of it, where it can be printed at all."""
    try:
        return repr(argument)
    except Exception:
        return f"{type(argument)}, which cannot be printed"


def described(spec, choice):
    """The exports of a spec in one of the versions that can say it."""
    versions = ["0.10.0", "1.0.0", *(["0.9.0", "0.9.0"] if spec.old else [])]
    return spec.exports(versions[choice % len(versions)])


def test_twenty_thousand_exports():
    tried = Counter()

    @unshrunk(max_examples=TOTAL // BATCH)
    @given(specs(), st.integers(0, 3), batches(BATCH))
    def run(spec, version, batch):
        exports = described(spec, version)
        for number, change in enumerate(batch):
            export = mutated(exports[number % len(exports)], change)
            found = outcome(validate, export)
            assert_agrees(found, first_violation, export)
            tried[found and found[0]] += 1

    run()
    assert tried.total() >= TOTAL
    assert set(tried) == {None, *(f"L{number:02}" for number in range(1, 19) if number != 5)}


def test_malformed_sets_of_exports():
    tried = Counter()

    @unshrunk(max_examples=800)
    @given(specs(), st.integers(0, 3), st.integers(0, 127), batches(10))
    def run(spec, version, first, batch):
        right = described(spec, version)
        for number, change in enumerate(batch):
            choice = (first + 13 * number) % 128  # a step with which all come in turn
            exports = disturbed(right, choice, change)
            found = outcome(validate_all, exports)
            assert_agrees(found, first_collective_violation, exports)
            tried[found and found[0]] += 1

    run()
    assert {None, "C01", "C02", "C03", "C04", "C05", "C07", "C08"} <= set(tried)


def test_no_exports_at_all():
    assert outcome(validate_all, [])[0].startswith("C")
