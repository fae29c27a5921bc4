"""The command `dappled run`."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from typing import Any

from dappled.launch import job, mpiexec

_DESCRIPTION = """\
Run a program on several ranks, as `python` would run it on one.

The ranks share the cores. What rank 0 prints is shown; the exit status is the program's."""

_EXAMPLES = """\
examples:
  dappled run -n 4 laplace.py
  dappled run -n 4 --as-numpy script.py 1000     'import numpy' in script.py means dappled
  dappled run -n 2 --all-output -m package.tool --its-option
  dappled run -n 2 -c 'import dappled as np; print(np.ones(10**6).sum())'"""


def add_parser(commands: Any) -> None:
    """Adds `run` to the subcommands."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "run",
        help="run a program on several ranks",
        usage="dappled run [-n N] [option ...] {script.py | -m MODULE | -c CODE} [argument ...]",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    ranks = "ranks; 1, the default, needs no MPI"
    parser.add_argument("-n", dest="ranks", type=_count, default=1, metavar="N", help=ranks)
    threads = "threads of each rank; as a rule, its share of the cores"
    parser.add_argument("--threads", type=_count, metavar="T", help=threads)
    numpy = "'import numpy' means dappled in the program, not in the libraries that it uses"
    parser.add_argument("--as-numpy", action="store_true", help=numpy)
    everything = "show what every rank prints, each line with its rank"
    parser.add_argument("--all-output", action="store_true", help=everything)
    _add_program(parser)
    parser.set_defaults(run=run, parser=parser)


def _add_program(parser: argparse.ArgumentParser) -> None:
    """What is to be run. It and all behind it is the program's."""
    rest = argparse.REMAINDER
    module, code = "a module, and its arguments", "a program, and its arguments"
    parser.add_argument("-m", dest="module", nargs=rest, metavar="...", help=module)
    parser.add_argument("-c", dest="code", nargs=rest, metavar="...", help=code)
    parser.add_argument("script", nargs=rest, help="a file, and its arguments")


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of at least 1")
    return int(text)


def run(args: argparse.Namespace) -> int:
    """Runs the program: on one rank in place of this process."""
    parser: argparse.ArgumentParser = args.parser
    program = job.Program(_command(args), args.ranks, args.threads, args.all_output)
    sys.stdout.flush()
    if program.ranks == 1:
        os.execve(program.command[0], program.command, _alone(program))
    launcher = mpiexec.find(os.environ)
    if launcher is None:
        parser.error(mpiexec.ADVICE)
    try:
        return job.run(program, launcher)
    except OSError as error:
        if error.filename != launcher.program:
            raise
        parser.error(f"can't start {launcher.program}: {error.strerror}")


def _command(args: argparse.Namespace) -> list[str]:
    """How Python is called, by every rank."""
    parser: argparse.ArgumentParser = args.parser
    forms = {"-m": args.module, "-c": args.code, "": args.script}
    form, words = next(((form, words) for form, words in forms.items() if words), ("", None))
    if not words:
        parser.error("nothing to run: expected a script, -m MODULE or -c CODE")
    flags: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    called = [form, *words] if form else words
    if args.as_numpy:
        flags = [*flags, "-P", "-c", "from dappled.as_numpy.main import main; main()"]
    return [sys.executable, *flags, *called]


def _alone(program: job.Program) -> dict[str, str]:
    """The environment of a program on one rank: no MPI, and all cores unless it is said."""
    threads = {"DAPPLED_THREADS": str(program.threads)} if program.threads else {}
    return {**os.environ, "DAPPLED_FABRIC": "solo", **threads}
