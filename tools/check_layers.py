#!/usr/bin/env python3
"""Checks that modules depend on each other in the order of the pipeline. Run by `make lint`.

Folders below `src` use only folders that come before them in ORDER. `KNOWN` lists the dependencies
that still point up the pipeline; an entry that no longer occurs must be removed, so the list can
only shrink. Only `run` and `session` send messages. No folder of a crate or of the Python package
has more than MAX_FILES files.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_FILES = 22

# Folders and files below `src`, in the order of the pipeline: each may use those before it.
ORDER = {
    "dappled": "error config session view array graph eager plan run dispatch ops "
    "io typed prelude lib",
}

# (user, used): dependencies of crate `dappled` that point up the pipeline.
KNOWN = set()

# Calls that send messages, and the folders of crate `dappled` that may make them.
MESSAGES = re.compile(
    r"\.(exchange|start_exchange|start_sized_exchange|allgather|all_to_all|all_to_all_remote"
    r"|start_all_to_all|start_broadcast|barrier)\("
)
MAY_SEND = {"run", "session"}


def code_of(path):
    """The text of a Rust file without comments and without its tests."""
    return re.sub(r"//[^\n]*", "", path.read_text()).split("#[cfg(test)]")[0]


def dependencies(source):
    """The folders that each folder below `source` uses, with the files that use them."""
    edges = defaultdict(set)
    for path in source.rglob("*.rs"):
        user = path.relative_to(source).parts[0].removesuffix(".rs")
        for used in re.findall(r"\bcrate::(\w+)", code_of(path)):
            if used != user and ((source / used).is_dir() or (source / f"{used}.rs").is_file()):
                edges[user, used].add(str(path.relative_to(ROOT)))
    return edges


def layer_errors(crate, order):
    source = ROOT / "crates" / crate / "src"
    position = {name: index for index, name in enumerate(order)}
    folders = {path.stem for path in source.iterdir()}
    yield from (f"{crate}: {name} is not in ORDER" for name in sorted(folders - set(order)))
    up = {
        edge: files
        for edge, files in dependencies(source).items()
        if position.get(edge[0], -1) < position.get(edge[1], -1)
    }
    for (user, used), files in sorted(up.items()):
        if (user, used) not in KNOWN:
            yield f"{crate}: {user} uses {used}, which comes after it: {', '.join(sorted(files))}"
    for edge in sorted(KNOWN - set(up)):
        yield f"{crate}: {edge} occurs no longer; remove it from KNOWN"


def sender_errors():
    source = ROOT / "crates" / "dappled" / "src"
    for path in sorted(source.rglob("*.rs")):
        folder = path.relative_to(source).parts[0]
        if folder not in MAY_SEND and MESSAGES.search(code_of(path)):
            name = path.relative_to(source)
            yield f"dappled: {name} sends messages; only {', '.join(sorted(MAY_SEND))} may"


def crowded():
    for top in [*sorted((ROOT / "crates").glob("*/src")), ROOT / "python" / "dappled"]:
        for folder in [top, *(path for path in top.rglob("*") if path.is_dir())]:
            files = [path for path in folder.iterdir() if path.suffix in (".rs", ".py")]
            if len(files) > MAX_FILES:
                yield f"{folder.relative_to(ROOT)}: {len(files)} files, more than {MAX_FILES}"


def main():
    errors = [
        error for crate, order in ORDER.items() for error in layer_errors(crate, order.split())
    ]
    errors += sender_errors()
    errors += crowded()
    print(*errors, sep="\n", end="\n" if errors else "")
    sys.exit(bool(errors))


if __name__ == "__main__":
    main()
