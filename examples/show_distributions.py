"""A handful of distributions, in the terminal and as pictures in ./demo-output/.

Run it with `make demo`, or `python examples/show_distributions.py`.
"""

import os
import sys
from pathlib import Path

from dappled import show
from dappled.protocol import Distribution

OUTPUT = Path("demo-output")

# File name, what it shows, and the distribution.
DEMOS = (
    (
        "block_block",
        "blocks of rows and columns",
        Distribution((5, 9), "bb", grid_shape=(2, 2)),
    ),
    (
        "block_cyclic",
        "blocks of rows, columns dealt out two at a time",
        Distribution((5, 9), "bc", grid_shape=(2, 2), block_size=(None, 2)),
    ),
    (
        "padded",
        "blocks with a padding of 1: copies of the neighbour's elements, and the two boundaries",
        Distribution((18,), "b", grid_shape=(2,), padding=1),
    ),
    (
        "unstructured",
        "rows and columns on any rank, in any order",
        Distribution(
            (5, 9),
            "uu",
            grid_shape=(2, 2),
            indices=([[3, 0], [4, 2, 1]], [[2, 3, 7, 1], [6, 5, 8, 0, 4]]),
        ),
    ),
    (
        "irregular",
        "blocks of chosen sizes; rank 2 has none",
        Distribution((12,), "b", grid_shape=(4,), bounds=[[0, 2, 7, 7, 12]]),
    ),
    (
        "large",
        "a billion elements on 12 ranks, drawn as regions",
        Distribution((20_000, 50_000), "bb", grid_shape=(3, 4), padding=100),
    ),
)


def main() -> None:
    color = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    for _, meaning, distribution in DEMOS:
        print(f"== {meaning}\n\n{show.text(distribution, color=color)}")
    print_redistribution(DEMOS[0][2], DEMOS[1][2])
    OUTPUT.mkdir(exist_ok=True)
    write_pictures()


def print_redistribution(source: Distribution, target: Distribution) -> None:
    print("== moving the first array into the second distribution: what rank 0 sends\n")
    for peer, boxes in source.sends(0, target):
        ranges = "; ".join(" x ".join(map(describe, box)) for box in boxes)
        print(f"to rank {peer}: its local {ranges}")
    print()


def describe(positions) -> str:
    """One axis of a box: start, stop and step, or the positions themselves."""
    if not isinstance(positions, tuple):
        return str(list(positions))
    start, stop, step = positions
    return f"[{start}:{stop}]" if step == 1 else f"[{start}:{stop}:{step}]"


def write_pictures() -> None:
    print("== pictures\n")
    suffixes = [".svg", ".png"] if has_matplotlib() else [".svg"]
    for name, meaning, distribution in DEMOS:
        paths = [OUTPUT / f"{name}{suffix}" for suffix in suffixes]
        for path in paths:
            show.save(distribution, path)
        print(f"{', '.join(map(str, paths))}: {meaning}")
    if ".png" not in suffixes:
        print("(for PNG files as well: pip install dappled[plot])")


def has_matplotlib() -> bool:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return False
    return True


if __name__ == "__main__":
    main()
