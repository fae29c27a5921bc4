"""All templates of random calls, and calls by number."""

from tests.fuzz.calls import elements, indexing, linalg, random_numbers, reductions, shaping
from tests.fuzz.calls.draw import Call
from tests.fuzz.calls.outcome import compared

CHAPTERS = (elements, reductions, shaping, indexing, linalg, random_numbers)
TEMPLATES = [template for chapter in CHAPTERS for template in chapter.templates()]
SHOWN = 400


def drawn(number, word=""):
    """The call of a number: templates take turns."""
    templates = [template for template in TEMPLATES if word in template]
    return Call(templates[number % len(templates)], number)


def said(text):
    *setup, text = text.split("; ")
    return Call.said(setup, text)


def difference(call, agreed=lambda found: [found]):
    """A line that repeats the call, and the difference; "" if there is none."""
    if text := compared(call, agreed):
        return f"{call}\n  {text[:SHOWN]}"
    return ""
