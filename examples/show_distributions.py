"""Shows distributions in the terminal and as pictures in ./demo-output/.

Run it with `make demo`, or `python examples/show_distributions.py`.
"""

import os
import sys
from pathlib import Path

from dappled import show
from dappled.protocol import Distribution

OUTPUT = Path("demo-output")

# File name, caption, distribution.
DEMOS = (
    (
        "block_block",
        "blocks of rows and columns",
        Distribution((5, 9), "bb", grid_shape=(2, 2)),
    ),
    (
        "block_cyclic",
        "blocks of rows, cyclic columns with a block size of 2",
        Distribution((5, 9), "bc", grid_shape=(2, 2), block_size=(None, 2)),
    ),
    (
        "padded",
        "blocks with a padding of 1: halos between ranks, and the two boundaries",
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
        "blocks of explicit sizes; rank 2 is empty",
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
    for _, caption, distribution in DEMOS:
        print(f"== {caption}\n\n{show.text(distribution, color=color)}")
    print_redistribution(DEMOS[0][2], DEMOS[1][2])
    OUTPUT.mkdir(exist_ok=True)
    write_pictures()


def print_redistribution(source: Distribution, target: Distribution) -> None:
    print("== redistributing the first array to the second distribution: messages of rank 0\n")
    for peer, boxes in source.sends(0, target):
        ranges = "; ".join(" x ".join(map(format_indices, box)) for box in boxes)
        print(f"to rank {peer}: local indices {ranges}")
    print()


def format_indices(indices) -> str:
    """Formats one axis of a box: start, stop and step, or a list of indices."""
    if not isinstance(indices, tuple):
        return str(list(indices))
    start, stop, step = indices
    return f"[{start}:{stop}]" if step == 1 else f"[{start}:{stop}:{step}]"


def write_pictures() -> None:
    print("== pictures\n")
    suffixes = [".svg", ".png"] if has_matplotlib() else [".svg"]
    for name, caption, distribution in DEMOS:
        paths = [OUTPUT / f"{name}{suffix}" for suffix in suffixes]
        for path in paths:
            show.save(distribution, path)
        print(f"{', '.join(map(str, paths))}: {caption}")
    if ".png" not in suffixes:
        print("(install matplotlib to write PNG files too)")


def has_matplotlib() -> bool:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return False
    return True


if __name__ == "__main__":
    main()
