"""The table of names as text, for the terminal and for docs/coverage.md."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping

import numpy

from dappled.coverage.execution import EXECUTIONS

MEANINGS = {
    "native": "computed by us where the elements lie; no rank has the whole of an array",
    "piecewise": "computed by NumPy on each rank's piece; no rank has the whole of an array",
    "gathered": "computed by NumPy on an array that is brought together on every rank",
    "not arrays": "types, constants, settings: no array is seen",
}
_HEAD = """\
# Which names are native

<!-- made by `dappled coverage --markdown`: run `make docs` -->

Every public name of NumPy {version} works on any number of ranks. On several of them it is computed
in one of these ways:

| way | names | meaning |
|---|---|---|
{counts}

On one process nothing is gathered: what is not native is computed by NumPy on the array's own
memory. A native function may still hand rare arguments to NumPy; a `FallbackWarning` then says so.
Every name that is native is called in the tests on three ranks, with gathering forbidden.
`dappled coverage NAME ...` says it of single names.
"""


def counts(table: Mapping[str, str]) -> dict[str, int]:
    """The number of names of each execution."""
    return {way: list(table.values()).count(way) for way in EXECUTIONS}


def summary(table: Mapping[str, str]) -> str:
    """The numbers alone."""
    rows = (f"{index:5}  {way:10}  {MEANINGS[way]}" for way, index in counts(table).items())
    return "\n".join([f"NumPy {numpy.__version__}: {len(table)} public names", *rows])


def listed(table: Mapping[str, str], names: list[str]) -> str:
    """The way of each of these names, a line each."""
    return "\n".join(f"{table[name]:10}  {name}" for name in names)


def markdown(table: Mapping[str, str]) -> str:
    """The page in docs/."""
    rows = (f"| {way} | {index} | {MEANINGS[way]} |" for way, index in counts(table).items())
    head = _HEAD.format(version=minor(numpy.__version__), counts="\n".join(rows))
    return "\n".join([head, *(_section(table, way) for way in EXECUTIONS)])


def minor(version: str) -> str:
    """A version without what does not change names: '2.4.6' is '2.4'."""
    return ".".join(version.split(".")[:2])


def _section(table: Mapping[str, str], way: str) -> str:
    names = [name for name, result in table.items() if result == way]
    return f"## {way.capitalize()}\n\n" + "\n".join(_groups(names))


def _groups(names: list[str]) -> Iterator[str]:
    """The names of each module, the module in front."""
    modules = dict.fromkeys(name.rpartition(".")[0] for name in names)
    for module in modules:
        own = [name.rpartition(".")[2] for name in names if name.rpartition(".")[0] == module]
        text = " ".join(f"`{name}`" for name in own)
        title = f"**numpy.{module}**".replace(".**", "**")
        yield textwrap.fill(f"{title}: {text}", 110, break_on_hyphens=False) + "\n"
