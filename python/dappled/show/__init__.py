"""Pictures of distributions: in the terminal, as SVG, as PNG, and in a notebook.

The modules in the order in which a picture is made:

- `runs`, `piece`, `axis` ask the distribution, in a bounded number of questions, and `ranges`
  and `words` say it in text;
- `global_array` and `local_arrays` make tables of cells (`panel`), together a `picture`;
- `table` and `scene` lay a picture out as rectangles and texts (`shapes`, `palette`);
- `draw_svg` and `draw_png` draw a scene, `draw_html` adds a table of ranks, and `terminal`
  writes the global array as text.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dappled.show import draw_html, draw_png, draw_svg
from dappled.show.picture import picture
from dappled.show.scene import scene
from dappled.show.terminal import text

if TYPE_CHECKING:
    from os import PathLike

    from dappled.protocol import Distribution

__all__ = ["html", "png", "save", "svg", "text"]


def svg(distribution: Distribution) -> str:
    """The global array coloured by owner and the local arrays apart, as an SVG document."""
    return draw_svg.draw(scene(picture(distribution)))


def png(distribution: Distribution) -> bytes:
    """The picture as the bytes of a PNG file; needs matplotlib."""
    return draw_png.draw(scene(picture(distribution)))


def html(distribution: Distribution) -> str:
    """The picture as HTML, with a table of the first ranks."""
    return draw_html.draw(distribution, svg(distribution))


def save(distribution: Distribution, path: str | PathLike[str]) -> None:
    """Writes the pictures to a file, as SVG or PNG by its suffix."""
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix == ".svg":
        target.write_text(svg(distribution), encoding="utf-8")
    elif suffix == ".png":
        target.write_bytes(png(distribution))
    else:
        raise ValueError(f"{target}: expected a name that ends in .svg or .png")
