"""Diverging ranks get an error by default; legal differences do not."""

import inspect
import re
from pathlib import Path

import pytest

from tests.ranks import divergence_cases as cases
from tests.ranks.test_no_hang import job

SCRIPT = Path(cases.__file__)
CHECKED = [case.__name__ for case in cases.CHECKED]
LEGAL = [case.__name__ for case in cases.LEGAL]
OTHERS = {"stored", "legal", "main", *CHECKED, *LEGAL}
DIVERGING = [
    name for name, case in vars(cases).items() if inspect.isfunction(case) and name not in OTHERS
]

# The hint of the error, by case.
HINTS = {
    "scalar_of_an_unseeded_generator": "the scalars differ",
    "scalar_assigned": "the scalars differ",
    "view_start": "the indices or slices differ",
    "view_assigned": "the indices or slices differ",
    "which_array": "the arrays differ",
    "dict_in_the_order_of_a_set": "the arrays differ",
    "generator_seeded_by_rank": "the states of the generators differ",
    "numpy_mask_of_as_many": "the elements of a replicated operand differ",
    "shape": "the shapes or dtypes differ",
    "dtype": "the shapes or dtypes differ",
    "quantile": "the arguments of the function differ",
    "distribution": "the distributions differ",
}


def runs():
    """Every case on two ranks, and every third on three."""
    for at, name in enumerate([*DIVERGING, *CHECKED]):
        yield name, 2
        if at % 3 == 0:
            yield name, 3


def test_the_table_is_long_enough():
    assert len(DIVERGING) >= 48 and set(HINTS) <= set(DIVERGING)


@pytest.mark.parametrize(("case", "ranks"), [*runs()])
def test_divergence_is_found(case, ranks, tmp_path):
    check = "1" if case in CHECKED else "0"
    variables = {"DAPPLED_TEST_SAID": str(tmp_path), "DAPPLED_CHECK": check}
    done = job(SCRIPT, case, ranks=ranks, DAPPLED_REPLICATE_BELOW="131072", **variables)
    assert done.returncode != 0
    assert "ranks diverged" in done.stderr, done.stderr
    assert HINTS.get(case, "") in done.stderr, done.stderr
    # Both call sites are in the case, and their lines are shown.
    lines, first = inspect.getsourcelines(getattr(cases, case))
    said = done.stderr.partition("ranks diverged at")[2]
    sites = re.findall(rf"(?m)^  rank \d: .* at \S*{SCRIPT.name}:(\d+)\n +(.*)", said)[:2]
    assert len(sites) == 2, done.stderr
    for number, line in sites:
        known, helper = lines, first
        if not 0 <= int(number) - first < len(lines):  # asked for by the function that both call
            known, helper = inspect.getsourcelines(cases.stored)
        assert known[int(number) - helper].strip() == line


def test_legal_differences_are_not_reported(tmp_path):
    for ranks in (2, 3):
        done = job(
            SCRIPT, "legal", ranks=ranks, DAPPLED_REPLICATE_BELOW="131072",
            DAPPLED_TEST_SAID=str(tmp_path),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert re.findall(r"(?m)^fine (\w+)", done.stdout) == LEGAL
