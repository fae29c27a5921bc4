"""One colour for each rank, however many ranks there are.

The first eight are those of Okabe and Ito (2008), chosen to stay apart under every common form
of colour blindness; the next are generated. Colours are `(red, green, blue)` from 0 to 255.
"""

import colorsys
from itertools import product

Color = tuple[int, int, int]

WHITE: Color = (255, 255, 255)
INK: Color = (34, 34, 34)
GREY: Color = (232, 232, 232)

_FIRST: tuple[Color, ...] = (
    (86, 180, 233),  # sky blue
    (230, 159, 0),  # orange
    (0, 158, 115),  # green
    (204, 121, 167),  # purple
    (240, 228, 66),  # yellow
    (0, 114, 178),  # blue
    (213, 94, 0),  # vermilion
    (153, 153, 153),  # grey
)
# Steps of the golden ratio never come back near a hue soon.
_GOLDEN = 0.618033988749895
_LIGHTNESS = (0.72, 0.5, 0.6, 0.4)


def color(rank: int) -> Color:
    """The colour of a rank.

    >>> color(0)
    (86, 180, 233)
    """
    if rank < len(_FIRST):
        return _FIRST[rank]
    lightness = _LIGHTNESS[rank % len(_LIGHTNESS)]
    red, green, blue = colorsys.hls_to_rgb(rank * _GOLDEN % 1, lightness, 0.6)
    return round(red * 255), round(green * 255), round(blue * 255)


def paler(base: Color, share: float) -> Color:
    """A colour mixed with white."""
    red, green, blue = (round(value + (255 - value) * share) for value in base)
    return red, green, blue


def ink(background: Color) -> Color:
    """Dark or white, whichever reads better on the background."""
    return max((INK, WHITE), key=lambda text: contrast(text, background))


def contrast(one: Color, other: Color) -> float:
    """The contrast ratio of two colours, from 1 to 21, as WCAG 2.1 defines it."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(value: Color) -> float:
    channels = (channel / 255 for channel in value)
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def hexadecimal(value: Color) -> str:
    """The colour as SVG and matplotlib write it."""
    return "#{:02x}{:02x}{:02x}".format(*value)


# The 6 x 6 x 6 cube of the 256 colours of a terminal, which starts at number 16.
_LEVELS = (0, 95, 135, 175, 215, 255)
_CUBE = dict(enumerate(product(_LEVELS, repeat=3), start=16))


def ansi256(value: Color) -> int:
    """The nearest of a terminal's 256 colours."""

    def distance(number: int) -> int:
        return sum((a - b) ** 2 for a, b in zip(value, _CUBE[number], strict=True))

    return min(_CUBE, key=distance)
