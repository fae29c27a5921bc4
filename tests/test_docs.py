"""The documentation: its examples run, and generated parts are current."""

import doctest
import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = ["README.md", "docs/array.md", "docs/distributed.md", "docs/interop.md", "docs/protocol.md"]


def load_generator(name):
    """A module of docs/ that generates pages."""
    spec = importlib.util.spec_from_file_location(name, ROOT / f"docs/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_run(page):
    failed, tried = doctest.testfile(str(ROOT / page), module_relative=False)
    assert tried > 3 and failed == 0


def test_pictures_and_rules_are_current():
    made = load_generator("make_pictures")
    for name, picture in made.render_pictures().items():
        kept = (ROOT / "docs/pictures" / f"{name}.svg").read_text()
        assert kept == picture, "run `make docs`"
    page = (ROOT / "docs/protocol.md").read_text()
    assert page == made.with_rules(page), "run `make docs`"


def test_thresholds_are_current():
    page = load_generator("make_thresholds").render_thresholds()
    assert page.count("\n| `") > 100
    assert (ROOT / "docs/thresholds.md").read_text() == page, "run `make docs`"


@pytest.mark.parametrize(
    "page",
    [
        *PAGES,
        "docs/running.md",
        "docs/thresholds.md",
        "docs/rust.md",
        "docs/design.md",
        "docs/coverage.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
    ],
)
def test_links_lead_somewhere(page):
    path = ROOT / page
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
        assert (path.parent / target).exists(), target


def test_every_environment_variable_is_in_the_table():
    files = [*(ROOT / "python").rglob("*.py"), *(ROOT / "crates").glob("*/src/**/*.rs")]
    used = {
        name for file in files for name in re.findall(r"\bDAPPLED_[A-Z_]*[A-Z]\b", file.read_text())
    }
    page = (ROOT / "docs/running.md").read_text()
    listed = set(re.findall(r"^\| `(DAPPLED_[A-Z_]+)`", page, re.MULTILINE))
    # `DAPPLED_FALLBACK` is read by its setting's name.
    assert used | {"DAPPLED_FALLBACK"} == listed | {"DAPPLED_LAUNCHED"}
