"""The command `dappled coverage`."""

from __future__ import annotations

import argparse
from typing import Any

_DESCRIPTION = "Say how NumPy's public names are computed on several ranks."
_EXAMPLES = """\
examples:
  dappled coverage                          how many names are native, piecewise, gathered
  dappled coverage linalg.norm ndarray.sum  the way of these names
  dappled coverage --way gathered           all names that are gathered
  dappled coverage --markdown               the whole table: docs/coverage.md"""


def add_parser(commands: Any) -> None:
    """Adds `coverage` to the subcommands."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "coverage",
        help="which of NumPy's names are native",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = "names of NumPy's, such as sum, linalg.norm or ndarray.sum"
    parser.add_argument("names", nargs="*", metavar="NAME", help=names)
    parser.add_argument("--way", help="all names of one way: native, piecewise or gathered")
    parser.add_argument("--markdown", action="store_true", help="the whole table, for the docs")
    parser.set_defaults(run=run, parser=parser)


def run(args: argparse.Namespace) -> int:
    """Prints the table, or a part of it."""
    from dappled.coverage import names, page  # which look at all of NumPy

    table = names.table()
    if args.markdown:
        print(page.markdown(table), end="")
    elif args.names or args.way:
        print(page.listed(table, _asked(args, table)))
    else:
        print(page.summary(table))
    return 0


def _asked(args: argparse.Namespace, table: dict[str, str]) -> list[str]:
    parser: argparse.ArgumentParser = args.parser
    given = [name.removeprefix("numpy.").removeprefix("np.") for name in args.names]
    if unknown := [name for name in given if name not in table]:
        parser.error(f"{unknown[0]!r} is no public name of NumPy's")
    if args.way and args.way not in table.values():
        ways = ", ".join(sorted(set(table.values())))
        parser.error(f"no way {args.way!r}: there are {ways}")
    of_way = [name for name, way in table.items() if way == args.way]
    return [name for name in given or of_way if args.way in (None, table[name])]
