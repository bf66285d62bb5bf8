"""Show the additions of a memory, which its text has in square brackets, in words.

An addition, such as a name or a date, makes a statement understandable by itself. Pages show it
without brackets at the start of a clause, and in parentheses inside it.
"""

from __future__ import annotations

from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from memories.extraction.masking import ADDITION, addition_in_words


def as_html(text: str) -> SafeString:
    """Return the text as HTML, in which every addition is marked and explained."""
    why = _("added so that the sentence stands alone")
    pieces, end = [], 0
    for found in ADDITION.finditer(text):
        words = addition_in_words(found)
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
