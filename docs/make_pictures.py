"""Draws the pictures of README.md and docs/, and fills in what is generated."""

from pathlib import Path

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
START, END = "<!-- rules: made by docs/make_pictures.py -->", "<!-- end of rules -->"


def rules_table() -> str:
    """The rules as Markdown."""
    rows = (f"| {rule} | {text} |" for rule, text in rules().items())
    return "\n".join(["| id | rule |", "|---|---|", *rows])


def with_rules(page: str) -> str:
    """The page with the rules as the code has them."""
    before, rest = page.split(START)
    return f"{before}{START}\n{rules_table()}\n{END}{rest.split(END)[1]}"


def main() -> None:
    """Writes the files."""
    for name, distribution in PICTURES.items():
        (DOCS / "pictures" / f"{name}.svg").write_text(show.svg(distribution))
    page = DOCS / "protocol.md"
    page.write_text(with_rules(page.read_text()))


if __name__ == "__main__":
    main()
