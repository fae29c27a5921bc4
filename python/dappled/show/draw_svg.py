"""A scene as SVG, written by hand: no dependency, and the same bytes every time."""

from xml.sax.saxutils import escape, quoteattr

from dappled.show.palette import INK, WHITE, hexadecimal
from dappled.show.scene import Scene
from dappled.show.shapes import Rect, Text

# White behind everything, so that the dark text reads on a dark page as well.
_HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" \
viewBox="0 0 {width} {height}" role="img" \
font-family="Helvetica, Arial, sans-serif">
<title>{title}</title>
<defs><pattern id="dappled-hatch" width="6" height="6" patternUnits="userSpaceOnUse" \
patternTransform="rotate(45)"><path d="M0 0V6" stroke="{ink}" stroke-opacity="0.45" \
stroke-width="1.6"/></pattern></defs>
<rect class="background" width="{width}" height="{height}" fill="{white}"/>"""

_STROKE = {
    "boundary": f'stroke="{hexadecimal(INK)}" stroke-width="1.4" stroke-dasharray="3 2"',
    "empty": 'stroke="#999999" stroke-dasharray="3 3"',
    "swatch": 'stroke="none"',
}
_PLAIN = f'stroke="{hexadecimal(WHITE)}"'


def draw(scene: Scene) -> str:
    """The scene as the text of an SVG document."""
    head = _HEAD.format(
        width=_number(scene.width),
        height=_number(scene.height),
        title=escape(scene.title),
        ink=hexadecimal(INK),
        white=hexadecimal(WHITE),
    )
    items = (_rect(item) if isinstance(item, Rect) else _text(item) for item in scene.items)
    return "\n".join([head, *items, "</svg>\n"])


def _rect(rect: Rect) -> str:
    # Dashes are drawn inside the box: its neighbours come later and would cover half of them.
    inset = 1.5 if rect.role == "boundary" else 0.0
    at = _place(rect, inset)
    rank = "" if rect.rank is None else f' data-rank="{rect.rank}"'
    hint = f"<title>{escape(rect.hint)}</title>" if rect.hint else ""
    stroke = _STROKE.get(rect.role, _PLAIN)
    fill = hexadecimal(rect.fill)
    box = f'<rect class="{rect.role}"{rank} {at} fill="{fill}" {stroke}>{hint}</rect>'
    if rect.role != "communication":
        return box
    return f'{box}\n<rect class="hatch" {at} fill="url(#dappled-hatch)" pointer-events="none"/>'


def _place(rect: Rect, inset: float) -> str:
    x, y, width, height = (
        _number(value)
        for value in (
            rect.x + inset,
            rect.y + inset,
            max(0.0, rect.width - 2 * inset),
            max(0.0, rect.height - 2 * inset),
        )
    )
    return f'x="{x}" y="{y}" width="{width}" height="{height}"'


def _text(text: Text) -> str:
    bold = ' font-weight="bold"' if text.bold else ""
    # Not dominant-baseline: many viewers ignore it. 0.35 of the size is half a capital's height.
    y = _number(text.y + 0.35 * text.size)
    return (
        f'<text x="{_number(text.x)}" y="{y}" font-size="{_number(text.size)}"'
        f' text-anchor={quoteattr(text.anchor)} fill="{hexadecimal(text.ink)}"{bold}>'
        f"{escape(text.text)}</text>"
    )


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
