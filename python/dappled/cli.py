"""The command `dappled`: one subcommand a module, which offers `add_parser`.

`add_parser` sets `run`, which takes the parsed arguments and returns the exit status, and
`parser`, whose `error` says what is wrong with them: one line, exit status 2.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import NoReturn

from dappled.coverage import command as coverage
from dappled.launch import command as run
from dappled.launch import doctor
from dappled.show import command as show

COMMANDS = (run, show, doctor, coverage)


class Parser(argparse.ArgumentParser):
    """Prints errors in one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        """Ends the program with status 2."""
        self.exit(2, f"{self.prog}: {message}\n")


def parser() -> Parser:
    """The parser of all subcommands."""
    top = Parser(
        prog="dappled", description="Distributed NumPy arrays, seen from the command line."
    )
    top.add_argument("--version", action="version", version=f"dappled {version('dappled')}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for module in COMMANDS:
        module.add_parser(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns the exit status."""
    args = parser().parse_args(arguments)
    try:
        status: int = args.run(args)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has enough. Python would complain once more when it closes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status
