"""All templates of drawn calls, and calls by their numbers."""

import call_algebra
import call_elements
import call_folding
import call_indexing
import call_random
import call_shaping
from call_draw import Call
from call_outcome import compared

CHAPTERS = (call_elements, call_folding, call_shaping, call_indexing, call_algebra, call_random)
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
    """A line that does the call again, and what was different; "" if nothing was."""
    if text := compared(call, agreed):
        return f"{call}\n  {text[:SHOWN]}"
    return ""
