"""Draws the pictures of README.md and docs/, and generates the table of rules."""

from pathlib import Path
from typing import Any

import dappled as np
from dappled import show
from dappled.protocol import Distribution, rules

DOCS = Path(__file__).parent
PICTURES = {
    "block_cyclic": Distribution((5, 9), "bc", grid_shape=(2, 2)),
    "padded": Distribution((18,), nprocs=2, padding=1),
    "unstructured": Distribution(
        (5, 9),
        "uu",
        indices=[[[3, 0], [4, 2, 1]], [[2, 3, 7, 1], [6, 5, 8, 0, 4]]],
    ),
}
SIZE, ITERATIONS, SCALE = 61, 5000, 5
START, END = "<!-- rules: made by docs/make_pictures.py -->", "<!-- end of rules -->"


def render_pictures() -> dict[str, str]:
    """Returns every picture as SVG, by name."""
    pictures = {name: show.svg(distribution) for name, distribution in PICTURES.items()}
    return pictures | {"laplace": laplace_svg()}


def laplace_svg() -> str:
    """Draws the solution of the README's example in bands; it decreases along columns."""
    u = np.zeros((SIZE, SIZE))
    u[0] = 1
    for _ in range(ITERATIONS):
        u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
    columns = u.T.tolist()
    side = (SIZE - 1) * SCALE
    bands = "\n".join(band(columns, tenths) for tenths in range(1, 10))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {side} {side}" width="{side}">
<title>Laplace's equation: 1 along the upper edge, 0 along the others</title>
<rect width="{side}" height="{side}" fill="hsl(250 60% 12%)"/>
{bands}
</svg>
"""


def band(columns: list[Any], tenths: int) -> str:
    """Returns the polygon where the solution is at least `tenths` / 10."""
    corners = [
        f"{x * SCALE},{depth(column, tenths / 10) * SCALE:.1f}" for x, column in enumerate(columns)
    ]
    points = " ".join(["0,0", *corners[1:-1], f"{(SIZE - 1) * SCALE},0"])
    return f'<polygon points="{points}" fill="hsl({270 + 14 * tenths} 75% {12 + 7 * tenths}%)"/>'


def depth(column: list[float], level: float) -> float:
    """Returns the row at which a column falls below a level, by linear interpolation."""
    below = next(row for row, value in enumerate(column) if value < level)
    upper, lower = column[below - 1], column[below]
    return below - 1 + (upper - level) / (upper - lower)


def rules_table() -> str:
    """Returns the rules as a Markdown table."""
    rows = (f"| {rule} | {text} |" for rule, text in rules().items())
    return "\n".join(["| id | rule |", "|---|---|", *rows])


def with_rules(page: str) -> str:
    """Returns the page with its table of rules replaced by the current rules."""
    before, rest = page.split(START)
    return f"{before}{START}\n{rules_table()}\n{END}{rest.split(END)[1]}"


def main() -> None:
    """Writes the pictures and the table."""
    for name, picture in render_pictures().items():
        (DOCS / "pictures" / f"{name}.svg").write_text(picture)
    page = DOCS / "protocol.md"
    page.write_text(with_rules(page.read_text()))


if __name__ == "__main__":
    main()
