"""Unsafe Rust code is in the modules that docs/design.md lists, and nowhere else."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CRATES = sorted(path for path in (ROOT / "crates").iterdir() if (path / "src").is_dir())
ALLOW = "#[allow(unsafe_code)]"


def code_of(path):
    """The text of a Rust file without comments and strings."""
    lines = (re.sub(r"^\s*//.*|\s//\s.*", "", line) for line in path.read_text().splitlines())
    return "\n".join(re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', line) for line in lines)


def module_of(path, source):
    """The name of a file's module: `loops/reduce`; that of a folder for its `mod.rs`."""
    return str(path.relative_to(source).with_suffix("")).removesuffix("/mod")


def listed(crate):
    """The modules of a crate that the table in the documentation names."""
    text = (ROOT / "docs" / "design.md").read_text()
    row = re.search(rf"^\| {crate.name} \| (.*) \|$", text, re.M)
    assert row, f"docs/design.md has no row for {crate.name}"
    return set(re.findall(r"`([^`]+)`", row[1]))


def unsafe_modules(crate):
    source = crate / "src"
    files = (path for path in source.rglob("*.rs") if re.search(r"\bunsafe\b", code_of(path)))
    return {module_of(path, source) for path in files}


def allowed_modules(crate):
    """The modules that are allowed to: by the attribute of their declaration, or of an item."""
    source, found = crate / "src", set()
    for path in source.rglob("*.rs"):
        folder = path.parent if path.name in ("lib.rs", "mod.rs") else path.with_suffix("")
        for after in code_of(path).split(ALLOW)[1:]:
            declared = re.match(r"(?:\s|#\[[^\]]*\])*(?:pub(?:\([^)]*\))? )?mod (\w+);", after)
            at = folder / f"{declared[1]}.rs" if declared else path
            found.add(module_of(at, source))
    return found


@pytest.mark.parametrize("crate", CRATES, ids=lambda path: path.name)
def test_unsafe_code_is_where_the_documentation_says(crate):
    modules = unsafe_modules(crate)
    assert modules == listed(crate)
    assert modules == allowed_modules(crate)
    level = "deny" if modules else "forbid"
    assert f"#![{level}(unsafe_code)]" in (crate / "src" / "lib.rs").read_text()


@pytest.mark.parametrize("crate", CRATES, ids=lambda path: path.name)
def test_every_unsafe_block_says_why_it_is_sound(crate):
    """A SAFETY comment comes just before it."""
    for path in (crate / "src").rglob("*.rs"):
        lines = path.read_text().splitlines()
        for number, line in enumerate(lines):
            said = re.sub(r"//.*", "", line)
            if re.search(r"\bunsafe (\{|impl)", said):
                before = lines[max(0, number - 8) : number + 2]
                assert any("SAFETY:" in text for text in before), f"{path}:{number + 1}"
