"""Show the additions of a memory, which its text has in square brackets, in words.

An addition, such as a name or a date, makes a statement understandable by itself. Pages show it
without brackets at the start of a clause, and in parentheses inside it.
"""

from __future__ import annotations

import re

from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from memories.extraction.masking import MARK_EN, MARK_ZH

# The last alternative is an addition that was cut off. "[words](address)" is a link.
_ADDITION = re.compile(r"\[(?=\S)([^\[\]\n]+)(?:\](?!\()|(?=…$))")
_INSIDE = re.compile(r"[\w)）’'”\"][ \u3000]*$")
_HAN = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]$")
_CHECKBOX = ("x", "X")


def as_plain_text(text: str) -> str:
    """Return the text with its additions in words, for attributes and titles."""
    return _ADDITION.sub(_in_words, text)


def as_html(text: str) -> SafeString:
    """Return the text as HTML, in which every addition is marked and explained."""
    why = _("added so that the sentence stands alone")
    pieces, end = [], 0
    for found in _ADDITION.finditer(text):
        words = _in_words(found)
        pieces.append(conditional_escape(text[end : found.start()]))
        is_kept = words == found[0]
        pieces.append(
            conditional_escape(words)
            if is_kept
            else format_html('<span class="addition" title="{}">{}</span>', why, words)
        )
        end = found.end()
    pieces.append(conditional_escape(text[end:]))
    return mark_safe("".join(pieces))  # nosec: every piece is escaped


def _in_words(found: re.Match[str]) -> str:
    if found[0] in (MARK_EN, MARK_ZH) or found[1] in _CHECKBOX:
        return found[0]
    before = found.string[: found.start()]
    if not _INSIDE.search(before):
        return found[1]
    return f"（{found[1]}）" if _HAN.search(before) else f"({found[1]})"
