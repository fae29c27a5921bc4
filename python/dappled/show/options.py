"""From the text of a command line option to what `Distribution` takes.

One notation for all: `,` between axes (or between numbers of a list), `;` between axes whose
entries are lists, `/` between ranks. An entry left empty doesn't apply to its axis.
"""

from __future__ import annotations

from argparse import ArgumentTypeError

_BOOLS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


def number(text: str) -> int:
    """An integer; the error names the text."""
    try:
        return int(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not an integer") from None


def numbers(text: str) -> list[int]:
    """Integers with commas between them; none in an empty text.

    >>> numbers("5,9")
    [5, 9]
    """
    return [number(part) for part in text.split(",")] if text.strip() else []


def kinds(text: str) -> str:
    """The letters of axis maps, with or without commas.

    >>> kinds("b,c")
    'bc'
    """
    return text.replace(",", "").replace(" ", "")


def per_axis(text: str) -> int | list[int | None]:
    """One integer for all axes, or one for each.

    >>> per_axis("2"), per_axis(",2")
    (2, [None, 2])
    """
    if "," not in text:
        return number(text)
    return [number(part) if part.strip() else None for part in text.split(",")]


def bools(text: str) -> bool | list[bool | None]:
    """`yes` or `no` for all axes, or for each.

    >>> bools("yes"), bools("yes,")
    (True, [True, None])
    """
    found = [_bool(part.strip()) for part in text.split(",")]
    return bool(found[0]) if len(found) == 1 else found


def _bool(text: str) -> bool | None:
    if not text:
        return None
    if text.lower() not in _BOOLS:
        raise ArgumentTypeError(f"{text!r} is neither yes nor no")
    return _BOOLS[text.lower()]


def bounds(text: str) -> list[list[int] | None]:
    """A list for each axis.

    >>> bounds("0,2,5;")
    [[0, 2, 5], None]
    """
    return [numbers(part.replace("/", ",")) or None for part in text.split(";")]


def indices(text: str) -> list[list[list[int]] | None]:
    """For each axis, a list of labels for each rank.

    >>> indices("3,0/4,2,1;")
    [[[3, 0], [4, 2, 1]], None]
    """
    return [
        [numbers(rank) for rank in part.split("/")] if part.strip() else None
        for part in text.split(";")
    ]


def padding(text: str) -> int | list[int | list[int] | None]:
    """Integers as `per_axis`; or for each axis one width, or the widths at all edges.

    >>> padding("1"), padding("4/1/2/3/0"), padding("1/0/1;2")
    (1, [[4, 1, 2, 3, 0]], [[1, 0, 1], 2])
    """
    if ";" not in text and "/" not in text:
        return per_axis(text)  # type: ignore[return-value]
    return [_widths(part) for part in text.split(";")]


def _widths(text: str) -> int | list[int] | None:
    if "/" in text:
        return [number(width) for width in text.split("/")]
    return number(text) if text.strip() else None
