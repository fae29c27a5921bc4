"""A scene as PNG, drawn by matplotlib, which is only needed and only imported here."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

from dappled.show.palette import INK, WHITE, hexadecimal
from dappled.show.scene import Scene
from dappled.show.shapes import Rect, Role, Text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DPI = 100.0  # pixels of the scene to an inch of the figure
SCALE = 2.0  # pixels of the file to one of the scene
SIDE = 30_000.0  # pixels of the file at most: matplotlib refuses more than 65536
_ALIGN = {"start": "left", "middle": "center", "end": "right"}


class MissingMatplotlib(ImportError):
    """PNG was asked for and matplotlib is not installed."""

    def __init__(self) -> None:
        super().__init__("PNG needs matplotlib: pip install dappled[plot]")


def draw(scene: Scene) -> bytes:
    """The scene as the bytes of a PNG file."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingMatplotlib from error
    # No pyplot: the user's own figures and backend are none of our business.
    figure = Figure(figsize=(scene.width / DPI, scene.height / DPI), facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, scene.width), ylim=(scene.height, 0))
    axes.set_axis_off()
    _rects(axes, [item for item in scene.items if isinstance(item, Rect)])
    for item in scene.items:
        if isinstance(item, Text):
            _text(axes, item)
    file = BytesIO()
    scale = min(SCALE, SIDE / max(scene.width, scene.height))
    figure.savefig(file, format="png", dpi=DPI * scale)
    return file.getvalue()


def _rects(axes: Axes, rects: list[Rect]) -> None:
    """All rectangles, those of one role together: one by one, thousands take seconds."""
    from matplotlib.collections import PolyCollection

    roles: dict[Role, list[Rect]] = {}
    for rect in rects:
        roles.setdefault(rect.role, []).append(rect)
    for role, alike in roles.items():
        fills = [hexadecimal(rect.fill) for rect in alike]
        corners = [_corners(rect) for rect in alike]
        axes.add_collection(
            PolyCollection(corners, facecolors=fills, **_style(role)), autolim=False
        )


def _corners(rect: Rect) -> list[tuple[float, float]]:
    inset = 1.5 if rect.role == "boundary" else 0.0
    left, right = rect.x + inset, rect.x + rect.width - inset
    top, bottom = rect.y + inset, rect.y + rect.height - inset
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def _style(role: Role) -> dict[str, Any]:
    plain = {"edgecolors": hexadecimal(WHITE), "linewidths": 0.75}
    if role == "communication":
        return plain | {"hatch": "////", "hatchcolor": "#22222273"}
    if role == "boundary":
        return {"edgecolors": hexadecimal(INK), "linewidths": 1.0, "linestyles": [(0, (3, 2))]}
    if role == "empty":
        return plain | {"edgecolors": "#999999", "linestyles": [(0, (3, 3))]}
    return plain


def _text(axes: Axes, text: Text) -> None:
    axes.text(
        text.x,
        text.y,
        # A dollar would start a formula.
        text.text.replace("$", r"\$"),
        size=text.size * 72 / DPI,
        color=hexadecimal(text.ink),
        weight="bold" if text.bold else "normal",
        ha=_ALIGN[text.anchor],
        va="center_baseline",
    )
