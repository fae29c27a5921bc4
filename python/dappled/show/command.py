"""The command `dappled show`."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dappled.show import options, save, text
from dappled.show.draw_png import MissingMatplotlib

if TYPE_CHECKING:
    from dappled.protocol import Distribution

_DESCRIPTION = """\
Show how an array is distributed: which rank owns which element, and what each rank holds.

One value per axis is written with commas: --block-size 2,3. Where an axis takes a list,
axes are separated by ';' and ranks by '/'. An entry left empty doesn't apply to its axis.
A value that starts with a minus needs '=': --indices=-3,0/7,2"""

_EXAMPLES = """\
examples:
  dappled show --shape 5,9 --dist b,c --grid 2,2
  dappled show --shape 5,9 --dist b,c --grid 2,2 --block-size ,2 -o array.svg -o array.png
  dappled show --shape 18 --grid 2 --padding 1
  dappled show --shape 40 --grid 4 --padding 4/1/2/3/0
  dappled show --shape 5,9 --grid 2,2 --bounds '0,1,5;0,7,9'
  dappled show --shape 5,9 --dist u,b --grid 2,1 --indices '3,0/4,2,1;'
  dappled show --shape 1000000,1000000 --nprocs 64"""

# Option, how its text is read, its place holder, and what it means.
_OPTIONS: tuple[tuple[str, Any, str, str], ...] = (
    ("--dist", options.kinds, "KINDS", "kind of each axis: b block (default), c, u or n"),
    ("--grid", options.numbers, "N,..", "ranks along each axis"),
    ("--nprocs", options.number, "N", "number of ranks; the grid is then chosen"),
    ("--block-size", options.per_axis, "N,..", "block size of cyclic axes"),
    (
        "--bounds",
        options.bounds,
        "LISTS",
        "irregular block bounds, from 0 to the size: 0,2,5;0,4,9",
    ),
    ("--indices", options.indices, "LISTS", "labels on each rank of unstructured axes: 3,0/4,2,1;"),
    ("--padding", options.padding, "N,..", "width at every edge; or at each, 4/1/2/3/0"),
)


def add_parser(commands: Any) -> None:
    """Adds `show` to the subcommands."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "show",
        help="draw a distribution",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    shape = "sizes of the axes: 5,9 ('' for a 0-d array)"
    parser.add_argument("--shape", type=options.numbers, metavar="N,..", required=True, help=shape)
    for name, read, metavar, meaning in _OPTIONS:
        parser.add_argument(name, type=read, metavar=metavar, help=meaning)
    _add_switches(parser)
    parser.set_defaults(run=run, parser=parser)


def _add_switches(parser: argparse.ArgumentParser) -> None:
    periodic = "boundary padding is filled from the other end, on all axes or as given"
    parser.add_argument(
        "--periodic", type=options.bools, nargs="?", const=True, metavar="yes,no", help=periodic
    )
    unique = "promise that no label is on two ranks"
    parser.add_argument("--one-to-one", action="store_true", default=None, help=unique)
    output = "also draw to FILE.svg or FILE.png; may be given several times"
    parser.add_argument(
        "-o", "--output", type=_path, action="append", default=[], metavar="FILE", help=output
    )
    plain = "plain text, as when NO_COLOR is set or the output is not a terminal"
    parser.add_argument("--no-color", action="store_true", help=plain)


def _path(text: str) -> Path:
    path = Path(text)
    if path.suffix.lower() not in (".svg", ".png"):
        raise argparse.ArgumentTypeError(f"{text!r} ends neither in .svg nor in .png")
    return path


def run(args: argparse.Namespace) -> int:
    """Draws to the files, then prints; nothing is printed if a file can't be written."""
    distribution = _distribution(args)
    for path in args.output:
        try:
            save(distribution, path)
        except MissingMatplotlib as error:
            args.parser.error(str(error))
        except OSError as error:
            args.parser.error(f"can't write {path}: {error.strerror or error}")
    color = not args.no_color and _colors(sys.stdout)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 110
    print(text(distribution, color=color, width=width), end="")
    print(*(f"\nwrote {path}" for path in args.output), sep="", end="\n" * bool(args.output))
    return 0


def _distribution(args: argparse.Namespace) -> Distribution:
    from dappled.protocol import Distribution, ProtocolError

    parser: argparse.ArgumentParser = args.parser
    try:
        return Distribution(
            args.shape,
            args.dist,
            nprocs=args.nprocs,
            grid_shape=args.grid,
            block_size=args.block_size,
            bounds=args.bounds,
            indices=args.indices,
            padding=args.padding,
            periodic=args.periodic,
            one_to_one=args.one_to_one,
        )
    except ProtocolError as error:
        parser.error(str(error))


def _colors(stream: Any) -> bool:
    """Whether the stream shows colours; see no-color.org."""
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return wanted and stream.isatty()
